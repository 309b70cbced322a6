#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of the agent on the machine that it profiles, compared with other profilers.

    make bench-agent                                      40 minutes, on an idle machine
    tests/bench/bench_agent.py                            an hour: one agent at a time
    tests/bench/bench_agent.py --seconds 20 --only busy   one load, short

Each line is an agent of its own, with Kafka on the same machine, measured for --seconds once the
load runs. With --together the agents of all rates measure one load at the same time, in half of the
time. Only the times of the BPF programs differ then from those of a single agent (one program warms
the caches of the other); the table of depths measures them separately in any case. CPU is in
percent of one core: of the agent's own process, user and system separately, and of the children
that build its tables. The time of the BPF programs is charged to the interrupted process and is not
included. A figure that misses its goal has a mark (!). `others` is the CPU time of all other
processes, the load and Kafka included: without a load it should be close to 0; otherwise the
figures do not hold for an idle machine. The figures of the other profilers were measured with the
same loads, one after the other on the same machine type (2 cores, 24 GiB, kernel 6.18), at 19 Hz
unless stated otherwise, 2026-11-21.
"""
import argparse
import contextlib
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "tools")]

from confluent_kafka import Consumer, TopicPartition  # noqa: E402  (the path comes first)
from confluent_kafka.admin import AdminClient, NewTopic  # noqa: E402

import agent_meters as meters  # noqa: E402
from harness import compile_protos, metrics, servers_of_a_run, wait_until  # noqa: E402
from local.services import Service  # noqa: E402

CPUS = os.cpu_count()
DEPTHS = (10, 50, 60, 100, 400)
FOREVER = 10**6
PULSES, EACH = 20, 10

OTEL, PARCA = "OpenTelemetry b442421a", "Parca Agent cb46a8ea"
PEER_COLUMNS = ("CPU %", "RSS MiB", "peak", "maps MiB", "tables", "BPF us/event", "wire B/sample")
PEERS = {
    ("idle", 19): {OTEL: ("0.8", "", "", "34", "3", "", "690"),
                   PARCA: ("1.2", "", "", "100", "4", "", "2,183")},
    ("busy", 19): {OTEL: ("0.9-1.3", "47", "96", "34", "14", "28-47", "23"),
                   PARCA: ("2.7-3.4", "175", "204", "100", "8", "27-39", "105")},
    ("busy", 97): {OTEL: ("2.2", "", "", "", "", "28", "12"),
                   PARCA: ("5.2", "", "", "", "", "27", "41")},
    ("200 processes", 19): {OTEL: ("1.6", "", "", "", "", "", "50"),
                            PARCA: ("5.2", "", "", "", "", "", "149")},
    ("200 sh a second", 19): {OTEL: ("0.9", "", "", "", "", "", ""),
                              PARCA: ("2.8", "", "", "", "", "", "")},
}
# What DESIGN and decisions set: CPU of the agent's own process at 19 Hz, of one core in percent.
GOALS_CPU = {"idle": 0.1, "busy": 0.3, "200 processes": 0.5, "200 sh a second": 0.5}
GOALS_WIRE = {"busy": 10, "200 processes": 25}
GOALS_BPF = {19: 15, 97: 10}  # microseconds at 60 frames
GOAL_RSS, GOAL_PEAK, GOAL_MAPS = 20, 40, 3  # MiB; the maps without unwind tables
GOALS_START = {"idle": 0.5, "saturated": 5}
GOAL_ATTRIBUTED, GOAL_MAPPED = 0.99, 0.95
PEER_SHARES = {OTEL: "0.12-0.18%", PARCA: "0.15%"}
PEER_STARTS = {OTEL: ("2.6", "26"), PARCA: ("3.4", "39")}
PEER_SHORT = {OTEL: "0 of 769 samples", PARCA: "0 of 670 samples"}


# loads: each gives the commands that run until they are ended

def program(name):
    return ROOT / "build" / "tests" / "programs" / name


def recursion(depth, count=CPUS):
    return [[program("chains"), "recursion", FOREVER, depth]] * count


def pulses(place):
    """20 programs of different build ids, 10 processes of each, 1 ms of work each 100 ms."""
    source, commands = ROOT / "tests" / "programs" / "chains" / "chains.c", []
    for i in range(PULSES):
        made = place / f"pulse{i}"
        subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls",
                        f'-DVARIANT="{i}"', "-Wl,--build-id", source, "-o", made], check=True)
        commands += [[made, "pulse", FOREVER, 20 + i]] * EACH
    return commands


def shells(_place, seconds):
    return [[program("spawn"), seconds, 200, "sh", "-c", "true"]]


def compilers(place, seconds):
    source = place / "some.c"
    source.write_text("#include <stdio.h>\n#include <stdlib.h>\n" + "".join(
        f"int f{i}(int n) {{ char b[64]; sprintf(b, \"%d\", n); return atoi(b) + {i}; }}\n"
        for i in range(200)))
    wrapper = f"{program('spawn')},--log,{place / 'pids'}"
    return [[program("spawn"), seconds, 0, "gcc", "-wrapper", wrapper, "-O1", "-c", source, "-o",
             place / "some.o"]]


LOADS = {
    "idle": lambda place, seconds: [],
    "busy": lambda place, seconds: recursion(60),
    "200 processes": lambda place, seconds: pulses(place),
    "200 sh a second": shells,
    "gcc -c in a loop": compilers,
}


@contextlib.contextmanager
def running(commands):
    """The commands' processes, which are ended at the end."""
    started = [subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, text=True) for argv in commands]
    try:
        yield started
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            process.communicate()


