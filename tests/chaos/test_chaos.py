# SPDX-License-Identifier: Apache-2.0
"""Random faults: PostgreSQL stores exactly the batches of the topic, each once, while processes are
killed, stopped, added and removed. The balance of each host holds at every observation, and merged
chunks and rollups equal the rows that they were made of (merged.py).

A round sends numbered batches of several hosts, one of them a real agent, and messages without
numbers, while chaos.py injects faults. Then it waits until all messages are stored and compares the
store with the topic, which it reads itself (topic.py). It also checks the observations that were
made meanwhile (observer.py). Every few rounds an event destroys data for good (recoveries.py), and
a new database and topic begin. To repeat a failure with the seed that it printed:

    make test-chaos ROUNDS=100
    make test-chaos ROUNDS=20 SEED=12345

A round that fails prints which batches of which host differ and where they are on the topic, and
saves all logs in .run/chaos-SEED-round-N.
"""
import itertools
import random
import time
from collections import Counter

import psycopg

from faults_agent import RealAgent, can_sample
from faults_failpoints import all_failpoints
from chaos import Chaos
from evidence import keep_evidence, keep_log
from harness import Cell, wait_until
from observer import Observer
from merged import merge_faults
from recoveries import RECOVERIES, Recovery
from senders import Feed, Sender
from topic import Truth
from truth import agent_differences, differences, offsets

FURTHER_ROUNDS = 3    # at most, as long as too few merged rows were compared
PARTITIONS = 4
ROUND_S = 5
CLONED = "feed-b"
PROVOKE_S = 5         # after which the events that a missed failpoint waits for are provoked
SETTLE_S = 300        # a statement may wait 50 s for a lock, a new partition is seen after 30 s


class ChaosRun:
    """Several rounds on one database and topic."""

    def __init__(self, cell, protos, rng):
        self.cell, self.rng = cell, rng
        self.began = time.time() - 2
        self.merged = Counter()  # counts of what the last round compared
        self.truth = Truth(cell, protos)
        # The last two are clones: they have the same host id, and each has a spool of its own.
        self.feeds = [Feed(cell, "feed-a", 15), Feed(cell, CLONED, 40),
                      Feed(cell, f"{CLONED}-clone", 40, node=CLONED)]
        self.sender = Sender(cell, protos, rng.random())
        self.agent = RealAgent(cell) if can_sample() else None
        self.chaos = Chaos(cell, self.feeds, self.sender, self.agent, rng)
        self.observer = Observer(cell, self.chaos.began)
        self.chaos.partitions = self.sender.partitions = PARTITIONS
        self.sender.paused.set()
        self.sender.start()
        self.chaos.launch_ingester(cell.ingester)
        cell.ingester.wait_ready(cell.ingester.ready)
        cell.start_service(cell.querier)
        self.observer.start()

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
            self.chaos.inject_next()
            self.let_pass(self.rng.uniform(0.1, 1))
        self.chaos.heal()
        while self.chaos.stopped:
            self.let_pass(0.1)
        self.wait_until_every_ingester_stores()
        self.settle()
        self.last_fault()
        self.compare()

    def wait_until_every_ingester_stores(self):
        """Wait until the failpoint is met and each ingester has stored rows: without load an
        ingester proves nothing."""
        def is_so():
            self.let_pass(0.1)
            if self.chaos.armed and time.monotonic() > provoked_at[-1] + PROVOKE_S:
                self.chaos.provoke()
                provoked_at.append(time.monotonic())
            assert not self.chaos.armed, f"no process has met {self.chaos.armed[0]}"
            assert not self.chaos.pending, "a fault is not undone yet"
            return self.chaos.all_store()
        provoked_at = [time.monotonic()]
        wait_until(is_so, SETTLE_S, "every ingester stores rows")
        self.chaos.log("every ingester stores rows")

    def settle_senders(self, deadline):
        """Wait until Kafka has all messages."""
        self.sender.finish(deadline)
        for feed in self.feeds:
            feed.finish(deadline)
        if self.agent:
            self.chaos.settle_agent(self.let_pass)
        self.chaos.log("all messages are sent")

    def settle(self):
        self.settle_senders(60)
        self.truth.read()
        wait_until(self.is_settled, SETTLE_S, "all messages are stored")

    def last_fault(self):
        """PostgreSQL loses commits after which no new message arrives."""
        luck = self.rng.random()
        if luck < 1 / 3:
            self.chaos.shut_postgres()  # loses commits that it has just acknowledged
        elif luck > 2 / 3 or not self.chaos.restore_postgres():
            return
        self.chaos.heal()
        wait_until(self.is_settled, SETTLE_S, "all messages are stored again")

    def compare(self):
        self.chaos.log("all messages are stored")
        found = differences(self.truth, self.began) + self.observer.judge(self.truth)
        with self.cell.connect() as db:
            wrong, merged = merge_faults(
                db, is_whole=not self.chaos.counts["rows that were merged long ago"])
            self.chaos.count_dropped(db)
        found += [*wrong, *self.clone_faults()]
        self.merged |= merged
        if self.agent and self.agent.has_run():
            found += agent_differences(self.truth, self.agent.node, self.agent.counted())
        assert not found, "\n".join(found)

    def clone_faults(self):
        """The fleet says that two agents have one host id, and says it of no other host."""
        for host in self.cell.data("fleet"):
            if host.get("agents", 1) != 1 + (host["node"] == CLONED):
                yield f"wrong number of agents: {host}"

    def recover(self, name):
        """An event that destroys data. The topic is another one afterwards: the run is over."""
        self.observer.close()
        found = Recovery(self).play(name)
        assert not found, "\n".join(found)

    def let_pass(self, seconds):
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self.chaos.run_due()
            self.chaos.restart_postgres()
            self.check_alive()
            self.chaos.snapshot.poll()
            time.sleep(0.02)

    def check_alive(self):
        self.chaos.check_ingesters()
        self.chaos.check_failpoint()
        if self.agent:
            self.agent.check()
        assert self.cell.querier.alive(), (
            f"the querier has ended:\n{self.cell.querier.last_words(30)}")
        assert self.observer.is_alive() or self.observer.is_closed, "the observer has ended"

    def is_settled(self):
        self.check_alive()
        try:
            have = offsets(self.cell)
        except psycopg.OperationalError:
            return False
        assert have == self.truth.ends, f"offsets {have}, and the topic ends at {self.truth.ends}"
        return True

    def close(self):
        """End the processes and threads that still run."""
        self.observer.close()
        self.chaos.run_due(everything=True)
        for process in self.feeds + ([self.agent] if self.agent else []):
            process.close()
        self.sender.close()
        self.chaos.snapshot.discard()


