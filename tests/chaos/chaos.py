"""chaos - what is done to the fleet: a deck of cards, dealt at random, each undone after a while.

A card is a method that does something at once and may leave for later what undoes it
(`self.later`). A round ends with `heal`: everything that is owed is done, and all that should run
does. Only the main thread deals: processes are tied to the thread that started them.
"""
import os
import signal
import time
from collections import Counter
from pathlib import Path

import confluent_kafka.admin
import psycopg

from harness import wait_until
from local.say import Trouble

INGESTERS_MAX = 3
PARTITIONS_MAX = 12
STOPPED_S = 11.5  # longer than the ingesters' session.timeout.ms of 10 s
HOLD_S = 1
LEAVING_S = 30    # one that waits for a lock of a stopped one leaves when that is freed
STAGES = {        # what a flush must have to go on: who holds the table holds the flush there
    "in COPY": "chunk_raw",
    "after COPY": "agent_status",
    "at the fence": "consumer_offset",
}


class Chaos:
    def __init__(self, cell, feeds, sender, chance):
        self.cell, self.feeds, self.sender, self.chance = cell, feeds, sender, chance
        self.servers = cell.fleet
        self.ingesters = [cell.ingester]
        self.named = 1
        self.partitions = 0
        self.stopped = None
        self.leaving = []  # (ingester, until when)
        self.owed = []  # (when, what, how)
        self.events, self.counts = [], Counter()
        self.began = time.monotonic()
        self.deck = []

    # The deck

    CARDS = {
        "kill_ingester": 2, "stop_ingester": 1, "stop_in_flush": 2, "kill_in_flush": 2,
        "add_ingester": 2, "remove_ingester": 1, "add_partitions": 1, "kill_feed": 2,
        "kill_kafka": 1, "kill_postgres": 1, "shut_postgres": 1, "end_backends": 1,
    }

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
        line = f"{time.monotonic() - self.began:7.2f} s  {text}"
        self.events.append(line)
        print(line, flush=True)

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

    # Ingesters

    def launch_ingester(self, ingester):
        address = f"{self.cell.postgres_address}?application_name={ingester.name}"
        ingester.launch({"DECIMA_POSTGRES": address})

    def running(self):
        """Those that run and are not stopped."""
        owed = [debt[2] for debt in self.owed]
        return [i for i in self.ingesters if i is not self.stopped and i.alive() and i not in owed]

    def check_alive(self):
        """Nobody may end but by our hand, and who was asked to must."""
        for ingester, until in list(self.leaving):
            if ingester.exit_code() is None:
                assert time.monotonic() < until, (
                    f"{ingester.name} did not stop:\n{ingester.last_words(30)}")
            else:
                assert ingester.exit_code() == 0, (
                    f"{ingester.name} ended with status {ingester.exit_code()}:\n"
                    f"{ingester.last_words(30)}")
                self.leaving.remove((ingester, until))
        for ingester in self.ingesters:
            if ingester.popen and ingester.exit_code() not in (None, -signal.SIGKILL):
                raise AssertionError(f"{ingester.name} ended by itself, with status "
                                     f"{ingester.exit_code()}:\n{ingester.last_words(30)}")

    def pick(self):
        running = self.running()
        return self.chance.choice(running) if running else None

    def kill_ingester(self, ingester=None, where=""):
        ingester = ingester or self.pick()
        if not ingester:
            return False
        self.say(f"kill -9 {ingester.name} {where}".rstrip())
        ingester.kill()
        self.later(0, 2, f"start {ingester.name}", lambda: self.launch_ingester(ingester))
        return True

    def stop_ingester(self, ingester=None, where=""):
        ingester = ingester or self.pick()
        if not ingester or self.stopped:
            return False
        self.say(f"SIGSTOP {ingester.name} {where}".rstrip())
        ingester.send(signal.SIGSTOP)
        self.stopped = ingester
        self.later(STOPPED_S, STOPPED_S + 1, f"SIGCONT {ingester.name}", self.wake)
        return True

    def wake(self):
        self.stopped.send(signal.SIGCONT)
        self.stopped = None

    def held_in_flush(self, act, verb, stage=None):
        """Hold a flush where it needs a table, do it to the ingester whose flush that is."""
        if self.stopped:
            return False  # its transaction may hold the table for long
        where = stage or self.chance.choice(list(STAGES))
        table = STAGES[where]
        ends = time.monotonic() + HOLD_S
        with psycopg.connect(self.cell.postgres_address) as holder:
            holder.execute("SET lock_timeout = '500ms'")
            holder.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")
            while time.monotonic() < ends:
                waiting = self.held(table)
                for ingester in self.running():
                    if ingester.name == waiting:
                        act(ingester, f"in a flush, {where}")
                        self.counts[f"{verb} {where}"] += 1
                        return True
                time.sleep(0.01)
        return False

    def held(self, table):
        """The name of an ingester that waits for the table in its one transaction."""
        found = self.cell.rows(
            "SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid)"
            " WHERE relation = %s::regclass AND NOT granted", table)
        return found[0][0] if found else None

    def stop_in_flush(self):
        return self.held_in_flush(self.stop_ingester, "stopped")

    def kill_in_flush(self):
        return self.held_in_flush(self.kill_ingester, "killed")

    def add_ingester(self):
        if len(self.ingesters) >= INGESTERS_MAX:
            return self.remove_ingester()
        self.named += 1
        ingester = self.cell.service("ingester", str(self.named))
        self.ingesters.append(ingester)
        self.say(f"add {ingester.name}")
        self.launch_ingester(ingester)
        return True

    def remove_ingester(self):
        ingester = self.pick()
        if len(self.ingesters) < 2 or not ingester:
            return False
        self.say(f"remove {ingester.name} (SIGTERM)")
        self.ingesters.remove(ingester)
        self.leaving.append((ingester, time.monotonic() + LEAVING_S))
        os.close(ingester.send(signal.SIGTERM))
        return True

    # What they depend on

    def kill_feed(self):
        feed = self.chance.choice(self.feeds)
        if not feed.alive():
            return False
        self.say(f"kill -9 {feed.name}")
        feed.kill()
        self.later(0, 1, f"start {feed.name}", feed.launch)
        return True

    def add_partitions(self):
        count = self.partitions + self.chance.randint(1, 2)
        if count > PARTITIONS_MAX or not self.servers.kafka.ready():
            return False
        wish = confluent_kafka.admin.NewPartitions(self.cell.topic, count)
        admin = self.cell.admin()
        try:
            admin.create_partitions([wish])[self.cell.topic].result(10)
        except confluent_kafka.KafkaException as e:
            self.say(f"partitions were not added: {e}")
            return False
        self.say(f"{count} partitions")
        self.partitions = self.sender.partitions = count
        return True

    def kill_kafka(self):
        if not self.servers.kafka.alive():
            return False
        self.say("kill -9 Kafka")
        self.servers.kafka.kill()
        self.later(0, 3, "start Kafka", self.servers.kafka.launch)
        return True

    def kill_postgres(self, number=signal.SIGKILL, how="kill -9 PostgreSQL"):
        postgres = self.servers.postgres
        if not postgres.alive():
            return False
        self.say(how)
        children = Path(f"/proc/{postgres.pid()}/task/{postgres.pid()}/children")
        pids = children.read_text().split()
        postgres.stop(number)
        # Orphans end by themselves, soon; until then nobody else may have the data.
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids),
                   what="PostgreSQL's children have ended")
        self.later(0, 2, "start PostgreSQL", postgres.launch)
        return True

    def shut_postgres(self):
        return self.kill_postgres(signal.SIGQUIT, "immediate shutdown of PostgreSQL")

    def end_backends(self):
        if not self.servers.postgres.ready():
            return False
        ended = self.cell.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            " AND application_name LIKE '%%ingester%%'", self.cell.database)
        if ended:
            self.say(f"end {len(ended)} backends of ingesters")
        return bool(ended)

    # The end of a round

    def heal(self):
        """All but who is stopped at once; that one has to be away for its whole time."""
        self.say("heal")
        for debt in [d for d in self.owed if d[2] != self.wake]:
            self.owed.remove(debt)
            self.owed.append((0, *debt[1:]))
        self.pay()
        for server in (self.servers.postgres, self.servers.kafka):
            try:
                server.wait_ready(server.ready, 60)
            except Trouble as e:
                raise AssertionError(f"{server.title} did not come back: {e}") from None
