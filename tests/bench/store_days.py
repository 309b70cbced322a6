# SPDX-License-Identifier: Apache-2.0
"""store_days - a part of bench_store: a month of a fleet, and queries of the whole month.

30 days x 100 hosts are too many samples to send: each host sends ten seconds of every half hour, as
an agent would, and omits the rest. Processes end at the rate of the simulated time, and each
program has a new version once a week. So the numbers of hours, days, series, rows and rollups are
those of a month; the number of samples is a 180th.
"""
import json
import statistics
import subprocess
import threading
import time
from pathlib import Path

from bench_labels import on_cpu_all
from bench_query import ask
from harness import Cell, wait_until

HOUR_MS = 3600_000
OVER_MS = 21 * 60_000    # an hour is rolled up this long after its end
STRIDE_MINUTES = 30
LOAD = {"cpus": 1, "busy_percent": 20, "days_a_deploy": 7}
DAYS_KEPT = "40d"
# name, selector, further parameters, the goal's key
QUERIES = [
    ("flame graph", "{}", {}, "30 days"),
    ("flame graph, one comm", '{comm="%s"}', {}, "30 days, a service"),
    ("split by comm", "{}", {"group_by": "comm"}, None),
    ("one node", '{node="host-0007"}', {}, None),
]
WAITING = ("SELECT (SELECT count(*) FROM chunk_raw WHERE merged IS NULL)"
           " + (SELECT count(*) FROM chunk WHERE rolled IS NULL AND first_ms < %s)")


def rss(service):
    status = Path(f"/proc/{service.pid()}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


class Watch(threading.Thread):
    """Asks of all that is stored, again and again, and notes how much memory is held."""

    def __init__(self, cell, window):
        super().__init__(daemon=True)
        self.cell, self.window = cell, window
        self.seen = {"ingester": [], "querier": []}
        self.ended, self.failed = threading.Event(), []

    def run(self):
        while not self.ended.wait(1):
            try:
                ask(self.cell.querier, "query", self.window | {"query": "{}",
                                                              "report": "flamegraph"})
                for name, values in self.seen.items():
                    values.append(rss(getattr(self.cell, name)))
            except (AssertionError, OSError) as e:
                self.failed.append(e)

    def stop(self):
        self.ended.set()
        self.join()
        if self.failed:
            print(f"  {len(self.failed)} queries failed meanwhile: {self.failed[-1]}")


def flatness(values):
    """The most of the last third / that of the one before it: at first caches fill."""
    third = max(len(values) // 3, 1)
    return max(values[-third:]) / max(values[-2 * third:-third] or values)


def print_memory(seen):
    for name, values in seen.items():
        step = max(len(values) // 16, 1)
        series = " ".join(f"{value:.0f}" for value in values[::step])
        print(f"  RSS of the {name} over the run, MB: {series}; at the end / before: "
              f"{flatness(values):.2f}")


def busiest(cell, window):
    _, body = cell.api("query_range", query="{}", sum_by="comm", step=str(3600 * 24 * 30),
                       **window)
    sums = {line["metric"].get("comm", ""): sum(int(v) for _, v in line["values"])
            for line in json.loads(body)["data"]["result"]}
    return max(sums, key=sums.get)


def print_queries(cell, window, runs, found):
    comm = busiest(cell, window)
    for name, selector, more, key in QUERIES:
        query = selector % comm if "%s" in selector else selector
        times = []
        for _ in range(runs + 1):
            before = on_cpu_all(cell)
            took, stats, size = ask(cell.querier, "query", window | more | {
                "query": query, "report": "flamegraph"})
            times.append((took, *(b - a for a, b in zip(before, on_cpu_all(cell)))))
        wall, querier, server = (statistics.median(t[i] * 1e3 for t in times[1:])
                                 for i in range(3))
        print(f"  {name:24} CPU {querier + server:6.0f} ms ({querier:.0f} of the querier), wall "
              f"{wall:.0f}, least {min(t[0] for t in times) * 1e3:.0f}; {stats['rows']} rows, "
              f"{stats['chunks']} read, {stats['bytes'] / 1e6:.1f} MB, {stats['samples']} sums, "
              f"answer {size / 1e6:.2f} MB", flush=True)
        if key:
            found[key] = min(t[0] for t in times) * 1e3


def run_days(fleet, files, args):
    """{key of GOALS: value}"""
    found = {}
    days, hosts = args.days, args.days_hosts
    minutes = days * 24 * 60
    end_ms = (int(time.time() * 1000) - OVER_MS) // HOUR_MS * HOUR_MS
    window = {"start": end_ms // 1000 - minutes * 60, "end": end_ms // 1000}
    with Cell(fleet, "store_days", partitions=8, flush_interval="1s") as cell:
        cell.ingester.flags |= {"compaction-age": "1s", "retention-raw": DAYS_KEPT}
        cell.start()
        watch = Watch(cell, window)
        watch.start()
        began = time.monotonic()
        given = {"brokers": fleet.kafka.address(), "topic": cell.topic, "hosts": hosts,
                 "minutes": minutes, "end_ms": end_ms, "away_percent": 0,
                 "stride_minutes": STRIDE_MINUTES} | LOAD
        done = subprocess.run([fleet.build / "tests" / "fleet_feed",
                               *(f"{name}={value}" for name, value in given.items()), "--",
                               *files], text=True, check=True, stdout=subprocess.PIPE)
        sent = json.loads(done.stdout)
        wait_until(lambda: cell.samples() == sent["samples"], args.deadline, "all is stored")
        stored = time.monotonic() - began
        wait_until(lambda: cell.rows(WAITING, end_ms - 1000) == [(0,)], args.deadline,
                   "all is merged and summed up")
        watch.stop()
        with cell.connect() as db:
            db.execute("VACUUM ANALYZE")
        (rows, size), = cell.rows("SELECT count(*), sum(octet_length(payload) + "
                                  "octet_length(directory))::bigint FROM rollup")
        (series,), = cell.rows("SELECT count(*) FROM series")
        print(f"\n{days} days x {hosts} hosts, ten seconds of each {STRIDE_MINUTES} minutes: "
              f"{sent['samples']} samples, {series} series of a day, {rows} rows of sums, "
              f"{size / 1e6:.1f} MB; stored in {stored:.0f} s, all summed up after "
              f"{time.monotonic() - began:.0f}")
        print_memory(watch.seen)
        print_queries(cell, window, args.runs, found)
        found["ingester flat"] = flatness(watch.seen["ingester"])
        found["querier flat"] = flatness(watch.seen["querier"])
    return found