def in_turn(seed, things):
    """An endless sequence: all of them in random order, again and again."""
    rng = random.Random(seed)
    while True:
        shuffled = list(things)
        rng.shuffle(shuffled)
        yield from shuffled


def failpoints_in_turn(seed):
    return in_turn(seed, all_failpoints())


def too_few_compared(merged, rounds):
    """The merged rows and rollups of which too few were compared. If the faults of a short run let
    no row be merged, or drop all partitions of merged rows, there is nothing to compare."""
    least = {"chunks": rounds, "sums compared": rounds, "gauges compared": rounds,
             "hours that were summed up by the day": 0}
    return [name for name, count in least.items() if merged[name] <= count]


def test_nothing_is_lost_or_doubled(killed_servers, protos, seed, request, totals):
    rounds = request.config.getoption("--rounds")
    of_a_cell = request.config.getoption("--rounds-of-a-cell")
    failpoints, recoveries = failpoints_in_turn(seed), in_turn(seed, RECOVERIES)
    played = 0
    while played < rounds or (played < rounds + FURTHER_ROUNDS
                              and too_few_compared(totals.merged, rounds)):
        rng = random.Random(f"{seed} {played}")
        with Cell(killed_servers, f"chaos_{played}", partitions=PARTITIONS) as cell:
            chaos_run = ChaosRun(cell, protos, rng)
            try:
                for _ in range(min(of_a_cell, max(rounds - played, 1))):
                    played += 1
                    chaos_run.chaos.log(f"round {played} of {rounds}, seed {seed}, sessions of"
                                        f" {chaos_run.chaos.session_s} s")
                    chaos_run.round(next(failpoints))
                    totals.count_round()
                chaos_run.recover(next(recoveries))
            except BaseException:
                print(f"the logs are in {keep_evidence(cell, seed, played)}")
                raise
            finally:
                chaos_run.close()
                totals.add(chaos_run)
        with psycopg.connect(killed_servers.postgres.address("postgres"), autocommit=True) as db:
            db.execute(f"DROP DATABASE {cell.database} WITH (FORCE)")
    assert totals.batches > 100 * rounds, "too few batches were sent"
    wanted = set(itertools.islice(failpoints_in_turn(seed), played))
    assert totals.met == wanted, f"no process has met {wanted - totals.met}"
    assert totals.observations > 20 * rounds, "too few observations"
    assert totals.observations_by["query results that were compared"] > 5 * rounds, (
        "too few query results were compared")
    assert not too_few_compared(totals.merged, rounds), (
        f"too few were compared: {too_few_compared(totals.merged, rounds)}")
