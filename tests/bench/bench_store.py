#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a fleet's samples take to store and to keep, and what is found in them: all in one run.

    make bench-store
    tests/bench/bench_store.py --only 40x1h
    tests/bench/bench_store.py --only labels,days,speed
    tests/bench/bench_store.py --only 1x1h,3x10m,1x1d --minutes 1440 --pause 20

Parts: decoder, the scenarios below, any number of hosts and of minutes, hours or days (3x10m),
hosts, speed, labels, days. A simulated fleet
(fleet/fleet_feed.c) sends what the agents of many hosts would: samples drawn from recorded
programs, by processes that end and are deployed anew, on hosts that come and go. For each scenario
it is read from Kafka, stored, merged and summed up by one ingester; the window is one that is over,
so that its hours can be summed up.

Bytes are those of PostgreSQL's tables with TOAST and indexes, for each sample; WAL is what the
server wrote for everything. CPU is the ingester's and that of all of PostgreSQL's processes.
Stacks are drawn independently of each other, which is harder to compress than what programs do.
The table at the end says what was to be reached (store_goals.py), and marks what was missed.
"""
import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("integration", "recorded")]
sys.path[:0] = [str(ROOT / "tools")]

import bench_labels  # noqa: E402  (the path comes first)
import recording  # noqa: E402
import store_days  # noqa: E402
import store_goals  # noqa: E402
import store_pages  # noqa: E402
from bench_ingest import cpu_of, cpu_of_server, peak_bytes  # noqa: E402
from harness import Cell, metrics, servers_of_a_run, wait_until  # noqa: E402

HOUR_MS = 3600_000
OVER_MS = 21 * 60_000    # an hour that ended so long ago is summed up
DAY_S = 86400
# name: hosts, minutes, further settings of fleet_feed
SCENARIOS = {
    "1x10m": (1, 10, {}),
    "40x1h": (40, 60, {}),
    "1/s": (20, 15, {"processes": 24}),
    "10/s": (20, 15, {"processes": 8, "cpus": 8, "busy_percent": 53}),
    "100/s": (4, 15, {"processes": 4, "cpus": 30, "busy_percent": 70}),
}
PARTS = ("decoder", *SCENARIOS, "hosts", "speed", "labels", "days")
WAITING = ("SELECT (SELECT count(*) FROM chunk_raw WHERE merged IS NULL)"
           " + (SELECT count(*) FROM chunk WHERE rolled IS NULL AND first_ms < %s)")
TABLES = ("chunk_raw", "chunk", "rollup", "series", "label_pair")


def sizes(cell):
    """{table: (bytes of heap and TOAST, bytes of indexes, rows)}"""
    found = {}
    with cell.connect() as db:
        db.execute("VACUUM ANALYZE")
        for table in TABLES:
            found[table] = db.execute(
                "SELECT coalesce(sum(pg_table_size(relid)), 0)::bigint,"
                " coalesce(sum(pg_indexes_size(relid)), 0)::bigint,"
                f" (SELECT count(*) FROM {table}) FROM pg_partition_tree(%s)"
                " WHERE isleaf", (table,)).fetchone()
    return found


def wal_of(cell):
    (position,), = cell.rows("SELECT (pg_current_wal_lsn() - '0/0')::bigint")
    return position


class Meter:
    """CPU, WAL and wall time from here on."""

    def __init__(self, cell):
        self.cell = cell
        self.before = self.now()

    def now(self):
        return (cpu_of(self.cell.ingester.pid()), cpu_of_server(self.cell.fleet.postgres),
                wal_of(self.cell), time.monotonic())

    def read(self):
        """What took no tick of the clock that the kernel counts by took half of one."""
        return [max(after - before, 0.005) for after, before in zip(self.now(), self.before)]


def feed(fleet, cell, files, hosts, minutes, more, args):
    end_ms = (int(time.time() * 1000) - OVER_MS) // HOUR_MS * HOUR_MS
    given = {"brokers": fleet.kafka.address(), "topic": cell.topic, "hosts": hosts,
             "minutes": minutes, "end_ms": end_ms, "pause_ms": args.pause} | more
    done = subprocess.run([fleet.build / "tests" / "fleet_feed",
                           *(f"{name}={value}" for name, value in given.items()), "--", *files],
                          text=True, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def start(cell, age):
    cell.ingester.flags["compaction-age"] = age
    cell.start_service(cell.ingester)
    wait_until(lambda: metrics(cell.ingester)["decima_ingester_partitions_assigned"] == 8, 60,
               "the assignment")


def scenario_of(name):
    """Hosts, minutes and settings; None: it is the name of none."""
    if name in SCENARIOS:
        return SCENARIOS[name]
    form = re.fullmatch(r"(\d+)x(\d+)([mhd])", name)
    return form and (int(form[1]), int(form[2]) * {"m": 1, "h": 60, "d": 1440}[form[3]], {})


def run_scenario(fleet, files, name, args):
    hosts, minutes, more = scenario_of(name)
    minutes = min(minutes, args.minutes)
    database = "store_" + "".join(c if c.isalnum() else "_" for c in name)
    with Cell(fleet, database, partitions=8, flush_interval=f"{max(args.pause, 200)}ms") as cell:
        start(cell, args.age)
        meter = Meter(cell)
        sent = feed(fleet, cell, files, hosts, minutes, more, args)
        samples = sent["samples"]
        wait_until(lambda: cell.samples() == samples, args.deadline, f"{samples} samples stored")
        stored = meter.read()
        peak = peak_bytes(cell.ingester)
        raw = sizes(cell)
        cell.ingester.stop()
        start(cell, "100ms")
        meter = Meter(cell)
        wait_until(lambda: cell.rows(WAITING, sent["end_ms"] - 1000) == [(0,)], args.deadline,
                   "all is merged and summed up")
        merged = meter.read()
        peak = peak, peak_bytes(cell.ingester)
        (series,), = cell.rows("SELECT count(*) FROM series")
        return {"name": name, "samples": samples, "hosts": hosts, "minutes": minutes,
                "series": series, "programs": sent["programs"], "wire": sent["bytes"],
                "stored": stored, "merged": merged, "raw": raw, "kept": sizes(cell), "peak": peak,
                "pages": store_pages.pages_of(cell), "indexes": store_pages.indexes_of(cell)}


def per(value, samples):
    return f"{value / samples:7.2f}"


def print_scenario(found):
    samples, raw, kept = found["samples"], found["raw"], found["kept"]
    ingester, server, wal, wall = found["stored"]
    print(f"\n{found['name']}: {samples} samples of {found['programs']} programs, {found['series']}"
          f" series, {samples / found['series'] / found['minutes'] / 60:.2f} samples/s and series")
    print(f"  stored  {samples / ingester:9,.0f} samples/s and core of the ingester,"
          f" {samples / (ingester + server):9,.0f} with PostgreSQL's ({ingester:.1f} + {server:.1f}"
          f" s), WAL {wal / samples:.2f} B, {samples / wall:,.0f}/s of wall;"
          f" peak RSS {found['peak'][0] / 1e6:.0f} MB")
    ingester, server, wal, wall = found["merged"]
    print(f"  merged  {samples / ingester:9,.0f} samples/s and core of the ingester,"
          f" {samples / (ingester + server):9,.0f} with PostgreSQL's ({ingester:.1f} + {server:.1f}"
          f" s), WAL {wal / samples:.2f} B; peak RSS {found['peak'][1] / 1e6:.0f} MB")
    print(f"  {'bytes a sample':12} {'raw':>24} {'merged':>24}")
    print(f"  {'':12} {'table':>8} {'index':>7} {'rows':>7} {'table':>8} {'index':>7} {'rows':>7}")
    for table in TABLES:
        lines = [(per(sizes[table][0], samples), per(sizes[table][1], samples), sizes[table][2])
                 for sizes in (raw, kept)]
        (a, b, c), (d, e, f) = lines
        print(f"  {table:12} {a:>8} {b:>7} {c:>7} {d:>8} {e:>7} {f:>7}")
    kept_bytes = sum(sum(kept[table][:2]) for table in TABLES if table != "chunk_raw")
    no_sums = kept_bytes - sum(kept["rollup"][:2])
    a_day = kept_bytes / found["hosts"] / found["minutes"] / 60 * DAY_S * 50
    print(f"  kept: {no_sums / samples:.2f} B a sample, and {sum(kept['rollup'][:2]) / samples:.2f}"
          f" of sums; 50 such nodes: {a_day / 1e9:.2f} GB a day"
          f" ({samples / found['hosts'] / found['minutes'] / 60:.0f} samples/s each)")
    store_pages.print_pages(found["pages"], found["indexes"], samples)
    sys.stdout.flush()


def run_decoder(fleet, files):
    stats = json.loads(subprocess.run([fleet.build / "tests" / "ingest_feed", "decode", *files],
                                  text=True, check=True, stdout=subprocess.PIPE).stdout)
    speed = stats["samples"] / stats["cpu_seconds"]
    print(f"decoder alone: {speed:,.0f} samples/s and core, "
          f"{stats['bytes'] / stats['cpu_seconds'] / 1e6:,.0f} MB/s", flush=True)
    return {"decoder": speed}


def run_hosts(fleet, files, args):
    """Rows must not grow with hosts: a minute of fleets of several sizes."""
    most = 0
    print("\nhosts   samples  series  flushes  rows a flush  rows/s at a flush in 10 s  "
          "samples/s and core")
    for hosts in (10, 100, 1000):
        with Cell(fleet, f"store_hosts_{hosts}", partitions=8, flush_interval="2s") as cell:
            start(cell, "0s")
            meter = Meter(cell)
            args.pause, pause = 2000, args.pause
            sent = feed(fleet, cell, files, hosts, 1, {}, args)
            args.pause = pause
            wait_until(lambda: cell.samples() == sent["samples"], args.deadline, "all is stored")
            ingester, server, _, _ = meter.read()
            stats = metrics(cell.ingester)
            rows = stats["decima_ingester_rows_total"] / stats["decima_ingester_flushes_total"]
            print(f"{hosts:5} {sent['samples']:9} {stats['decima_ingester_series_new_total']:7.0f} "
                  f"{stats['decima_ingester_flushes_total']:8.0f} {rows:13.1f} {rows / 10:26.1f} "
                  f"{sent['samples'] / (ingester + server):19,.0f}", flush=True)
            most = max(most, rows)
    return {"rows": most}


def run_speed(fleet, files, args):
    """As fast as it goes: Kafka is full before the ingester begins."""
    with Cell(fleet, "store_speed", partitions=8, flush_interval="10s") as cell:
        cell.ingester.flags["memory-limit"] = "512MB"
        start(cell, "0s")
        cell.ingester.stop()
        given, args.pause = args.pause, 0
        sent = feed(fleet, cell, files, 100, 10, {}, args)
        args.pause = given
        cell.ingester.flags["compaction-age"] = "5s"
        cell.start_service(cell.ingester)
        meter = Meter(cell)
        wait_until(lambda: cell.samples() == sent["samples"], args.deadline, "all is stored")
        ingester, server, _, wall = meter.read()
        peak = peak_bytes(cell.ingester) / 1e6
        stats = metrics(cell.ingester)
    print(f"\nfull speed, 100 hosts x 10 min that waited in Kafka, --memory-limit=512MB: "
          f"{sent['samples'] / wall:,.0f} samples/s of wall, "
          f"{sent['samples'] / (ingester + server):,.0f} and core with PostgreSQL's, peak RSS "
          f"{peak:.0f} MB, {stats['decima_ingester_flushes_total']:.0f} flushes, paused "
          f"{stats['decima_ingester_pauses_total']:.0f} times", flush=True)
    return {"RSS": peak}


def goals_of(found):
    """{key of GOALS: value} of a scenario."""
    samples, kept, name = found["samples"], found["kept"], found["name"]
    sums = sum(kept["rollup"][:2])
    size = sum(sum(kept[table][:2]) for table in TABLES if table != "chunk_raw") - sums
    if name == "1x10m":
        return {"kept 1 host": size / samples}
    if name != "40x1h":
        return {}
    ingester, server, wal, _ = found["stored"]
    return {"kept 40 hosts": size / samples, "sums 40 hosts": sums / samples,
            "end to end": samples / (ingester + server), "ingester": samples / ingester,
            "WAL": (wal + found["merged"][2]) / samples,
            "50 nodes": (size + sums) / found["hosts"] / found["minutes"] / 60 * DAY_S * 50 / 1e9}


def run_scenario_part(fleet, files, name, args):
    found = run_scenario(fleet, files, name, args)
    print_scenario(found)
    return goals_of(found)


def wanted_parts(only):
    wanted = only.split(",") if only else PARTS
    for name in wanted:
        if name not in PARTS and not scenario_of(name):
            sys.exit(f"bench-store: no part {name}; there are {', '.join(PARTS)}")
    return wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=int, default=60, help="of fleet time at the most")
    parser.add_argument("--pause", type=int, default=500,
                        help="ms between ten seconds of the fleet; the ingester flushes as often")
    parser.add_argument("--age", default="0s",
                        help="of rows that are merged while others come; 0s: none are")
    parser.add_argument("--deadline", type=int, default=600, help="seconds of each wait")
    parser.add_argument("--only", help="parts, with commas: " + ", ".join(PARTS))
    parser.add_argument("--recorded", type=Path, default=recording.FILE)
    parser.add_argument("--series", type=int, default=1_000_000, help="of the part labels")
    parser.add_argument("--days", type=int, default=30, help="of the part days")
    parser.add_argument("--days-hosts", type=int, default=100, help="of the part days")
    parser.add_argument("--runs", type=int, default=5, help="of each query")
    args = parser.parse_args()
    wanted, found = wanted_parts(args.only), {}
    with servers_of_a_run("-bench", without=("redis",)) as fleet:
        files = []
        for i, batch in enumerate(recording.read(args.recorded)):
            files.append(fleet.run_dir / f"{i}.otlp")
            files[-1].write_bytes(batch)
        for name in wanted:
            if scenario_of(name):
                found |= run_scenario_part(fleet, files, name, args)
        if "decoder" in wanted:
            found |= run_decoder(fleet, files)
        if "hosts" in wanted:
            found |= run_hosts(fleet, files, args)
        if "speed" in wanted:
            found |= run_speed(fleet, files, args)
        if "labels" in wanted:
            found |= bench_labels.run(fleet, args)
        if "days" in wanted:
            found |= store_days.run_days(fleet, files, args)
    missed = store_goals.print_goals(found)
    if missed:
        print(f"missed: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
