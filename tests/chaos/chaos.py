# SPDX-License-Identifier: Apache-2.0
"""chaos - injects faults into the fleet in random order; each fault is undone after a while.

A fault is a method of one of the faults_*.py. It acts at once and may schedule the step that undoes
it (`self.schedule`). A round ends with `heal`: every scheduled step is run, and every process that
should run does. Only the main thread injects faults: a process is tied to the thread that started
it.
"""
import time
from collections import Counter

import psycopg

from faults_agent import AgentFaults
from faults_failpoints import FailpointFaults
from faults_ingesters import IngesterFaults
from faults_servers import ServerFaults
from evidence import keep_log
from harness import wait_until


class Chaos(IngesterFaults, ServerFaults, AgentFaults, FailpointFaults):
    FAULTS = {
        "kill_ingester": 2, "stop_ingester": 1, "stop_in_flush": 1, "kill_in_flush": 2,
        "stop_in_merge": 1, "kill_in_merge": 2, "age_merged": 2,
        "add_ingester": 2, "remove_ingester": 1, "add_partitions": 1, "kill_feed": 2,
        "kill_kafka": 1, "kill_postgres": 1, "shut_postgres": 1, "end_backends": 1,
        "restore_postgres": 2, "kill_agent": 2, "stop_agent": 1, "end_agent": 1, "fill_disk": 2,
        "fill_postgres": 2,
    }

    def __init__(self, cell, feeds, sender, agent, rng):
        self.cell, self.feeds, self.sender, self.rng = cell, feeds, sender, rng
        self.servers = cell.fleet
        self.agent = agent
        self.pending = []  # (due time, message, function)
        self.counts = Counter()
        self.began = time.monotonic()
        self.remaining = []
        IngesterFaults.__init__(self)
        ServerFaults.__init__(self)
        FailpointFaults.__init__(self)

    def inject_next(self):
        """Inject a fault. FAULTS states how often each occurs in a shuffled sequence."""
        if not self.remaining:
            self.remaining = [name for name, count in self.FAULTS.items() for _ in range(count)]
            self.rng.shuffle(self.remaining)
        for at, name in enumerate(self.remaining):
            if self.inject(name):
                self.counts[name] += 1
                del self.remaining[at]
                return
        self.remaining = []  # the remaining faults cannot be injected now

    def inject(self, name):
        """Returns False if the fault cannot be injected now."""
        try:
            return getattr(self, name)()
        except psycopg.Error as e:
            self.log(f"{name}: not now: {str(e).strip().splitlines()[0]}")
            return False

    def log(self, text):
        print(f"{time.monotonic() - self.began:7.2f} s  {text}", flush=True)

    def schedule(self, least, most, what, how):
        self.pending.append((time.monotonic() + self.rng.uniform(least, most), what, how))

    def run_due(self, everything=False):
        """Run the scheduled steps that are due, in order."""
        for entry in sorted(self.pending, key=lambda entry: entry[0]):
            if everything or entry[0] <= time.monotonic():
                self.pending.remove(entry)
                if entry[1]:
                    self.log(entry[1])
                entry[2]()

    def launch(self, process, how):
        """Start it, and keep the log of its previous run."""
        if not process.alive():
            keep_log(process)
            how()

    def heal(self):
        """Run every scheduled step at once, except SIGCONT of an ingester: it has to stay
        stopped for its whole time.
        """
        self.log("heal")
        for entry in [d for d in self.pending if getattr(d[2], "func", None) != self.wake]:
            self.pending.remove(entry)
            self.pending.append((0, *entry[1:]))
        self.run_due()
        wait_until(self.are_servers_ready, what="PostgreSQL and Kafka are back")

    def are_servers_ready(self):
        self.restart_postgres()
        return self.servers.postgres.ready() and self.servers.kafka.ready()
