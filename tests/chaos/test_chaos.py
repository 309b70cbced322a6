"""Whatever is killed, stopped, added or removed: what is stored is what the topic holds, each batch
once.

A round feeds numbered batches of several hosts and messages without numbers, and meanwhile plays
cards of chaos.py. Then it lets everything come to rest and compares what is stored with the topic,
which it reads itself (truth.py). By hand, with the seed that a failure printed:

    make test-chaos ROUNDS=100
    /usr/bin/python3 -m pytest -s tests/chaos --rounds=20 --seed=12345
"""
import random
import time

import psycopg
import pytest

from chaos import STAGES, Chaos
from harness import Cell, wait_until
from senders import Feed, Sender
from truth import Truth, differences, offsets

ROUNDS_OF_A_CELL = 5  # then a new database and a new topic
PARTITIONS = 4
ROUND_S = 7
HELD_UP_S = 30        # the session's timeout and the transaction's, 10 s each, and some
LAST_BLOW = 0.5       # how often PostgreSQL loses what nothing new comes behind
REST_S = 100          # a statement may wait 50 s for a lock, a new partition is seen after 30 s


class Game:
    """Some rounds on one database and topic."""

    def __init__(self, cell, protos, chance):
        self.cell, self.chance = cell, chance
        self.began = time.time() - 2
        self.truth = Truth(cell, protos)
        self.feeds = [Feed(cell, "feed-a", 15), Feed(cell, "feed-b", 40)]
        self.sender = Sender(cell, protos, chance.random())
        self.chaos = Chaos(cell, self.feeds, self.sender, chance)
        self.chaos.partitions = self.sender.partitions = PARTITIONS
        self.sender.paused.set()
        self.sender.start()
        self.chaos.launch_ingester(cell.ingester)
        cell.ingester.wait_ready(cell.ingester.ready, 30)
        cell.start_service(cell.querier)

    def round(self):
        ends = time.monotonic() + ROUND_S
        for feed in self.feeds:
            feed.feed(ROUND_S)
        self.sender.go_on()
        while time.monotonic() < ends:
            self.chaos.deal()
            self.let_pass(self.chance.uniform(0.2, 1.5))
        self.chaos.heal()
        while self.chaos.stopped:
            self.let_pass(0.1)
        self.sender.finish(60)
        for feed in self.feeds:
            feed.finish(60)
        self.chaos.say("all is sent")
        self.truth.read()
        wait_until(self.is_at_rest, REST_S, "all is stored")
        if self.chance.random() < LAST_BLOW:
            self.chaos.shut_postgres()  # which takes what it has just said to have committed
            self.chaos.heal()
            wait_until(self.is_at_rest, REST_S, "all is stored again")
        self.chaos.say("all is stored")
        found = differences(self.truth, self.began)
        assert not found, "\n".join(found)

    def let_pass(self, seconds):
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self.chaos.pay()
            self.chaos.check_alive()
            time.sleep(0.02)

    def is_at_rest(self):
        self.chaos.check_alive()
        wanted = {p: end for p, end in self.truth.ends.items() if end}
        try:
            have = offsets(self.cell)
        except psycopg.OperationalError:
            return False
        assert have == wanted, f"offsets {have}, and the topic ends at {wanted}"
        return True

    def close(self):
        """Whatever of ours still runs."""
        self.chaos.pay(everything=True)
        for feed in self.feeds:
            feed.kill()
        self.sender.close()


def test_nothing_is_lost_or_doubled(killed_servers, protos, seed, request):
    rounds = request.config.getoption("--rounds")
    print(f"seed {seed}")
    played, batches = 0, 0
    while played < rounds:
        chance = random.Random(f"{seed} {played}")
        with Cell(killed_servers, f"chaos_{played}", partitions=PARTITIONS) as cell:
            game = Game(cell, protos, chance)
            try:
                for _ in range(min(ROUNDS_OF_A_CELL, rounds - played)):
                    played += 1
                    game.chaos.say(f"round {played}")
                    game.round()
            finally:
                game.close()
                numbers = [len(s.numbers) for s in game.truth.spools.values()]
                batches += sum(numbers)
                print(f"round {played}: {sum(numbers)} batches of {len(numbers)} hosts,"
                      f" {game.sender.plain} messages without a number;",
                      ", ".join(f"{what} {n}" for what, n in sorted(game.chaos.counts.items())))
    assert batches > 100 * rounds, "hardly anything was sent"


@pytest.mark.parametrize("stage", list(STAGES))
def test_a_stopped_ingester_holds_nobody_up(killed_servers, protos, seed, stage, request):
    """It stays stopped, in its transaction, and meanwhile the other one stores all there is."""
    if stage != "after COPY" and request.config.getoption("--rounds") <= 3:
        pytest.skip("only in a longer run: make test-chaos")
    name = "stopped_" + stage.replace(" ", "_").lower()
    with Cell(killed_servers, name, partitions=PARTITIONS) as cell:
        game = Game(cell, protos, random.Random(f"{seed} {stage}"))
        try:
            game.chaos.add_ingester()
            wait_until(lambda: all(i.get("/ready")[0] == 200 for i in game.chaos.ingesters),
                       what="two ready ingesters")
            game.sender.go_on()
            wait_until(lambda: game.chaos.held_in_flush(game.chaos.stop_ingester, "", stage),
                       what="a flush to stop in")
            game.let_pass(1)
            game.sender.finish(10)
            game.chaos.owed.clear()  # it is not woken
            game.truth.read()
            wait_until(game.is_at_rest, HELD_UP_S, "all is stored")
            game.chaos.wake()
            found = differences(game.truth, game.began)
            assert not found, "\n".join(found)
        finally:
            game.close()
