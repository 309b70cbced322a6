#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make pages of docs/ out of what the programs say, or fail when one is stale.

    tools/docs.py [BUILD]           exit 1 when a page is not what the programs in BUILD say
    tools/docs.py [BUILD] --write   write them: configuration, failpoints, labels, limits, losses,
                                    metrics
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
METRICS = """# Metrics

What each program serves at `/metrics`, in Prometheus' text format. Times are in seconds and sizes
in bytes; counters begin at 0 with the process. Beside these every program serves
`process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_start_time_seconds`,
`process_open_fds`, `process_max_fds` and `decima_build_info`. Made of what `--print-metrics`
prints: `tools/docs.py build --write`.

What to watch: samples lost ([losses.md](losses.md) has all reasons), how far behind
(`decima_agent_spool_oldest_seconds`, `decima_ingester_lag_seconds`), how fresh
(`time() - max(decima_ingester_newest_sample_timestamp_seconds)`), how slow
(`decima_ingester_flush_duration_seconds`, `decima_querier_query_duration_seconds`).
"""
HEAD = """# Configuration

Every setting is a flag and an environment variable. A flag wins over the variable, that over the
default; a variable that is set but empty counts as unset. Durations are written `500ms`, `10s`,
`1h30m`, `7d`; sizes `65536`, `64KB`, `512MB` (powers of 1024). Every program also knows `--help`,
`--version`, `--healthcheck` (asks the running one whether it is ready; exit 0 or 1) and
`--print-configuration`, of which this page is made: `tools/docs.py build --write`.
"""


def programs(build):
    """Each service's program; a service that is not built is an error, not a gap in the page."""
    for main in sorted((ROOT / "services").glob("*/main.c")):
        name = main.parent.name
        program = build / "services" / name / f"decima-{name}"
        if not program.exists():
            sys.exit(f"docs: {program} is not built: run `ninja -C {build}`")
        yield program


def said(*command):
    """What a program prints, without the settings of whoever runs this."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DECIMA_")}
    return subprocess.run(command, env=clean, text=True, check=True, stdout=subprocess.PIPE).stdout


def pages(build):
    """(file, text) of each page."""
    sections = [said(program, "--print-configuration") for program in programs(build)]
    yield DOCS / "configuration.md", "\n".join([HEAD, *sections])
    tables = [said(program, "--print-metrics") for program in programs(build)]
    yield DOCS / "metrics.md", "\n".join([METRICS, *tables])
    for page in ("failpoints", "labels"):
        yield DOCS / f"{page}.md", said(build / "tools" / "print-tables", page)
    yield DOCS / "losses.md", said(build / "tools" / "print-losses")
    limits = said(build / "tools" / "print-limits")
    check_limits(limits, "".join(tables))
    yield DOCS / "limits.md", limits


def check_limits(page, metrics):
    """A bound of a limits.h that the page does not name, or a metric it names that is not there."""
    told = set(re.findall(r"^\| `([A-Z0-9_]+)`", page, re.MULTILINE))
    for header in sorted(ROOT.glob("*/**/*limits.h")):
        text = header.read_text()
        bounds = set(re.findall(r"^\t([A-Z0-9_]+) =|^#define ([A-Z0-9_]+) ", text, re.MULTILINE))
        missing = {name for pair in bounds for name in pair if name} - told
        if missing:
            sys.exit(f"docs: {', '.join(sorted(missing))} of {header.relative_to(ROOT)}: "
                     "tools/limits/ does not say what happens beyond it")
    unknown = set(re.findall(r"`(decima_\w+)", page)) - set(re.findall(r"`(decima_\w+)", metrics))
    if unknown:
        sys.exit(f"docs: tools/limits/ names what no program counts: {sorted(unknown)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build", nargs="?", default=ROOT / "build", type=Path)
    parser.add_argument("--write", action="store_true", help="write the pages")
    args = parser.parse_args()
    stale = 0
    for page, text in pages(args.build.resolve()):
        if args.write:
            page.parent.mkdir(exist_ok=True)
            page.write_text(text)
        elif not page.exists() or page.read_text() != text:
            print(f"docs: {page.relative_to(ROOT)} is not what the programs say", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
