# SPDX-License-Identifier: Apache-2.0
"""While a long query runs, partitions are made, detached and dropped, and no flush waits for the
query.

If a session waits for a lock that conflicts with the query, all later requests for that lock wait
behind it. The tests poll PostgreSQL's waits (pg_locks) and the longest time without a change of
the offsets, and compare them with the same load without a query.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone

import psycopg
import pytest

from harness import ROOT, SLOW, Cell, metrics, wait_until
from otlp_messages import cpu_message

sys.path.insert(0, str(ROOT / "tests" / "recorded"))

import recording  # noqa: E402  (the path comes first)

BOUND_S = 1.0
STOP_S = SLOW * 10   # the promise is 5 s and one wait for a lock
PAUSE_S = 0.004     # between two messages
TICKS = {(1, n): 2 for n in range(50)}
DAYS_BACK = 6       # days of late samples, for which partitions are made meanwhile
DAY_MS = 86400_000
TABLES = ("chunk_raw", "chunk", "rollup", "series", "label_pair")
WAITING = ("SELECT query, extract(epoch FROM clock_timestamp() - waitstart)::float8 FROM pg_locks"
           " JOIN pg_stat_activity USING (pid) WHERE NOT granted AND waitstart IS NOT NULL"
           " AND datname = current_database() AND application_name = 'decima-ingester'")
STORED = "SELECT coalesce(sum(next_offset), 0)::bigint FROM consumer_offset"


class Load(threading.Thread):
    """Produces batches, slower than they can be stored, and one late batch for each of `days`."""

    def __init__(self, cell, protos):
        super().__init__(daemon=True)
        self.cell, self.protos = cell, protos
        self.messages = [cpu_message(protos, f"comm-{n}", TICKS, node=f"host-{n}", pid=n)
                         for n in range(20)]
        self.days, self.sent, self.ended = [], 0, threading.Event()

    def run(self):
        while not self.ended.wait(PAUSE_S):
            message = self.messages[self.sent % len(self.messages)]
            if self.days:
                at_ms = int(time.time() * 1000) - self.days.pop() * 86400_000
                message = cpu_message(self.protos, "late", TICKS, at_ms=at_ms)
            self.cell.produce(message, partition=self.sent % 4)
            self.sent += 1

    def close(self):
        self.ended.set()
        self.join()


class Watch(threading.Thread):
    """Polls the locks and the offsets."""

    def __init__(self, cell):
        super().__init__(daemon=True)
        self.cell = cell
        self.waits = {}      # the longest of each statement
        self.still_s = 0.0   # the longest that no offset moved
        self.polls = 0
        self.ended = threading.Event()

    def run(self):
        with self.cell.connect() as db:
            stored, moved = None, time.monotonic()
            while not self.ended.wait(0.01):
                for query, seconds in db.execute(WAITING).fetchall():
                    self.waits[query] = max(self.waits.get(query, 0), seconds)
                now, = db.execute(STORED).fetchone()
                self.still_s = max(self.still_s, time.monotonic() - moved)
                if now != stored:
                    stored, moved = now, time.monotonic()
                self.polls += 1

    def close(self):
        self.ended.set()
        self.join()
        assert self.polls > 20, "at most 20 polls"


def watch(cell, seconds):
    watching = Watch(cell)
    watching.start()
    time.sleep(seconds)
    watching.close()
    return watching


def past(db):
    """Make a partition of each table that is past its retention; returns their names."""
    now = datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0)
    hour, day = now - timedelta(days=30), (now - timedelta(days=300)).replace(hour=0)
    names = [f"chunk_raw_{hour:%Y%m%d%H}"]
    db.execute(f"CREATE TABLE {names[0]} PARTITION OF chunk_raw FOR VALUES FROM ('{hour}')"
               f" TO ('{hour + timedelta(hours=1)}')")
    for table in TABLES[1:]:
        names.append(f"{table}_{day:%Y%m%d}")
        db.execute(f"CREATE TABLE {names[-1]} PARTITION OF {table} FOR VALUES FROM"
                   f" ('{day:%Y-%m-%d}') TO ('{day + timedelta(days=1):%Y-%m-%d}')")
    return names


def begin_query(cell):
    """Start a query that has read all tables and runs until end_query(); returns its thread."""
    db = psycopg.connect(cell.postgres_address, application_name="long query")
    db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    for table in TABLES:
        db.execute(f"SELECT count(*) FROM {table}")

    def run():
        with contextlib.suppress(psycopg.OperationalError), db:
            db.execute("SELECT pg_sleep(600)")
    running = threading.Thread(target=run)
    running.start()
    return running


def end_query(cell, running):
    assert running.is_alive(), "the query must run all the time"
    cell.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
              " WHERE application_name = 'long query'")
    running.join()


def cut_short(cell, names):
    """Begin to detach the partitions, like an ingester that died in between."""
    for name in names:
        with cell.connect() as db, contextlib.suppress(psycopg.errors.LockNotAvailable):
            db.execute("SET lock_timeout = '50ms'")
            db.execute(f"ALTER TABLE {name.rpartition('_')[0]} DETACH PARTITION {name}"
                       " CONCURRENTLY")
    assert cell.rows("SELECT count(*) FROM pg_inherits WHERE inhdetachpending") == [(len(names),)]


def left(cell, names):
    return cell.rows("SELECT relname::text FROM pg_class WHERE relname::text = ANY (%s)", names)


def detaching(watching):
    return [query for query in watching.waits if " DETACH PARTITION " in query]


@pytest.mark.parametrize("query_s, by", [
    (5, "another ingester that starts"),
    (6, "one that finds them half detached"),
    pytest.param(80, "the one that stores", marks=pytest.mark.long)])
def test_no_flush_waits_while_partitions_are_made_and_dropped(servers, protos, figure, query_s, by):
    """The ingester's own next round is within a minute."""
    with Cell(servers, f"lock_queue_{query_s}") as cell:
        cell.ingester_flags["compaction-age"] = "500ms"
        cell.ingester.flags["compaction-age"] = "500ms"
        cell.start()
        load = Load(cell, protos)
        load.start()
        try:
            wait_until(lambda: cell.rows("SELECT 1 FROM chunk LIMIT 1"), what="rows are merged")
            before = watch(cell, 3)
            with cell.connect() as db:
                names = past(db)
            running = begin_query(cell)
            if by == "one that finds them half detached":
                cut_short(cell, names)
            load.days = list(range(1, 1 + DAYS_BACK))
            if by != "the one that stores":
                cell.service("ingester", "other").launch({"DECIMA_POSTGRES": cell.postgres_address})
            meanwhile = watch(cell, query_s)
            assert len(left(cell, names)) == len(names), "the query may read these partitions"
            end_query(cell, running)
            if by == "one that finds them half detached":  # which does not wait for long
                cell.service("ingester", "next").launch({"DECIMA_POSTGRES": cell.postgres_address})
            wait_until(lambda: not left(cell, names), what="the partitions dropped")
        finally:
            load.close()
        wait_until(lambda: cell.rows(STORED) == [(load.sent,)], what="all is stored")
        assert not load.days, "samples of other days must be produced"
        made = cell.rows("SELECT count(*) FROM pg_inherits WHERE inhparent = 'series'::regclass")
        flush_s = metrics(cell.ingester)

    others = {query[:60]: round(seconds, 3) for query, seconds in meanwhile.waits.items()
              if query not in detaching(meanwhile)}
    figure(f"beside a query of {query_s} s, {load.sent} batches and {len(names)} dropped"
           f" partitions: offsets unchanged for {meanwhile.still_s:.2f} s at the longest (before:"
           f" {before.still_s:.2f} s), waits for locks except DETACH's: {others or 'none'}")
    assert made[0][0] >= DAYS_BACK, "partitions must be made"
    assert detaching(meanwhile), "no session tried to detach a partition"
    assert max(others.values(), default=0) < BOUND_S, others
    assert meanwhile.still_s < BOUND_S + before.still_s
    assert flush_s["decima_ingester_flush_errors_total"] == 0


