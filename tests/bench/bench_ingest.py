#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sample costs on its way from Kafka into PostgreSQL, and what exactly-once adds to it.

    make bench-ingest                               all of it, as root (it records an agent)
    tests/bench/bench_ingest.py --runs 5 --hosts 50 --rounds 10

A real agent's batches are recorded while programs come, go and compute, and sent by as many hosts
as are asked for, each batch with its own node and times. One round of all hosts is one interval,
and the ingester flushes once in it, as in a fleet; only that the interval is 2 s and not 10.
Three kinds of run take turns:

    exactly once   numbered batches; seen numbers and offsets in the samples' transaction
    fence alone    the same batches without numbers, as others' producers send them
    neither        without numbers, by an ingester that is built without the fence (unfenced.c)

CPU seconds are what counts (the machine may be busy): of the ingester, and of all of PostgreSQL's
processes. Medians over the runs; `x` is the ratio to `neither` of the same turn: median, least and
most. Stored bytes are fewer than in a fleet, whose hosts have more different stacks than these.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "tools")]

import psycopg  # noqa: E402  (the path comes first)
from confluent_kafka.admin import NewTopic  # noqa: E402

from harness import Cell, metrics, servers_of_a_run, wait_until  # noqa: E402
from local.services import Service  # noqa: E402

KINDS = {"exactly once": ("1", False), "fence alone": ("0", False), "neither": ("0", True)}
TICK = os.sysconf("SC_CLK_TCK")


class Unfenced(Service):
    """The ingester without numbers and fence; for the bench alone."""

    @property
    def program(self):
        return self.fleet.build / "tests" / "ingester_unfenced"


