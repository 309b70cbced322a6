#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time and the cost of queries of ten minutes of a hundred hosts.

    make bench-query
    tests/bench/bench_query.py --runs 5 --hosts 20 --connections 1,2

Batches of a real agent (tests/recorded) are replayed as those of the hosts through Kafka and an
ingester: each host sends one for each ten seconds, scaled to that time, with its own node and pod
labels. The ingester flushes once in that time, so there are as many rows as in a fleet. Each query
runs on raw rows, and again after compaction. It runs on one querier per number of connections, in
turn in the same run; the first run is not counted, so PostgreSQL's caches are warm.

Wall times are those of a client on the same machine that reads the whole response. CPU seconds are
those of the querier and of all processes of PostgreSQL; compare these if the machine is busy.
`merge_bench` then does the querier's work on the same rows in one thread, without PostgreSQL.
"""
import argparse
import http.client
import json
import os
import statistics
import struct
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("integration", "recorded")]
sys.path[:0] = [str(ROOT / "tools")]

import recording  # noqa: E402  (the path comes first)
from bench_ingest import cpu_of, cpu_of_server, peak_bytes  # noqa: E402
from harness import Cell, metrics, servers_of_a_run, wait_until  # noqa: E402

SPAN_MS = 10_000  # of a host's batch
ONE = '{service_name="%s"}'
# name, path, parameters, goal in ms (DESIGN 8), milliseconds of Pyroscope and of Parca
QUERIES = [
    ("flame graph, one service", "query", {"query": ONE, "report": "flamegraph"}, 30, "97 (152)",
     "fails"),
    ("flame graph, everything", "query", {"query": "{}", "report": "flamegraph"}, 200,
     "1140 (1700)", "fails"),
    ("table, everything", "query", {"query": "{}", "report": "table"}, None, "", ""),
    ("pprof, everything", "query", {"query": "{}", "report": "pprof"}, None, "", ""),
    ("over time, by service", "query_range", {"query": "{}", "sum_by": "service_name",
                                              "step": "10"}, 50, "421", "2922"),
    ("label names", "labels", {}, 10, "10.5", "1711"),
    ("values of a label", "label/pod/values", {}, 10, "12.5", "463"),
    ("series", "series", {}, None, "", ""),
]
PEERS = """\
Of others: medians of Pyroscope 3fe6a457 (v2 storage) and Parca 3b5647cd, measured on 2 cores with
as many hosts, minutes and samples of another workload. Pyroscope's flame graphs have 15 % (one
service) and 40 % (everything) in "other" and no nodes without names; in brackets: with all nodes
that it has. Parca's fail after 60 s. Published: google/pprof merges 0.34 M samples/s per thread,
Pyroscope 1.14 M."""


def feed(fleet, cell, files, args):
    """Replay; the end of the hosts' time in milliseconds, and how many samples they sent."""
    rounds = args.minutes * 60_000 // SPAN_MS
    sent = subprocess.run(
        [fleet.build / "tests" / "ingest_feed", "send", fleet.kafka.address(), cell.topic,
         str(args.hosts), str(rounds), str(args.pause), "1", str(SPAN_MS), *files],
        text=True, check=True, stdout=subprocess.PIPE)
    sent = json.loads(sent.stdout)
    wait_until(lambda: cell.samples() == sent["samples"], 120, f"{sent['samples']} samples stored")
    return sent


def biggest_service(cell, window, samples):
    """The service whose share is nearest to a tenth."""
    status, body = cell.api("query_range", query="{}", sum_by="service_name",
                            step=str(window[1] - window[0]), start=window[0], end=window[1])
    assert status == 200, body[:200]
    sums = {line["metric"]["service_name"]: sum(int(v) for _, v in line["values"])
            for line in json.loads(body)["data"]["result"]}
    name = min(sums, key=lambda name: abs(sums[name] / sum(sums.values()) - 0.1))
    return name, sums[name] / sum(sums.values()) * samples


def ask(querier, path, params):
    """(seconds, statistics, bytes) of one query."""
    connection = http.client.HTTPConnection(querier.address, timeout=120)
    began = time.monotonic()
    connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(params)}")
    answer = connection.getresponse()
    body = answer.read()
    took = time.monotonic() - began
    connection.close()
    assert answer.status == 200, (path, params, body[:200])
    stats = answer.getheader("Decima-Stats") or body[body.rindex(b'"stats":') + 8:].decode()
    return took, json.JSONDecoder().raw_decode(stats)[0], len(body)