# an agent, and what it did

class Measured:
    """An agent with a topic of its own, from its launch to its end."""

    def __init__(self, bench, name, hz):
        self.bench, self.topic = bench, f"bench_{name}".replace(" ", "_")
        bench.admin.create_topics([NewTopic(self.topic, 1, 1)])[self.topic].result()
        self.service = Service(bench.fleet, "agent", self.topic, flags={
            "kafka-topic": self.topic, "profiling-cpu-sampling-frequency": hz,
            "profiling-duration": f"{bench.args.batch}s"})
        self.launched = time.time()
        self.service.launch()
        self.service.wait_ready(self.service.ready)
        self.pid = self.service.pid()

    def counters(self):
        busy = meters.busy_seconds()
        own, children = meters.cpu_seconds(self.pid)
        return {"at": time.monotonic(), "threads": meters.thread_seconds(self.pid), "own": own,
                "children": children, "busy": busy, "programs": meters.programs(self.pid),
                "metrics": metrics(self.service)}

    def spent(self, first, last):
        """What was spent between two looks at the counters."""
        took = last["at"] - first["at"]
        own = [(b - a) / took * 100 for a, b in zip(first["own"], last["own"])]
        children = (sum(last["children"]) - sum(first["children"])) / took * 100
        busy = (last["busy"] - first["busy"]) / took * 100
        runs, bpf_seconds = (sum(of[i] for of in last["programs"].values()) -
                             sum(of[i] for of in first["programs"].values()) for i in (0, 1))
        rss, peak, anonymous = meters.memory_bytes(self.pid)
        maps, tables = meters.map_bytes(self.pid)
        moved = {name: value - first["metrics"].get(name, 0)
                 for name, value in last["metrics"].items()}
        return {"cpu": (last["threads"] - first["threads"]) / took * 100,
                "user": own[0], "system": own[1], "children": children,
                "others": busy - sum(own) - children, "runs": runs, "bpf_seconds": bpf_seconds,
                "took": took, "rss": rss, "peak": peak, "anonymous": anonymous, "maps": maps,
                "tables": tables, "metrics": moved}

    def end(self):
        """Stop it; (the messages, their bytes in Kafka)."""
        self.service.stop()
        where = TopicPartition(self.topic, 0, 0)
        consumer = Consumer({"bootstrap.servers": self.bench.fleet.kafka.address(),
                             "group.id": self.topic, "enable.auto.commit": False})
        try:
            _, end = consumer.get_watermark_offsets(where, timeout=30)
            consumer.assign([where])
            found = meters.messages(self.bench.protos, consumer, end)
        finally:
            consumer.close()
        return found, sum(file.stat().st_size for file in self.bench.fleet.run_dir.rglob("*.log")
                          if file.parent.name == f"{self.topic}-0")


def window(agents, seconds):
    """The resources that each agent used within `seconds`."""
    first = [agent.counters() for agent in agents]
    time.sleep(seconds)
    last = [agent.counters() for agent in agents]
    return [agent.spent(*looks) for agent, looks in zip(agents, zip(first, last))]