def cpu_of(pid):
    """CPU seconds of a process and of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(fields[i]) for i in (11, 12, 13, 14)) / TICK


def cpu_of_server(server):
    pid = server.pid()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return cpu_of(pid) + sum(cpu_of(child) for child in children)


def peak_bytes(service):
    status = Path(f"/proc/{service.pid()}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


# recording

def record(fleet, place, hz, count):
    """Batches of a real agent, some thousand samples each, while there is something to see."""
    programs = fleet.build / "tests" / "programs"
    with Cell(fleet, "record") as cell:
        admin = cell.admin()
        admin.create_topics([NewTopic(cell.topic, 1, 1)])[cell.topic].result()
        agent = cell.start_service(cell.service("agent", flags={
            "profiling-cpu-sampling-frequency": hz, "node": "recorded"}))
        work = [[programs / "burn"], [programs / "spawn", "100000", "20", "sh", "-c", "true"],
                [sys.executable, "-c", "import compileall\nwhile True: compileall.compile_dir("
                 f"'{ROOT / 'tools'}', force=True, quiet=2, workers=1)"]]
        running = [subprocess.Popen([str(a) for a in argv], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL,
                                    env=os.environ | {"PYTHONPYCACHEPREFIX": str(place)})
                   for argv in work]
        try:
            wait_until(lambda: metrics(agent)["decima_agent_batches_sent_total"] > count, 120,
                       f"{count} batches")
        finally:
            for process in running:
                process.kill()
                process.wait()
        agent.stop()
        messages = cell.consume(cell.topic, count + 1)[1:]  # the first is of the start
    files = []
    for i, message in enumerate(messages):
        files.append(place / f"{i}.otlp")
        files[-1].write_bytes(message.value())
    return files


# running

def run(fleet, kind, turn, files, args):
    numbered, unfenced = KINDS[kind]
    name = f"bench_{turn}_{kind.replace(' ', '_')}"
    with Cell(fleet, name, partitions=args.partitions, flush_interval=f"{args.interval}s") as cell:
        if unfenced:
            cell.ingester = Unfenced(fleet, "ingester", f"{name}-unfenced", cell.ingester.flags)
            cell.started.append(cell.ingester)
        cell.start_service(cell.ingester)
        wait_until(lambda: metrics(cell.ingester)[
            "decima_ingester_partitions_assigned"] == args.partitions, 60, "the assignment")
        size = "SELECT pg_database_size(current_database())::bigint"
        (empty,), = cell.rows(size)
        before = cpu_of_server(fleet.postgres), cpu_of(cell.ingester.pid()), time.monotonic()

        sent = subprocess.run(
            [fleet.build / "tests" / "ingest_feed", "send", fleet.kafka.address(), cell.topic,
             str(args.hosts), str(args.rounds), str(args.interval * 1000), numbered, "0",
             *files],
            text=True, check=True, stdout=subprocess.PIPE)
        sent = json.loads(sent.stdout)
        wait_until(lambda: cell.samples() >= sent["samples"], 120, "all is stored")

        took = time.monotonic() - before[2]
        cpu = cpu_of(cell.ingester.pid()) - before[1]
        postgres = cpu_of_server(fleet.postgres) - before[0]
        assert cell.samples() == sent["samples"], "what was sent is not what is stored"
        (full,), = cell.rows(size)
        flushes = metrics(cell.ingester)["decima_ingester_flushes_total"]
        result = {"samples": sent["samples"], "wire": sent["bytes"], "seconds": took,
                  "ingester": cpu, "postgres": postgres, "stored": full - empty,
                  "topic": bytes_of_topic(fleet, cell.topic), "rss": peak_bytes(cell.ingester),
                  "flushes": flushes}
        cell.ingester.kill()
        with psycopg.connect(fleet.postgres.address("postgres"), autocommit=True) as admin:
            admin.execute(f"DROP DATABASE {cell.database} WITH (FORCE)")
    return result


def bytes_of_topic(fleet, topic):
    return sum(file.stat().st_size for file in Path(fleet.run_dir).rglob("*.log")
               if file.parent.name.rpartition("-")[0] == topic)


def table(results, decoder):
    """The one table, medians over the turns."""
    print(f"\ndecoder alone: {decoder['samples'] / decoder['cpu_seconds'] / 1e6:.2f} M samples/s "
          f"and core, {decoder['bytes'] / decoder['cpu_seconds'] / 1e6:.0f} MB/s")
    any_run = results["neither"][0]
    print(f"{any_run['samples'] / 1e6:.2f} M samples a run, {any_run['flushes']:.0f} flushes; "
          f"{any_run['wire'] / any_run['samples']:.1f} bytes a sample as sent, "
          f"{any_run['topic'] / any_run['samples']:.1f} in the topic (zstd)\n")
    print(f"{'':14} {'samples/s and core':>19} {'ns a sample, CPU of':>21} {'':>7} {'':>18} "
          f"{'PostgreSQL,':>12} {'stored':>9} {'RSS':>5}")
    print(f"{'':14} {'of the ingester':>19} {'ingester':>11} {'PostgreSQL':>12} {'sum':>7} "
          f"{'x':>18} {'ms a flush':>12} {'B/sample':>9} {'MB':>5}")
    for kind, runs in results.items():
        def median(of, runs=runs):
            return statistics.median(map(of, runs))
        ratios = [cost(mine) / cost(bare) for mine, bare in zip(runs, results["neither"])]
        ratio = f"{statistics.median(ratios):.3f} {min(ratios):.3f}-{max(ratios):.3f}"
        print(f"{kind:14} {median(lambda r: r['samples'] / r['ingester']):19,.0f} "
              f"{median(lambda r: r['ingester'] / r['samples'] * 1e9):11.0f} "
              f"{median(lambda r: r['postgres'] / r['samples'] * 1e9):12.0f} "
              f"{median(lambda r: cost(r) * 1e9):7.0f} {ratio:>18} "
              f"{median(lambda r: r['postgres'] / r['flushes'] * 1e3):12.1f} "
              f"{median(lambda r: r['stored'] / r['samples']):9.1f} "
              f"{median(lambda r: r['rss'] / 1e6):5.0f}")


def cost(result):
    """CPU seconds of a sample."""
    return (result["ingester"] + result["postgres"]) / result["samples"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=10, help="intervals of a run")
    parser.add_argument("--interval", type=int, default=2, help="seconds")
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--hz", type=int, default=190, help="at which the agent is recorded")
    parser.add_argument("--recorded", type=Path, help="a directory of batches, instead of an agent")
    args = parser.parse_args()
    if not args.recorded and os.geteuid() != 0:
        sys.exit("bench-ingest: recording an agent needs root; or give --recorded DIR")
    with servers_of_a_run("-bench", without=("redis",)) as fleet:
        place = fleet.run_dir / "recorded"
        place.mkdir(exist_ok=True)
        files = (sorted(args.recorded.glob("*.otlp")) if args.recorded else
                 record(fleet, place, args.hz, count=4))
        decoder = json.loads(subprocess.run(
            [fleet.build / "tests" / "ingest_feed", "decode", *files], text=True, check=True,
            stdout=subprocess.PIPE).stdout)
        results = {kind: [] for kind in KINDS}
        for turn in range(args.runs):
            for kind in KINDS if turn % 2 else reversed(KINDS):
                results[kind].append(run(fleet, kind, turn, files, args))
                print(f"run {turn + 1}, {kind}: {results[kind][-1]}", flush=True)
        table(results, decoder)


if __name__ == "__main__":
    main()