def forget_peak(service):
    Path(f"/proc/{service.pid()}/clear_refs").write_text("5")


def measure(cell, queriers, window, service, args):
    """{(query, connections): [(seconds, querier's CPU, PostgreSQL's, stats, bytes, peak)]}"""
    found = {}
    for run in range(args.runs + 1):  # the first warms caches
        for name, path, params, *_ in QUERIES:
            given = {k: v % service if v == ONE else v for k, v in params.items()} | {
                "start": window[0], "end": window[1]}
            order = sorted(queriers)
            for connections in order[run % len(order):] + order[:run % len(order)]:
                querier = queriers[connections]
                forget_peak(querier)
                before = cpu_of(querier.pid()), cpu_of_server(cell.fleet.postgres)
                took, stats, size = ask(querier, path, given)
                after = cpu_of(querier.pid()), cpu_of_server(cell.fleet.postgres)
                if run:
                    found.setdefault((name, connections), []).append(
                        (took, after[0] - before[0], after[1] - before[1], stats, size,
                         peak_bytes(querier)))
        print(f"run {run} of {args.runs}", file=sys.stderr, flush=True)
    return found


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, round(share * (len(values) - 1)))]


def print_table(found):
    print(f"\n{'':25} {'connec-':>7} {'wall ms':>23} {'CPU ms':>16} {'read':>6} {'answer':>7} "
          f"{'RSS':>6} {'goal':>6} {'Pyroscope':>12} {'Parca':>6}")
    print(f"{'':25} {'tions':>7} {'least':>7} {'p50':>7} {'p99':>7} {'querier':>8} {'Postgr.':>7} "
          f"{'MB':>6} {'MB':>7} {'MB':>6} {'ms':>6} {'ms':>12} {'ms':>6}")
    for name, _, _, goal, pyroscope, parca in QUERIES:
        for connections, runs in sorted((c, runs) for (n, c), runs in found.items() if n == name):
            walls = [run[0] * 1e3 for run in runs]
            stats = runs[0][3]
            row = (f"{name:25} {stats['connections']:>3} of {connections} {min(walls):7.1f} "
                   f"{percentile(walls, 0.5):7.1f} {percentile(walls, 0.99):7.1f} "
                   f"{statistics.mean(run[1] for run in runs) * 1e3:8.1f} "
                   f"{statistics.mean(run[2] for run in runs) * 1e3:7.1f} "
                   f"{stats['bytes'] / 1e6:6.1f} {runs[0][4] / 1e6:7.2f} "
                   f"{max(run[5] for run in runs) / 1e6:6.0f}")
            print(row + f" {goal or '':>6} {pyroscope:>12} {parca:>6}")
            name = goal = pyroscope = parca = ""


def print_merge(found, alone):
    """Rows and samples a second: in the service, and by merge_bench."""
    runs = found["flame graph, everything", min(c for _, c in found)]
    stats = runs[0][3]
    read = statistics.median(run[3]["seconds"]["read"] for run in runs)
    cpu = statistics.mean(run[1] for run in runs)
    print(f"\nflame graph of everything, {min(c for _, c in found)} connection: "
          f"{stats['rows']} rows, {stats['samples_read']} samples; read, decoded and merged in "
          f"{read * 1e3:.0f} ms of wall: {stats['rows'] / read:,.0f} rows/s, "
          f"{stats['samples_read'] / read / 1e6:.2f} M samples/s; "
          f"{stats['samples_read'] / cpu / 1e6:.2f} M samples/s and core with the report")
    both = alone["decode"] + alone["merge"]
    print(f"merge_bench, one core: {alone['rows'] / both:,.0f} rows/s, "
          f"{alone['samples'] / both / 1e6:.2f} M samples/s from chunks (goal 10), "
          f"decode {alone['decode'] * 1e3:.0f} ms, merge {alone['merge'] * 1e3:.0f} ms; then "
          + ", ".join(f"{name} {alone[name] * 1e3:.0f} ms"
                      for name in ("flamegraph", "table", "pprof", "collapsed"))
          + f"; {alone['stacks']} stacks of {alone['frames']} frames; over time, decoding "
          f"included, {alone['over_time'] * 1e3:.0f} ms")
    print(PEERS)


