# SPDX-License-Identifier: Apache-2.0
"""Whatever is killed, stopped, added or removed: what is stored is what the topic holds, each batch
once, each host's sum closes at every look, and what was merged and summed up meanwhile is what it
was made of (merged.py).

A round feeds numbered batches of several hosts, one of them a real agent, and messages without
numbers, and meanwhile plays cards of chaos.py. Then it lets everything come to rest and compares
what is stored with the topic, which it reads itself (topic.py); so it does with all that was seen
on the way (looks.py). By hand, with the seed that a failure printed:

    make test-chaos ROUNDS=100
    make test-chaos ROUNDS=20 SEED=12345

A round that fails says which batches of which host differ and where they are on the topic, and
keeps all logs in .run/chaos-SEED-round-N.
"""
import itertools
import random
import time
from collections import Counter

import psycopg

from cards_agent import RealAgent, can_sample
from cards_failpoints import all_failpoints
from chaos import Chaos
from evidence import keep_evidence, keep_log
from harness import Cell, wait_until
from looks import Looker
from merged import merge_faults
from senders import Feed, Sender
from topic import Truth
from truth import agent_faults, differences, offsets

ROUNDS_OF_A_CELL = 5  # then a new database and a new topic
PARTITIONS = 4
ROUND_S = 5
PROVOKE_S = 5         # after which a failpoint that nobody has met is helped
REST_S = 100          # a statement may wait 50 s for a lock, a new partition is seen after 30 s


class Game:
    """Some rounds on one database and topic."""

    def __init__(self, cell, protos, chance):
        self.cell, self.chance = cell, chance
        self.began = time.time() - 2
        self.merged = Counter()  # what was compared at the end of the last round
        self.truth = Truth(cell, protos)
        self.feeds = [Feed(cell, "feed-a", 15), Feed(cell, "feed-b", 40)]
        self.sender = Sender(cell, protos, chance.random())
        self.agent = RealAgent(cell) if can_sample() else None
        self.chaos = Chaos(cell, self.feeds, self.sender, self.agent, chance)
        self.looker = Looker(cell, self.chaos.began)
        self.chaos.partitions = self.sender.partitions = PARTITIONS
        self.sender.paused.set()
        self.sender.start()
        self.chaos.launch_ingester(cell.ingester)
        cell.ingester.wait_ready(cell.ingester.ready, 30)
        cell.start_service(cell.querier)
        self.looker.start()

    def round(self, failpoint):
        ends = time.monotonic() + ROUND_S
        self.chaos.arm(failpoint)
        for feed in self.feeds:
            keep_log(feed)
            feed.feed(ROUND_S)
        if self.agent:
            self.chaos.launch_agent()
        self.sender.go_on()
        while time.monotonic() < ends:
            self.chaos.deal()
            self.let_pass(self.chance.uniform(0.1, 1))
        self.chaos.heal()
        while self.chaos.stopped:
            self.let_pass(0.1)
        self.reach_everyone()
        self.come_to_rest()
        self.last_blow()
        self.compare()

    def reach_everyone(self):
        """The failpoint is met, and the load reaches every ingester: else nothing is shown of
        those it did not reach."""
        def is_so():
            self.let_pass(0.1)
            if self.chaos.armed and time.monotonic() > provoked_at[-1] + PROVOKE_S:
                self.chaos.provoke()
                provoked_at.append(time.monotonic())
            assert not self.chaos.armed, f"nobody has met {self.chaos.armed[0]}"
            assert not self.chaos.owed, "something is to be undone yet"
            return self.chaos.all_store()
        provoked_at = [time.monotonic()]
        wait_until(is_so, REST_S, "every ingester stores")
        self.chaos.say("every ingester stores")

    def come_to_rest(self):
        self.sender.finish(60)
        for feed in self.feeds:
            feed.finish(60)
        if self.agent:
            self.chaos.settle_agent(self.let_pass)
        self.chaos.say("all is sent")
        self.truth.read()
        wait_until(self.is_at_rest, REST_S, "all is stored")

    def last_blow(self):
        """PostgreSQL loses what nothing new comes behind."""
        luck = self.chance.random()
        if luck < 1 / 3:
            self.chaos.shut_postgres()  # which takes what it has just said to have committed
        elif luck > 2 / 3 or not self.chaos.put_postgres_back():
            return
        self.chaos.heal()
        wait_until(self.is_at_rest, REST_S, "all is stored again")

    def compare(self):
        self.chaos.say("all is stored")
        found = differences(self.truth, self.began) + self.looker.judge(self.truth)
        with self.cell.connect() as db:
            wrong, merged = merge_faults(
                db, is_whole=not self.chaos.counts["rows that were merged long ago"])
            self.chaos.count_gone(db)
        found += wrong
        self.merged |= merged
        if self.agent and self.agent.has_run():
            found += agent_faults(self.truth, self.agent.node, self.agent.counted())
        assert not found, "\n".join(found)

    def let_pass(self, seconds):
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self.chaos.pay()
            self.chaos.keep_postgres()
            self.check_alive()
            self.chaos.snapshot.tend()
            time.sleep(0.02)

    def check_alive(self):
        self.chaos.check_ingesters()
        self.chaos.check_failpoint()
        if self.agent:
            self.agent.check()
        assert self.cell.querier.alive(), f"the querier ended:\n{self.cell.querier.last_words(30)}"
        assert self.looker.is_alive(), "the looker ended"

    def is_at_rest(self):
        self.check_alive()
        try:
            have = offsets(self.cell)
        except psycopg.OperationalError:
            return False
        assert have == self.truth.ends, f"offsets {have}, and the topic ends at {self.truth.ends}"
        return True

    def close(self):
        """Whatever of ours still runs."""
        self.looker.close()
        self.chaos.pay(everything=True)
        for process in self.feeds + ([self.agent] if self.agent else []):
            process.close()
        self.sender.close()
        self.chaos.snapshot.forget()