class Bench:
    def __init__(self, args, fleet, place):
        self.args, self.fleet, self.place = args, fleet, place
        self.admin = AdminClient({"bootstrap.servers": fleet.kafka.address(), "log_level": 0})
        protos = place / "protos"
        protos.mkdir()
        self.protos = compile_protos(protos)

    def load(self, name, rates):
        """A line of the big table for each rate, all at once; what became of the short-lived."""
        place = self.place / "_".join([*name.split(), *map(str, rates)])  # gcc minds commas
        place.mkdir()
        args, commands = self.args, LOADS[name](place, self.args.seconds + 2 * self.args.settle)
        agents = [Measured(self, f"{name}_{hz}", hz) for hz in rates]
        with running(commands) as processes:
            time.sleep(args.settle)
            lines = window(agents, args.seconds)
            said = [json.loads(process.communicate(timeout=600)[0])
                    for process in processes if "spawn" in Path(process.args[0]).name]
            ends = [agent.end() for agent in agents]
        for spent, hz, (found, wire) in zip(lines, rates, ends):
            samples = sum(len(times) for message in found for _, _, times in message.samples)
            spent |= {"load": name, "hz": hz, "samples": samples, "wire": wire / max(1, samples),
                      "alone": len(rates) == 1}
            if said:
                spent["short"] = short_lived(found, said[0], place / "pids", hz)
        return lines

    def depth(self, depth, hz):
        agent = Measured(self, f"depth_{depth}_{hz}", hz)
        with running(recursion(depth)):
            time.sleep(self.args.settle)
            [spent] = window([agent], self.args.seconds_of_depth)
            agent.end()
        return spent | {"depth": depth, "hz": hz}

    def start(self, load, turn):
        """Seconds from the launch of an agent to its first sample."""
        with running(recursion(20, 1 if load == "idle" else 2 * CPUS)):
            time.sleep(1)
            agent = Measured(self, f"start_{load}_{turn}", 19)
            wait_until(lambda: metrics(agent.service)["decima_agent_samples_total"] > 0, 100)
            found, _ = agent.end()
        return min(time for message in found for _, _, times in message.samples
                   for time in times) / 1e9 - agent.launched


def short_lived(found, said, log, hz):
    """Of processes that live for moments: samples that are theirs, of those that must be."""
    pids = {str(child[0]) for child in said["children"]}
    if log.exists():
        pids |= set(log.read_text().split())
    theirs = [(attributes, frames, len(times)) for message in found
              for attributes, frames, times in message.samples
              if attributes.get("process.pid") in pids]
    user = [([mapped for mapped, kernel in frames if not kernel], n) for _, frames, n in theirs]
    return {"expected": sum(child[3] for child in said["children"]) * hz,
            "found": sum(n for _, _, n in theirs),
            "user": sum(n for frames, n in user if frames),
            "mapped": sum(n for frames, n in user if frames and frames[0])}


# tables