def send_days(servers, cell, days, scratch):
    """Send a simulated fleet's 20 minutes of each of `days` days to Kafka; returns the samples."""
    files = []
    for number, batch in enumerate(recording.read()):
        files.append(scratch / f"{number}.otlp")
        files[-1].write_bytes(batch)
    sent = 0
    for day in reversed(range(days)):
        end_ms = int(time.time() * 1000) - day * DAY_MS
        done = subprocess.run([servers.build / "tests" / "fleet_feed", "hosts=100", "minutes=20",
                               f"brokers={servers.kafka.address()}", f"topic={cell.topic}",
                               f"end_ms={end_ms}", "--", *files],
                              text=True, check=True, stdout=subprocess.PIPE)
        sent += json.loads(done.stdout)["samples"]
    return sent


@pytest.mark.long
def test_no_flush_waits_at_full_speed(servers, figure, tmp_path):
    """All samples are in Kafka when the ingester starts, so it always has samples to store."""
    with Cell(servers, "lock_queue_speed", partitions=8) as cell:
        cell.ingester_flags["compaction-age"] = "500ms"
        cell.ingester.flags["compaction-age"] = "500ms"
        cell.start()
        cell.ingester.kill()
        sent = send_days(servers, cell, 1 + DAYS_BACK, tmp_path)
        cell.ingester.launch({"DECIMA_POSTGRES": cell.postgres_address})
        wait_until(lambda: cell.rows("SELECT 1 FROM chunk LIMIT 1"), what="rows are merged")
        with cell.connect() as db:
            names = past(db)
        running = begin_query(cell)
        first = cell.samples()
        cell.service("ingester", "other").launch({"DECIMA_POSTGRES": cell.postgres_address})
        meanwhile = watch(cell, 30)
        stored = cell.samples() - first
        assert first + stored < sent, "samples must be left to store all the time"
        assert len(left(cell, names)) == len(names), "the query may read these partitions"
        made, = cell.rows("SELECT count(*) FROM pg_inherits WHERE inhparent = 'series'::regclass")
        end_query(cell, running)
        wait_until(lambda: not left(cell, names), what="the partitions dropped")
        wait_until(lambda: cell.samples() == sent, 300, "all is stored")

    others = {query[:60]: round(seconds, 3) for query, seconds in meanwhile.waits.items()
              if query not in detaching(meanwhile)}
    figure(f"beside a query of 30 s at full speed ({stored / 30:,.0f} samples/s stored): waits for"
           f" locks except DETACH's: {others or 'none'}; offsets unchanged for"
           f" {meanwhile.still_s:.2f} s at the longest")
    assert detaching(meanwhile), "no session tried to detach a partition"
    assert made[0] >= 2, "partitions must be made"
    assert max(others.values(), default=0) < BOUND_S, others


def test_an_ingester_that_waits_for_a_query_terminates_in_time(servers, figure):
    with Cell(servers, "lock_queue_stop") as cell:
        cell.start()
        with cell.connect() as db:
            past(db)
        running = begin_query(cell)
        other = cell.service("ingester", "other")
        other.launch({"DECIMA_POSTGRES": cell.postgres_address})
        wait_until(lambda: [query for query, _ in cell.rows(WAITING) if " DETACH " in query],
                   what="the ingester waiting for the query")

        began = time.monotonic()
        os.close(other.send(signal.SIGTERM))
        wait_until(lambda: other.exit_code() is not None, what="the ingester ended")
        took = time.monotonic() - began

        end_query(cell, running)
        assert other.exit_code() == 0, other.last_words()
    figure(f"an ingester that waits for a query stops within {took:.1f} s")
    assert took < STOP_S, f"{took:.1f} s"