def merge_alone(cell, place, turns):
    """What merge_bench says of the cell's rows."""
    with open(place, "wb") as out, cell.connect() as db:
        for payload, in db.execute("SELECT payload FROM chunk_raw WHERE merged IS NULL"
                                   " UNION ALL SELECT payload FROM chunk"):
            out.write(struct.pack("<I", len(payload)) + payload)
    done = subprocess.run([cell.fleet.build / "tests" / "merge_bench", str(turns), place],
                          text=True, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def start_queriers(cell, args):
    made = {}
    for connections in map(int, args.connections.split(",")):
        made[connections] = cell.start_service(cell.service(
            "querier", f"{connections}", flags={"query-connections": connections}))
    cell.querier = made[min(made)]
    return made


def sizes(cell, samples):
    """Rows that a query may read, and their bytes for each sample, without indexes."""
    (rows, size), = cell.rows("""
        SELECT count(*), sum(length(directory) + length(payload) + 60)::bigint FROM
            (SELECT directory, payload FROM chunk_raw WHERE merged IS NULL
             UNION ALL SELECT directory, payload FROM chunk) AS stored""")
    return rows, size / samples


def merge_rows(cell):
    """Start the ingester again, until everything is merged."""
    cell.ingester.flags["compaction-age"] = "100ms"
    cell.start_service(cell.ingester)
    began, cpu = time.monotonic(), cpu_of(cell.ingester.pid())
    wait_until(lambda: cell.rows("SELECT count(*) FROM chunk_raw WHERE merged IS NULL") == [(0,)],
               300, "all is merged")
    cpu = cpu_of(cell.ingester.pid()) - cpu
    stats = metrics(cell.ingester)
    samples = stats["decima_ingester_compacted_samples_total"]
    print(f"merged {stats['decima_ingester_compacted_rows_total']:.0f} rows of "
          f"{stats['decima_ingester_compacted_row_bytes_total'] / samples:.2f} bytes a sample into "
          f"{stats['decima_ingester_chunks_total']:.0f} of "
          f"{stats['decima_ingester_chunk_bytes_total'] / samples:.2f} in "
          f"{time.monotonic() - began:.1f} s, {samples / cpu / 1e6:.2f} M samples/s and core")
    cell.ingester.stop()


def measure_and_print(cell, queriers, sent, args, kind):
    with cell.connect() as db:
        db.execute("VACUUM ANALYZE")
    window = (sent["end_ms"] / 1e3 - args.minutes * 60, sent["end_ms"] / 1e3)
    service, share = biggest_service(cell, window, sent["samples"])
    rows, size = sizes(cell, sent["samples"])
    print(f"\n{kind}: {sent['samples']} samples of {args.hosts} hosts in {args.minutes} minutes, "
          f"{rows} rows of {size:.2f} bytes a sample; "
          f"one service is {service} with {share:.0f} samples; load {os.getloadavg()[0]:.1f} "
          f"on {os.cpu_count()} cores", flush=True)
    found = measure(cell, queriers, window, service, args)
    alone = merge_alone(cell, args.keep_rows or cell.fleet.run_dir / "rows", args.turns)
    print_table(found)
    print_merge(found, alone)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--pause", type=int, default=1000, help="ms between rounds of all hosts")
    parser.add_argument("--connections", default="1,2,4")
    parser.add_argument("--turns", type=int, default=5, help="of merge_bench")
    parser.add_argument("--recorded", type=Path, default=recording.FILE)
    parser.add_argument("--keep-rows", type=Path, help="leave the rows here, for merge_bench")
    args = parser.parse_args()
    with servers_of_a_run("-bench", without=("redis",)) as fleet, \
            Cell(fleet, "bench_query", partitions=8, flush_interval=f"{args.pause}ms") as cell:
        files = []
        for i, batch in enumerate(recording.read(args.recorded)):
            files.append(fleet.run_dir / f"{i}.otlp")
            files[-1].write_bytes(batch)
        cell.ingester.flags["compaction-age"] = "0s"
        cell.start_service(cell.ingester)
        wait_until(lambda: metrics(cell.ingester)["decima_ingester_partitions_assigned"] == 8, 60,
                   "the assignment")
        sent = feed(fleet, cell, files, args)
        cell.ingester.stop()
        queriers = start_queriers(cell, args)
        measure_and_print(cell, queriers, sent, args, "raw")
        merge_rows(cell)
        measure_and_print(cell, queriers, sent, args, "merged")


if __name__ == "__main__":
    main()