def failpoints_in_turn(seed):
    """For ever, each as often as any other, in another order each time."""
    chance = random.Random(seed)
    while True:
        failpoints = all_failpoints()
        chance.shuffle(failpoints)
        yield from failpoints


def test_nothing_is_lost_or_doubled(killed_servers, protos, seed, request, tally):
    rounds = request.config.getoption("--rounds")
    failpoints = failpoints_in_turn(seed)
    played = 0
    while played < rounds:
        chance = random.Random(f"{seed} {played}")
        with Cell(killed_servers, f"chaos_{played}", partitions=PARTITIONS) as cell:
            game = Game(cell, protos, chance)
            try:
                for _ in range(min(ROUNDS_OF_A_CELL, rounds - played)):
                    played += 1
                    game.chaos.say(f"round {played} of {rounds}, seed {seed}, sessions of"
                                   f" {game.chaos.session_s} s")
                    game.round(next(failpoints))
                    tally.count_round()
            except BaseException:
                print(f"the logs are in {keep_evidence(cell, seed, played)}")
                raise
            finally:
                game.close()
                tally.add(game)
        with psycopg.connect(killed_servers.postgres.address("postgres"), autocommit=True) as db:
            db.execute(f"DROP DATABASE {cell.database} WITH (FORCE)")
    assert tally.batches > 100 * rounds, "hardly anything was sent"
    wanted = set(itertools.islice(failpoints_in_turn(seed), rounds))
    assert tally.met == wanted, f"nobody has met {wanted - tally.met}"
    assert tally.looks > 20 * rounds, "hardly anybody looked"
    assert tally.looks_by["answers that were compared"] > 5 * rounds, "hardly any answer was judged"
    assert tally.merged["chunks"] > rounds, "hardly anything was merged"
    assert tally.merged["sums compared"] > rounds, "hardly anything was summed up"
    assert tally.merged["hours that were summed up by the day"] > 0, "no day was"
    assert tally.merged["gauges compared"] > rounds, "hardly any gauge was"
