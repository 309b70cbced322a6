# SPDX-License-Identifier: Apache-2.0
"""chaos - what is done to the fleet: a deck of cards, dealt at random, each undone after a while.

A card is a method that does something at once and may leave for later what undoes it
(`self.later`); it is in one of the cards_*.py. A round ends with `heal`: everything that is owed is
done, and all that should run does. Only the main thread deals: processes are tied to the thread
that started them.
"""
import time
from collections import Counter

import psycopg

from cards_agent import AgentCards
from cards_failpoints import FailpointCards
from cards_ingesters import IngesterCards
from cards_servers import ServerCards
from evidence import keep_log
from harness import wait_until


class Chaos(IngesterCards, ServerCards, AgentCards, FailpointCards):
    CARDS = {
        "kill_ingester": 2, "stop_ingester": 1, "stop_in_flush": 1, "kill_in_flush": 2,
        "stop_in_merge": 1, "kill_in_merge": 2, "age_merged": 2,
        "add_ingester": 2, "remove_ingester": 1, "add_partitions": 1, "kill_feed": 2,
        "kill_kafka": 1, "kill_postgres": 1, "shut_postgres": 1, "end_backends": 1,
        "put_postgres_back": 2, "kill_agent": 2, "stop_agent": 1, "end_agent": 1, "fill_disk": 2,
        "fill_postgres": 2,
    }

    def __init__(self, cell, feeds, sender, agent, chance):
        self.cell, self.feeds, self.sender, self.chance = cell, feeds, sender, chance
        self.servers = cell.fleet
        self.agent = agent
        self.owed = []  # (when, what, how)
        self.counts = Counter()
        self.began = time.monotonic()
        self.deck = []
        IngesterCards.__init__(self)
        ServerCards.__init__(self)
        FailpointCards.__init__(self)

    def deal(self):
        """Play a card; each comes as often as CARDS says before any comes again."""
        if not self.deck:
            self.deck = [name for name, count in self.CARDS.items() for _ in range(count)]
            self.chance.shuffle(self.deck)
        for at, name in enumerate(self.deck):
            if self.play(name):
                self.counts[name] += 1
                del self.deck[at]
                return
        self.deck = []  # what is left cannot be done

    def play(self, name):
        """False: not now."""
        try:
            return getattr(self, name)()
        except psycopg.Error as e:
            self.say(f"{name}: not now: {str(e).strip().splitlines()[0]}")
            return False

    def say(self, text):
        print(f"{time.monotonic() - self.began:7.2f} s  {text}", flush=True)

    def later(self, least, most, what, how):
        self.owed.append((time.monotonic() + self.chance.uniform(least, most), what, how))

    def pay(self, everything=False):
        """Do what is due, in order."""
        for debt in sorted(self.owed, key=lambda debt: debt[0]):
            if everything or debt[0] <= time.monotonic():
                self.owed.remove(debt)
                if debt[1]:
                    self.say(debt[1])
                debt[2]()

    def launch(self, process, how):
        """Start it, and keep what its former self has said."""
        if not process.alive():
            keep_log(process)
            how()

    def heal(self):
        """All but who is stopped at once; that one has to be away for its whole time."""
        self.say("heal")
        for debt in [d for d in self.owed if getattr(d[2], "func", None) != self.wake]:
            self.owed.remove(debt)
            self.owed.append((0, *debt[1:]))
        self.pay()
        wait_until(self.are_servers_ready, 60, "PostgreSQL and Kafka are back")

    def are_servers_ready(self):
        self.keep_postgres()
        return self.servers.postgres.ready() and self.servers.kafka.ready()
