#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time of label lookups in a day with a million series.

    make bench-labels
    tests/bench/bench_labels.py --series 100000 --runs 5

series_feed stores a day of a big fleet by the ingester's own writer: a fifth as many pods as
series, of 200 services on 10,000 nodes, each with five programs. A querier serves the requests from
rows that an ingester has merged. `find` is the querier's time to find the series that match the
selector; the other times are until a client on the same machine has the response. Medians and
minima.

The plan of every statement that searches series or labels is checked, too: no plan may scan a whole
table.
"""
import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "tools")]

from bench_query import ask  # noqa: E402  (the path comes first)
from harness import Cell, servers_of_a_run, wait_until  # noqa: E402

DAY_MS = 86400_000
# name, path, parameters, the goal in milliseconds
QUERIES = [
    ("label names", "labels", {}, 10),
    ("values, 200 services", "label/service_name/values", {}, 10),
    ("values, 10,000 nodes", "label/node/values", {}, 10),
    ("values, 200,000 pods", "label/pod/values", {}, None),
    ("names of one service", "labels", {"match[]": '{service_name="service-007"}'}, None),
    ("pods of one service", "label/pod/values", {"match[]": '{service_name="service-007"}'}, None),
    ("series of one pod", "series", {"match[]": '{pod=~"service-007-.*[05]",node=~"node-0.*"}'},
     None),
]
GOAL = 20  # of matchers that mean up to 5,000 series
SELECTORS = [
    ("= of a node (100 series)", '{node="node-00042"}', GOAL),
    ("= of a service (5,000)", '{service_name="service-007"}', GOAL),
    ("=, =, = (1,000)", '{service_name="service-007",comm="comm-050",namespace="team-07"}', GOAL),
    ("=~ of a prefix, 1,000 pods", '{pod=~"service-007-.*"}', GOAL),
    ("=, =~ of a prefix", '{service_name="service-007",pod=~"service-007-.*[05]"}', GOAL),
    ("=, =~ of 600 pods, no prefix", '{service_name="service-007",pod=~".*-....[05].*"}', GOAL),
    ("=, =, =~ of 5,000 nodes",
     '{service_name="service-007",comm="comm-050",node=~"node-0[0-4].*"}', GOAL),
    ("=, !=, !~", '{service_name="service-007",comm!="comm-050",node!~"node-00.*"}', GOAL),
    ("=~ of 3 names (15,000)", '{service_name=~"service-007|service-008|service-009"}', None),
    ("=~ of 100 nodes (10,000)", '{node=~"node-001.*"}', None),
    ("=~ no prefix, 10 of 200,000", '{pod=~".*-00777."}', None),
    ("!= alone (995,000)", '{service_name!="service-007"}', None),
    ("{} (1,000,000)", "{}", 200),
]

# Of other windows, with many series: minutes, name, path, parameters
WINDOWS = [
    (15, "{} by service", "query_range", {"query": "{}", "sum_by": "service_name", "step": 15}),
    (15, "{} by pod", "query_range", {"query": "{}", "sum_by": "pod", "step": 900}),
    (15, "!= by service", "query_range",
     {"query": '{service_name!="service-007"}', "sum_by": "service_name", "step": 15}),
    (15, "=~ .+ by service", "query_range",
     {"query": '{service_name=~".+"}', "sum_by": "service_name", "step": 15}),
    (15, "flame graphs of {} by comm", "query",
     {"query": "{}", "report": "flamegraph", "group_by": "comm"}),
    (15, "flame graph of !=", "query",
     {"query": '{service_name!="service-007"}', "report": "flamegraph"}),
    (15, "flame graph, = (50,000)", "query",
     {"query": '{namespace="team-07"}', "report": "flamegraph"}),
    (15, "flame graph, = (5,000)", "query",
     {"query": '{service_name="service-007"}', "report": "flamegraph"}),
    (15, "names, match[] {}", "labels", {"match[]": "{}"}),
    (15, "series, match[] = (50,000)", "series", {"match[]": '{namespace="team-07"}'}),
    (60, "{} by service", "query_range", {"query": "{}", "sum_by": "service_name", "step": 60}),
    (1440, "{} by service", "query_range",
     {"query": "{}", "sum_by": "service_name", "step": 1800}),
]


def fill(cell, series, end_ms):
    began = time.monotonic()
    subprocess.run([cell.fleet.build / "tests" / "series_feed", cell.postgres_address, str(series),
                    str(end_ms)], check=True)
    took = time.monotonic() - began
    print(f"{series} series of a day stored in {took:.1f} s, {series / took:,.0f}/s", flush=True)


def print_sizes(cell):
    for table in ("series", "label_pair"):
        (heap, index, rows), = cell.rows(
            "SELECT sum(pg_table_size(relid))::bigint, sum(pg_indexes_size(relid))::bigint,"
            f" (SELECT count(*) FROM {table}) FROM pg_partition_tree(%s) WHERE isleaf", table)
        print(f"{table:10} {rows:9,} rows, {heap / 1e6:6.1f} MB and {index / 1e6:6.1f} of indexes")


def on_cpu(pid):
    """CPU seconds of a process, by the nanosecond, threads that have ended too."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid() makes it
    except OSError:
        return 0


