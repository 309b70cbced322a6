#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What names cost: a table built of DWARF, addresses looked up in it, beside two other tools.

    make bench-symbols                              libc, libstdc++ and our own agent
    tests/bench/bench_symbols.py FILE... --rounds 9

Sections are decompressed before, so that MB are those of the DWARF itself (all .debug_* sections).
CPU seconds count, of one core; medians over the rounds. `lookups/s` are of a table that is open and
warm, 20,000 addresses of the code in random order; those of llvm-symbolizer and eu-addr2line are of
a whole run over the same addresses, start included, with one run over a single address taken away.
"""
import argparse
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "integration")]

import symbol_oracles as oracles  # noqa: E402  (the path comes first)

BENCH = ROOT / "build" / "tests" / "symbol_bench"
ADDRESSES, LOOKUPS, SEED = 20_000, 2_000_000, 7
SECTION = re.compile(r"\s\.debug_\S+\s+\S+\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)")
PEERS = {
    "llvm-symbolizer": ["llvm-symbolizer-14", "--no-demangle", "--inlines", "--obj={}"],
    "eu-addr2line": ["eu-addr2line", "-f", "-i", "-A", "-e", "{}"],
}


def files():
    notes = oracles.run("readelf", "-n", "/lib/x86_64-linux-gnu/libc.so.6")
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
    return [f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug",
            "/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.0.30",
            ROOT / "build" / "services" / "agent" / "decima-agent"]


def cpu_of(command, addresses):
    """CPU seconds of a command that is given the addresses."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input="".join(f"{a:#x}\n" for a in addresses), text=True, check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peer_rate(name, path, addresses, rounds):
    command = [word.format(path) for word in PEERS[name]]
    spent = [cpu_of(command, addresses) - cpu_of(command, addresses[:1]) for _ in range(rounds)]
    return len(addresses) / max(statistics.median(spent), 0.001)


def measure(path, directory, rounds):
    plain = directory / "plain"
    oracles.run("objcopy", "--decompress-debug-sections", path, plain)
    dwarf = sum(int(size, 16) for size in SECTION.findall(oracles.run("readelf", "-SW", plain)))
    drawn = oracles.draw(plain, ADDRESSES, SEED)
    said = oracles.run(BENCH, plain, directory / "table", rounds, LOOKUPS,
                       text="".join(f"{a:x}\n" for a in drawn))
    runs = [[float(cell) for cell in line.split()] for line in said.splitlines()]
    built, opened, looked = (statistics.median(run[i] for run in runs) / 1000 for i in range(3))
    table = (directory / "table").stat().st_size
    peers = [peer_rate(name, plain, drawn[:2000], 3) for name in PEERS]
    return [Path(path).name[:24], f"{dwarf / 1e6:.1f}", f"{built * 1000:.0f}",
            f"{dwarf / 1e6 / built:.0f}", f"{table / 1e6:.2f}", f"{opened * 1000:.1f}",
            f"{LOOKUPS / looked / 1e6:.2f} M", *(f"{rate:,.0f}" for rate in peers)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", default=files())
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    head = ["file", "DWARF MB", "build ms", "MB/s", "table MB", "open ms", "lookups/s",
            *(f"{name}/s" for name in PEERS)]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for path in options.files:
        with tempfile.TemporaryDirectory() as directory:
            cells = measure(path, Path(directory), options.rounds)
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
