#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rows that a query of a month of a fleet reads, and its time.

    tests/bench/bench_days.py --hosts 100 --days 30

A simulated fleet (fleet/fleet_feed.c) sends an hour, which is stored, compacted and rolled
up as usual. Its rollups, series and label pairs are then copied to every hour of many days: rows
differ only in their times, so there is no churn of processes from day to day. The queries run with
the rollups without instances, and without them (`kind` is set as if only rollups by series
existed).
"""
import argparse
import ctypes
import json
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timedelta, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("bench", "integration", "recorded")]

import recording  # noqa: E402  (the path comes first)
from bench_ingest import cpu_of, cpu_of_server  # noqa: E402
from bench_store import HOUR_MS, WAITING, feed, start  # noqa: E402
from harness import Cell, servers_of_a_run, wait_until  # noqa: E402

DAY_MS = 24 * HOUR_MS
SHARED_COLUMNS = 8
QUERIES = {
    "flame graph of everything": ("query", {"query": "{}", "report": "flamegraph"}),
    "of one service": ("query", {"query": '{service_name="SERVICE"}', "report": "flamegraph"}),
    "table by comm": ("query", {"query": "{}", "report": "table", "group_by": "comm"}),
    "over time by service": ("query_range", {"query": "{}", "step": "86400",
                                             "sum_by": "service_name"}),
    "of one node": ("query", {"query": '{node="NODE"}', "report": "flamegraph"}),
}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def put_varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
xxh3.restype, xxh3.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_size_t)


def moved_payload(payload, by_ms):
    """A row with all its times moved: they are steps from the one in its head (chunk_format.h)."""
    assert payload[0] == 2
    base_ms, after = varint(payload, 1)
    _, at = varint(payload, after)  # slices
    head_len = 0
    for i in range(2 * SHARED_COLUMNS):
        value, at = varint(payload, at)
        head_len += value if i % 2 else 0
    head_len += at
    assert xxh3(payload[:head_len], head_len).to_bytes(8, "little") == \
        payload[head_len:head_len + 8]
    head = payload[:1] + put_varint(base_ms + by_ms) + payload[after:head_len]
    assert len(head) == head_len  # the directory says where slices are
    return head + xxh3(head, head_len).to_bytes(8, "little") + payload[head_len + 8:]


def moved_directory(directory, by_ms):
    """The same: the times of its series are steps from the one it begins with."""
    assert directory[0] == 2
    base_ms, after = varint(directory, 1)
    return directory[:1] + put_varint(base_ms + by_ms) + directory[after:]


def copy_days(cell, hour_ms, days):
    """The hour of hour_ms to all others of the days before its own."""
    first_ms = hour_ms - hour_ms % DAY_MS - days * DAY_MS
    with cell.connect() as db:
        rows = db.execute("SELECT bucket, first_ms, last_ms, samples, directory, payload, kind"
                          " FROM rollup WHERE first_ms / 3600000 = %s", (hour_ms // HOUR_MS,)
                          ).fetchall()
        day = datetime.fromtimestamp(hour_ms / 1000, timezone.utc).date()
        for ago in range(1, days + 1):
            to = day - timedelta(days=ago)
            for table in ("series", "label_pair", "rollup"):
                db.execute(f"CREATE TABLE IF NOT EXISTS {table}_{to:%Y%m%d} PARTITION OF {table}"
                           f" FOR VALUES FROM ('{to}') TO ('{to + timedelta(days=1)}')")
            db.execute("INSERT INTO series SELECT %s, id, pairs FROM series WHERE day = %s"
                       " ON CONFLICT DO NOTHING", (to, day))
            db.execute("INSERT INTO label_pair SELECT %s, id, name, value FROM label_pair"
                       " WHERE day = %s ON CONFLICT DO NOTHING", (to, day))
        with db.cursor().copy("COPY rollup (day, bucket, first_ms, last_ms, samples, directory,"
                              " payload, kind) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["date", "int4", "int8", "int8", "int4", "bytea", "bytea", "int4"])
            for at_ms in range(first_ms, first_ms + days * DAY_MS, HOUR_MS):
                by_ms = at_ms - hour_ms
                to = datetime.fromtimestamp(at_ms / 1000, timezone.utc).date()
                for bucket, first, last, samples, directory, payload, kind in rows:
                    copy.write_row((to, bucket, first + by_ms, last + by_ms, samples,
                                    moved_directory(directory, by_ms),
                                    moved_payload(payload, by_ms), kind))
        db.execute("VACUUM ANALYZE")
    return first_ms, first_ms + days * DAY_MS


def get(cell, path, params):
    """As Cell.api(), with more patience."""
    url = f"http://{cell.querier.address}/api/v1/{path}?{urllib.parse.urlencode(params)}"
    try:
        with urllib.request.urlopen(url, timeout=120) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def ask(fleet, cell, what, window, names, times=2):
    path, params = QUERIES[what]
    query = params["query"]
    for name, value in names.items():
        query = query.replace(name, value)
    best = None
    for _ in range(times):
        began = time.monotonic(), cpu_of(cell.querier.pid()), cpu_of_server(fleet.postgres)
        status, body = get(cell, path, params | {"query": query} | window)
        if status != 200:
            print(f"  {what:28} {status}: {json.loads(body)['error']}", flush=True)
            return
        took = (time.monotonic() - began[0], cpu_of(cell.querier.pid()) - began[1],
                cpu_of_server(fleet.postgres) - began[2])
        if best is None or sum(took[1:]) < sum(best[1:]):
            best, stats = took, json.loads(body)["stats"]
    print(f"  {what:28} {best[0]:6.2f} s, CPU {best[1]:5.2f} + {best[2]:5.2f} s,"
          f" {stats['series']:6} series, {stats['rows']:6} rows, {stats['bytes'] / 1e6:7.1f} MB,"
          f" {stats['samples_read']:9,} sums", flush=True)


def alone(cell):
    """As if there were no other sums than those by series."""
    cell.ingester.stop()
    with cell.connect() as db:
        db.execute("UPDATE rollup SET kind = CASE kind WHEN 1 THEN 0 WHEN 0 THEN 0 ELSE 9 END,"
                   " folded = NULL WHERE kind < 5")
        db.execute("VACUUM ANALYZE")


def run(fleet, files, args):
    with Cell(fleet, "days", partitions=8, flush_interval="500ms") as cell:
        start(cell, "0s")
        cell.start_service(cell.querier)
        sent = feed(fleet, cell, files, args.hosts, args.minutes, {}, args)
        wait_until(lambda: cell.samples() == sent["samples"], args.deadline, "all is stored")
        cell.ingester.stop()
        start(cell, "100ms")
        wait_until(lambda: cell.rows(WAITING, sent["end_ms"] - 1000) == [(0,)], args.deadline,
                   "all is summed up")
        print(f"{args.hosts} hosts, {args.minutes} min, {sent['samples']} samples", flush=True)
        print_kinds(cell, "the hour")
        if args.dump:
            dump(cell, args.dump)
        hour_ms = (sent["end_ms"] - 1) // HOUR_MS * HOUR_MS
        first_ms, end_ms = copy_days(cell, hour_ms, args.days)
        window = {"start": first_ms // 1000, "end": end_ms // 1000}
        wait_until(lambda: cell.rows("SELECT count(*) FROM rollup WHERE folded IS NULL AND kind IN"
                                     " (0, 2) AND first_ms < %s", end_ms) == [(0,)],
                   args.deadline, "the days are summed up")
        print_kinds(cell, f"{args.days} days")
        names = {name: cell.rows("SELECT min(value) FROM label_pair WHERE name = %s",
                                 label)[0][0]
                 for name, label in (("NODE", "node"), ("SERVICE", "service_name"))}
        for what in QUERIES:
            ask(fleet, cell, what, window, names)
        print("by series alone")
        alone(cell)
        for what in QUERIES:
            ask(fleet, cell, what, window, names)


def dump(cell, directory):
    """Payloads as merge_bench takes them."""
    for name, which in (("chunks", "chunk"), ("sums", "rollup WHERE kind < 2")):
        rows = [row for row, in cell.rows(f"SELECT payload FROM {which}")]
        (directory / name).write_bytes(b"".join(struct.pack(">I", len(row)) + row for row in rows))


def print_kinds(cell, of):
    kinds = ("alone", "by series", "without instances", "gauges", "of days")
    for kind, *counts in cell.rows(
            "SELECT kind, count(*), sum(samples)::bigint, sum(length(payload))::bigint,"
            " sum(length(directory))::bigint FROM rollup GROUP BY kind ORDER BY kind"):
        rows, sums, payload, directory = counts
        print(f"  of {of}, {kinds[kind]}: {rows} rows, {sums:,} sums, {payload / 1e6:.2f} MB and"
              f" {directory / 1e6:.2f} of directories", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--minutes", type=int, default=60, help="of the hour that is sent")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--pause", type=int, default=300,
                        help="ms between ten seconds of the fleet")
    parser.add_argument("--deadline", type=int, default=900, help="seconds of each wait")
    parser.add_argument("--dump", type=Path, help="directory for payloads of the hour")
    parser.add_argument("--recorded", type=Path, default=recording.FILE)
    args = parser.parse_args()
    with servers_of_a_run("-bench", without=("redis",)) as fleet:
        files = []
        for i, batch in enumerate(recording.read(args.recorded)):
            files.append(fleet.run_dir / f"{i}.otlp")
            files[-1].write_bytes(batch)
        run(fleet, files, args)


if __name__ == "__main__":
    main()