def on_cpu_all(cell):
    server = cell.fleet.postgres.pid()
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return on_cpu(cell.querier.pid()), sum(map(on_cpu, [server, *map(int, children)]))


def measure(cell, path, params, runs):
    """(seconds, find, CPU of querier and server, stats, bytes of the answer): all but the first."""
    found = []
    for run in range(runs + 1):
        before = on_cpu_all(cell)
        took, stats, size = ask(cell.querier, path, params)
        after = on_cpu_all(cell)
        if run:
            found.append((took, stats["seconds"]["find"], after[0] - before[0],
                          after[1] - before[1], stats, size))
    return found


def print_line(name, runs, goal):
    """The median of the CPU's milliseconds."""
    wall, find, querier, server = (statistics.median(run[i] * 1e3 for run in runs)
                                   for i in range(4))
    cpu = statistics.median((run[2] + run[3]) * 1e3 for run in runs)
    least = min(run[0] for run in runs) * 1e3
    stats, size = runs[0][4:]
    mark = "" if goal is None else "ok" if cpu <= goal else "MISSED"
    print(f"{name:30} {wall:8.1f} {least:8.1f} {find:8.1f} {querier:8.1f} {server:8.1f} {cpu:8.1f} "
          f"{stats['series']:9} {stats['rows']:6} {size / 1e6:7.2f} {goal or '':>5} {mark}",
          flush=True)
    return cpu


def measure_all(cell, end_ms, runs):
    """{key of store_goals.GOALS: value}"""
    hour = {"start": end_ms / 1e3 - 12 * 3600, "end": end_ms / 1e3 - 11 * 3600}
    found = {}
    print(f"\n{'':30} {'wall ms':>8} {'least':>8} {'find':>8} {'querier':>8} {'Postgr.':>8} "
          f"{'CPU ms':>8} {'series':>9} {'rows':>6} {'MB':>7} {'goal':>5}")
    for name, path, params, goal in QUERIES:
        cpu = print_line(name, measure(cell, path, hour | params, runs), goal)
        found |= {key: cpu for key, of in (("names", "labels"), ("values", "label/node/values"))
                  if path == of and not params}
    print("flame graphs of an hour, of")
    worst = 0
    for name, selector, goal in SELECTORS:
        params = hour | {"query": selector, "report": "flamegraph"}
        cpu = print_line(name, measure(cell, "query", params, runs), goal)
        worst = max(worst, cpu) if goal == GOAL else worst
    print("of other windows, in minutes")
    for minutes, name, path, params in WINDOWS:
        start = end_ms / 1e3 - (12 * 3600 if minutes < 1440 else 86400)
        window = {"start": start, "end": start + minutes * 60}
        few = min(runs, 3) if minutes == 1440 else runs
        print_line(f"{minutes:4} {name}", measure(cell, path, window | params, few), None)
    return found | {"matchers": worst}


def run(fleet, args):
    end_ms = int(time.time() * 1000) // DAY_MS * DAY_MS
    with Cell(fleet, "bench_labels", partitions=1) as cell:
        cell.ingester.flags["compaction-age"] = "100ms"
        cell.start_service(cell.ingester)
        fill(cell, args.series, end_ms)
        wait_until(lambda: cell.rows("SELECT count(*) FROM chunk_raw WHERE merged IS NULL")
                   == [(0,)], 300, "all is merged")
        cell.ingester.stop()
        with cell.connect() as db:
            db.execute("VACUUM ANALYZE")
        print_sizes(cell)
        cell.start_service(cell.querier)
        return measure_all(cell, end_ms, args.runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--series", type=int, default=1_000_000)
    args = parser.parse_args()
    with servers_of_a_run("-bench", without=("redis",)) as fleet:
        run(fleet, args)


if __name__ == "__main__":
    main()