def row(cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(*names):
    row(names)
    print("|" + "---|" * len(names))


def mib(count):
    return f"{count / 2**20:.1f}"


def held(text, value, goal, least=False):
    """The text, with a mark if the value is beyond its goal; no goal is held."""
    missed = goal is not None and (value < goal if least else value > goal)
    return f"{text} (!)" if missed else text


def micros(spent):
    return spent["bpf_seconds"] / max(1, spent["runs"]) * 1e6


def truncated(spent):
    """Share of samples by why their stacks are not whole, and what was lost."""
    sampled = spent["metrics"].get("decima_agent_samples_total", 0) or 1
    found = []
    for kind in ("truncated", "lost"):
        before = f'decima_agent_samples_{kind}_total{{reason="'
        found += [f"{name.removeprefix(before)[:-2]} {value / sampled:.1%}"
                  for name, value in spent["metrics"].items()
                  if name.startswith(before) and value]
    return ", ".join(found) or "none"


def memory(count, goal):
    return held(mib(count), count / 2**20, goal)


def print_load(spent):
    load, hz = spent["load"], spent["hz"]
    at_19 = hz == 19
    bpf_goal = GOALS_BPF.get(hz) if load == "busy" and spent["alone"] else None
    row([load, hz, "Decima",
         held(f"{spent['cpu']:.2f}", spent["cpu"], GOALS_CPU.get(load) if at_19 else None),
         f"{spent['user']:.2f} / {spent['system']:.2f}", f"{spent['children']:.2f}",
         memory(spent["rss"], GOAL_RSS), memory(spent["peak"], GOAL_PEAK),
         memory(spent["maps"], GOAL_MAPS), mib(spent["tables"]),
         held(f"{micros(spent):.1f}", micros(spent), bpf_goal),
         held(f"{spent['wire']:.0f}", spent["wire"], GOALS_WIRE.get(load) if at_19 else None),
         spent["samples"], f"{spent['others']:.0f}", truncated(spent),
         int(spent["metrics"]["decima_agent_sideband_lost_total"])])
    goals = [f"<= {goal}" if goal else "" for goal in (
        GOALS_CPU.get(load) if at_19 else None, None, None, GOAL_RSS, GOAL_PEAK, GOAL_MAPS, None,
        bpf_goal, GOALS_WIRE.get(load) if at_19 else None)]
    row(["", "", "goal", *goals, "", "", "", "<= 0"])
    for peer, (cpu, rss, peak, maps, tables, bpf, wire) in PEERS.get((load, hz), {}).items():
        row(["", "", peer, cpu, "", "", rss, peak, maps, tables, bpf, wire, "", "", "", ""])


def loads_table(bench, names):
    shorts, args = [], bench.args
    head("load", "Hz", "agent", "CPU %", "user / system", "building %", "RSS MiB", "peak",
         "maps MiB", "tables MiB", "BPF us/event", "wire B/sample", "samples", "others %",
         "not whole, lost", "sideband lost")
    for name in names:
        for rates in [args.hz] if args.together else [[hz] for hz in args.hz]:
            for spent in bench.load(name, rates):
                print_load(spent)
                if "short" in spent:
                    shorts.append((name, spent["hz"], spent["short"]))
    if shorts:
        shorts_table(shorts)


def shorts_table(shorts):
    print("\nSamples of processes that live for moments, by pid\n")
    head("load", "Hz", "agent", "attributed", "expected of their CPU time",
         "of them with user side", "with a mapped leaf")
    for name, hz, short in shorts:
        expected, mapped = short["expected"], short["mapped"] / max(1, short["user"])
        noise = 3 * math.sqrt(expected)
        row([name, hz, "Decima",
             held(short["found"], short["found"], GOAL_ATTRIBUTED * expected - noise, least=True),
             f"{expected:.0f} +- {noise:.0f}", short["user"],
             held(f"{mapped:.1%}", mapped, GOAL_MAPPED, least=True)])
    row(["", "", "goal", f">= {GOAL_ATTRIBUTED:.0%}", "", "", f">= {GOAL_MAPPED:.0%}"])
    for peer, text in PEER_SHORT.items():
        row(["both", 19, peer, text, "", "", ""])


def depths_table(bench):
    print("\nTime of the BPF programs per event, microseconds\n")
    rates = bench.args.hz
    head("calls deep", *(f"{hz} Hz" for hz in rates), "share of a core", "not whole, lost")
    for depth in DEPTHS:
        spent = [bench.depth(depth, hz) for hz in rates]
        row([depth, *(held(f"{micros(one):.1f}", micros(one),
                           GOALS_BPF.get(hz) if depth <= 60 else None)
                      for hz, one in zip(rates, spent)),
             " / ".join(f"{one['bpf_seconds'] / one['took'] / CPUS:.3%}" for one in spent),
             truncated(spent[0])])
    row(["goal at 60", *(f"<= {GOALS_BPF.get(hz, '')}" for hz in rates), "", ""])
    for peer, share in PEER_SHARES.items():
        row([f"{peer} at 60", *(PEERS.get(("busy", hz), {}).get(peer, [""] * 6)[5]
                                for hz in rates), share, ""])


def starts_table(bench):
    print("\nSeconds from launch to the first sample, medians (peers': to being attached)\n")
    head("agent", "idle machine", "saturated")
    turns = range(bench.args.starts)
    took = {load: statistics.median(bench.start(load, i) for i in turns) for load in GOALS_START}
    row(["Decima", *(held(f"{took[load]:.2f}", took[load], goal)
                     for load, goal in GOALS_START.items())])
    row(["goal", *(f"<= {goal}" for goal in GOALS_START.values())])
    for peer, cells in PEER_STARTS.items():
        row([peer, *cells])


def tables():
    """What building tables costs: the builder's own figures, beside other readers of the rows."""
    subprocess.run(["ninja", "-C", ROOT / "build", "tests/unwind_bench"], check=True,
                   stdout=subprocess.DEVNULL)
    print("\nBuilding tables of unwind rows\n", flush=True)
    subprocess.run([ROOT / "build" / "tests" / "unwind_bench"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300, help="of each load")
    parser.add_argument("--together", action="store_true",
                        help="agents of all rates at once, for each load")
    parser.add_argument("--seconds-of-depth", type=float, default=20, help="of each depth")
    parser.add_argument("--settle", type=float, default=12, help="before each is measured")
    parser.add_argument("--batch", type=int, default=10, help="the agent's --profiling-duration")
    parser.add_argument("--starts", type=int, default=5, help="starts of an agent, idle and not")
    parser.add_argument("--hz", type=int, nargs="+", default=[19, 97])
    parts = [*LOADS, "depths", "starts", "tables"]
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    args = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench-agent: the agent needs root")
    with tempfile.TemporaryDirectory() as place, meters.bpf_stats(), \
            servers_of_a_run("-bench", without=("redis", "postgres")) as fleet:
        bench = Bench(args, fleet, Path(place))
        loads = [name for name in LOADS if name in args.only]
        if loads:
            loads_table(bench, loads)
        if "depths" in args.only:
            depths_table(bench)
        if "starts" in args.only:
            starts_table(bench)
    if "tables" in args.only:
        tables()


if __name__ == "__main__":
    main()
