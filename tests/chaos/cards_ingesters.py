"""cards_ingesters - what is done to the ingesters: killed, stopped for longer than their session,
both also in the middle of a flush, added and removed.
"""
import os
import signal
import time
from collections import Counter

import psycopg

INGESTERS_MAX = 3
STOPPED_S = 11.5  # longer than the ingesters' session.timeout.ms of 10 s
HOLD_S = 1
LEAVING_S = 30    # one that waits for a lock of a stopped one leaves when that is freed
STAGES = {        # what a flush must have to go on: who holds the table holds the flush there
    "in COPY": "chunk_raw",
    "after COPY": "agent_status",
    "at the fence": "consumer_offset",
}


class IngesterCards:
    def __init__(self):
        self.ingesters = [self.cell.ingester]
        self.named = 1
        self.stopped = None
        self.leaving = []      # (ingester, until when)
        self.stored = Counter()  # rows by ingester, of those that have been asked

    def launch_ingester(self, ingester):
        address = f"{self.cell.postgres_address}?application_name={ingester.name}"
        self.launch(ingester, lambda: ingester.launch({"DECIMA_POSTGRES": address}))

    def running(self):
        """Those that run and are not stopped."""
        owed = [debt[2] for debt in self.owed]
        return [i for i in self.ingesters if i is not self.stopped and i.alive() and i not in owed]

    def check_ingesters(self):
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

    def all_store(self):
        """Whether each ingester, as it runs now, has stored rows."""
        rows = {}
        for ingester in self.ingesters:
            status, body = ingester.get("/metrics", timeout=5)
            found = [line for line in body.decode().splitlines()
                     if line.startswith("decima_ingester_rows_total ")]
            rows[ingester.name] = int(found[0].split()[1]) if status == 200 and found else 0
        assert all(rows.values()), f"rows stored: {rows}"
        for name, count in rows.items():
            self.stored[name] = max(self.stored[name], count)
        return True

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
