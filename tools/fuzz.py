#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run every fuzzer for a while, and print a table of the results.

    tools/fuzz.py [NAME...] [--seconds 60] [--jobs 2]

The fuzzers are built with clang-14 in build-fuzz/ under ASan and UBSan. New inputs that a run finds
are kept in build-fuzz/found/NAME; the committed corpus is only read. An input that fails is in
build-fuzz/broken/NAME: add it to tests/fuzz/corpus/NAME together with the fix.
"""
import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from local import say
from local.building import build
from local.servers import ROOT

WHERE = ROOT / "build-fuzz"
SOURCES = ROOT / "tests" / "fuzz"
INPUT_SECONDS = 10  # an input that takes longer is a failure
MEMORY_MB = 2048
UNITS = re.compile(r"stat::number_of_executed_units: +(\d+)")
COVERAGE = re.compile(r"cov: (\d+) ft: (\d+)(?: corp: (\d+))?")


@dataclass
class Run:
    name: str
    executions: int
    seconds: int
    edges: int
    features: int
    corpus: int
    broken: int

    def cells(self):
        return [self.name, f"{self.executions:,}", f"{self.executions // max(self.seconds, 1):,}",
                f"{self.corpus}", f"{self.edges} / {self.features}", f"{self.broken}"]


def fuzz(name, seconds):
    """Run one fuzzer; its output goes to build-fuzz/logs/NAME."""
    found, broken, logs = WHERE / "found" / name, WHERE / "broken" / name, WHERE / "logs"
    for directory in (found, broken, logs):
        directory.mkdir(parents=True, exist_ok=True)
    before = set(broken.iterdir())
    command = [WHERE / "tests" / f"{name}_fuzz", f"-max_total_time={seconds}",
               f"-timeout={INPUT_SECONDS}", f"-rss_limit_mb={MEMORY_MB}", "-print_final_stats=1",
               f"-artifact_prefix={broken}/", found, SOURCES / "corpus" / name]
    words = SOURCES / "words" / name
    if words.exists():
        command.insert(1, f"-dict={words}")
    with open(logs / name, "wb") as log:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, check=False,
                              stderr=subprocess.STDOUT, cwd=WHERE,
                              env=os.environ | {"UBSAN_OPTIONS": "halt_on_error=1"})
    text = (logs / name).read_text(errors="replace")
    units, reached = UNITS.search(text), COVERAGE.findall(text)
    count = max(len(set(broken.iterdir()) - before), int(done.returncode != 0))
    edges, features, corpus = reached[-1] if reached else (0, 0, 0)
    if count:
        say.line("\n".join(text.splitlines()[-40:]))
    say.step(f"{name}: {'nothing broke' if not count else f'BROKEN, see {broken}'}")
    return Run(name, int(units[1]) if units else 0, seconds, int(edges), int(features),
               int(corpus or 0), count)


def table(runs):
    rows = [["fuzzer", "executions", "per s", "corpus", "edges / features", "broken"]]
    rows += [run.cells() for run in runs]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        say.line("  ".join([row[0].ljust(widths[0])] +
                           [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]))


def main():
    known = sorted(path.name.removesuffix("_fuzz.c") for path in SOURCES.rglob("*_fuzz.c"))
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="fuzzers to run (default: all)")
    parser.add_argument("--seconds", type=int, default=60, help="of each (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="in parallel (default: %(default)s)")
    args = parser.parse_args()
    unknown = set(args.names) - set(known)
    if unknown:
        parser.error(f"no such fuzzer: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    os.environ.setdefault("CC", "clang-14")
    try:
        build(WHERE, "-Dfuzz=true", "-Db_sanitize=address,undefined", "-Db_lundef=false",
              "-Doptimization=1")
        with ThreadPoolExecutor(args.jobs) as pool:
            runs = list(pool.map(lambda name: fuzz(name, args.seconds), args.names or known))
    except say.Trouble as e:
        say.line(f"make fuzz: {e}")
        return 1
    table(runs)
    return 1 if any(run.broken for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
