# SPDX-License-Identifier: Apache-2.0
"""Two ingesters compact while a third one is stopped inside a compaction: its locked rows are
released within a bound, the others compact them, and they are stored once after it continues.
"""
import os
import signal
import time

import pytest

from harness import Cell, metrics, wait_until
from merged import merge_faults
from otlp_messages import cpu_message
from test_compaction import WAITING

HOUR_MS = 3600_000
BOUND_S = 90      # the promise is 30 s and a second; the rest is for a loaded machine
COPY_BOUND_S = 300  # no timeout ends a COPY: 2 minutes, then another's maintenance
COMMS = [f"comm-{n}" for n in range(12)]
TICKS = {(1, n): 2 for n in range(20)}
# Failpoint: the table whose rows are locked, and the query of the rows that wait.
PLACES = {
    "before-compaction": ("chunk_raw", WAITING),
    "in-copy": ("chunk_raw", WAITING),  # no flush runs at that time, so the COPY is a compaction's
    "in-compaction": ("chunk_raw", WAITING),
    "in-rollup": ("chunk", "SELECT count(*) FROM chunk WHERE rolled IS NULL AND first_ms < {over}"),
}


@pytest.mark.long
@pytest.mark.parametrize("point", PLACES)
def test_rows_of_a_stopped_compaction_are_compacted_once_by_others(servers, protos, figure, point):
    with Cell(servers, f"stopped_merger_{point.replace('-', '_')}") as cell:
        cell.ingester_flags["compaction-age"] = "0s"
        cell.ingester.flags["compaction-age"] = "0s"
        cell.start()
        now_ms = int(time.time() * 1000)
        ages = [0, 2 * HOUR_MS, 3 * HOUR_MS]
        cell.produce_all((cpu_message(protos, comm, TICKS, at_ms=now_ms - ages[n % 3], pid=n),
                          {"partition": n % 4}) for n in range(10) for comm in COMMS)
        total = 10 * len(COMMS) * sum(TICKS.values())
        wait_until(lambda: cell.samples() == total, what="all is stored")

        table, waiting = PLACES[point]
        waiting = waiting.format(over=now_ms - 2 * HOUR_MS + 1)
        stopped = cell.service("ingester", "stopped", {
            "compaction-age": "100ms", "failpoints": f"{point}=stop"})
        stopped.launch({"DECIMA_POSTGRES": cell.postgres_address})
        wait_until(lambda: f"name={point} action=stop" in stopped.last_words(50),
                   what="the failpoint")
        began = time.monotonic()
        others = [cell.service("ingester", f"other-{n}", {"compaction-age": "100ms"})
                  for n in range(2)]
        for other in others:
            other.launch({"DECIMA_POSTGRES": cell.postgres_address})

        def are_others_blocked():
            """Whether only the locked rows are left."""
            (left,), = cell.rows(waiting)
            (free,), = cell.rows(f"SELECT count(*) FROM (SELECT FROM {table} WHERE "
                                 + waiting.partition("WHERE")[2] + " FOR UPDATE SKIP LOCKED) t")
            return left > 0 and free == 0
        wait_until(are_others_blocked, what="the unlocked rows compacted", every=0.05)
        locked = cell.rows(waiting)[0][0]
        wait_until(lambda: cell.rows(waiting) == [(0,)],
                   COPY_BOUND_S if point == "in-copy" else BOUND_S,
                   "the other rows compacted")
        took = time.monotonic() - began

        os.close(stopped.send(signal.SIGCONT))
        wait_until(lambda: metrics(stopped)["decima_ingester_compaction_errors_total"] == 1,
                   what="a counted error")
        cell.produce_all((cpu_message(protos, comm, TICKS, at_ms=now_ms - 2 * HOUR_MS, pid=99), {})
                         for comm in COMMS)
        total += len(COMMS) * sum(TICKS.values())
        wait_until(lambda: cell.samples() == total and cell.rows(waiting) == [(0,)]
                   and cell.rows(WAITING) == [(0,)], what="further rows stored and compacted")

        with cell.connect() as db:
            faults, compared = merge_faults(db)
        stored = cell.samples()
        assert stopped.alive() and all(other.alive() for other in others)
    figure(f"stopped {point}: {locked} rows were compacted by others after {took:.1f} s;"
           f" {dict(compared)}")
    assert not faults, faults
    assert stored == total and compared["samples compared with what was merged"] == total
