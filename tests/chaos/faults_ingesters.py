# SPDX-License-Identifier: Apache-2.0
"""faults_ingesters - faults of the ingesters: they are killed, stopped for longer than their
session, both also in the middle of a flush or a merge, added and removed.
"""
import functools
import os
import signal
import time
from collections import Counter
from pathlib import Path

import psycopg

INGESTERS_MAX = 3
LONGER_S = 1.5    # a stopped ingester stays stopped for this much longer than its session
SESSIONS_S = (3, 3, 3, 10)  # 10 is the default
BLOCK_S = 1
LEAVING_S = 180    # it may first have to wait for a lock of a stopped ingester
AGES = ("100ms", "2s")  # of rows at their compaction
STAGES = {        # the table that a flush needs next: a lock of the table blocks the flush there
    "in COPY": "chunk_raw",
    "after COPY": "agent_status",
    "at the fence": "consumer_offset",
}
MERGE_STAGES = {"of rows": "chunk", "of an hour": "rollup"}


class IngesterFaults:
    def __init__(self):
        self.ingesters = [self.cell.ingester]
        self.session_s = self.rng.choice(SESSIONS_S)
        self.cell.ingester_flags["compaction-age"] = self.rng.choice(AGES)
        self.cell.ingester_flags["kafka-session-timeout"] = f"{self.session_s}s"
        self.cell.ingester.flags |= self.cell.ingester_flags
        self.last_number = 1
        self.stopped = []
        self.leaving = []      # (ingester, deadline)
        self.stored = Counter()  # rows by ingester, as its metrics reported

    def launch_ingester(self, ingester):
        self.launch(ingester, lambda: ingester.launch(
            {"DECIMA_POSTGRES": self.cell.postgres_address}))

    def running(self):
        """The ingesters that run and are not stopped."""
        scheduled = [entry[2] for entry in self.pending]
        return [i for i in self.ingesters
                if i not in self.stopped and i.alive() and i not in scheduled]

    def check_ingesters(self):
        """Fail if an ingester has exited without a fault, or has not exited after SIGTERM."""
        for ingester, until in list(self.leaving):
            if ingester.exit_code() is None:
                assert time.monotonic() < until, (
                    f"{ingester.name} did not exit after SIGTERM:\n{ingester.last_words(30)}")
            else:
                # -SIGTERM: the signal arrived before it had a handler.
                assert ingester.exit_code() in (0, -signal.SIGTERM), (
                    f"{ingester.name} exited with status {ingester.exit_code()}:\n"
                    f"{ingester.last_words(30)}")
                self.leaving.remove((ingester, until))
        for ingester in self.ingesters:
            if ingester.popen and ingester.exit_code() not in (None, -signal.SIGKILL):
                raise AssertionError(f"{ingester.name} exited by itself, with status "
                                     f"{ingester.exit_code()}:\n{ingester.last_words(30)}")

    def all_store(self):
        """Whether each ingester has stored rows since its last start."""
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
        return self.rng.choice(running) if running else None

    def kill_ingester(self, ingester=None, where=""):
        ingester = ingester or self.pick()
        if not ingester:
            return False
        self.log(f"kill -9 {ingester.name} {where}".rstrip())
        ingester.kill()
        self.schedule(0, 2, f"start {ingester.name}", lambda: self.launch_ingester(ingester))
        return True

    def stop_ingester(self, ingester=None, where=""):
        ingester = ingester or self.pick()
        if not ingester or self.stopped:
            return False
        self.log(f"SIGSTOP {ingester.name} {where}".rstrip())
        ingester.send(signal.SIGSTOP)
        self.is_stopped(ingester)
        return True

    def is_stopped(self, ingester):
        """Schedule its SIGCONT."""
        self.stopped.append(ingester)
        away = self.session_s + LONGER_S
        self.schedule(away, away + 1, f"SIGCONT {ingester.name}",
                   functools.partial(self.wake, ingester))

    def wake(self, ingester):
        ingester.send(signal.SIGCONT)
        self.stopped.remove(ingester)

    def fault_while_blocked(self, act, verb, what, stages):
        """Block a flush or a merge by locking a table that it needs, and apply `act` to the
        ingester that waits for it."""
        if self.stopped:
            return False  # its transaction may lock the table for long
        where = self.rng.choice(list(stages))
        table = stages[where]
        ends = time.monotonic() + BLOCK_S
        with psycopg.connect(self.cell.postgres_address) as holder:
            holder.execute("SET lock_timeout = '500ms'")
            holder.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")
            while time.monotonic() < ends:
                waiting = self._blocked_port(table)
                for ingester in self.running():
                    if waiting and has_socket(ingester, waiting):
                        act(ingester, f"in a {what}, {where}")
                        self.counts[f"{verb} in a {what}, {where}"] += 1
                        return True
                time.sleep(0.01)
        return False

    def _blocked_port(self, table):
        """The client port of a backend that waits for a lock of the table."""
        found = self.cell.rows(
            "SELECT client_port FROM pg_stat_activity JOIN pg_locks USING (pid)"
            " WHERE relation = %s::regclass AND NOT granted", table)
        return found[0][0] if found else None

    def stop_in_flush(self):
        return self.fault_while_blocked(self.stop_ingester, "stopped", "flush", STAGES)

    def kill_in_flush(self):
        return self.fault_while_blocked(self.kill_ingester, "killed", "flush", STAGES)

    def stop_in_merge(self):
        return self.fault_while_blocked(self.stop_ingester, "stopped", "merge", MERGE_STAGES)

    def kill_in_merge(self):
        return self.fault_while_blocked(self.kill_ingester, "killed", "merge", MERGE_STAGES)

    def add_ingester(self):
        if not self.has_room():
            return self.remove_ingester()
        self.launch_ingester(self.new_ingester())
        return True

    def has_room(self):
        return len(self.ingesters) < INGESTERS_MAX

    def new_ingester(self):
        """Add an ingester without starting it."""
        self.last_number += 1
        ingester = self.cell.service("ingester", str(self.last_number))
        self.ingesters.append(ingester)
        self.log(f"add {ingester.name}")
        return ingester

    def remove_ingester(self):
        ingester = self.pick()
        if len(self.ingesters) < 2 or not ingester or self.is_armed(ingester):
            return False
        self.log(f"remove {ingester.name} (SIGTERM)")
        self.ingesters.remove(ingester)
        self.leaving.append((ingester, time.monotonic() + LEAVING_S))
        os.close(ingester.send(signal.SIGTERM))
        return True


def has_socket(process, port):
    """Whether the process has a socket with that local port."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    sockets = {f"socket:[{line[9]}]" for line in lines if int(line[1].split(":")[1], 16) == port}
    try:
        files = [os.readlink(file) for file in Path(f"/proc/{process.pid()}/fd").iterdir()]
    except OSError:  # it has exited
        return False
    return not sockets.isdisjoint(files)
