#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generate pages of docs/ from the output of the programs, or fail if a page is stale.

    tools/docs.py [BUILD]           exit 1 if a page differs from what the programs in BUILD print
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

The metrics that each program serves at `/metrics`, in Prometheus' text format. Times are in seconds
and sizes in bytes; counters start at 0 with the process. Every program also serves
`process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_start_time_seconds`,
`process_open_fds`, `process_max_fds` and `decima_build_info`. Generated from the output of
`--print-metrics` by `tools/docs.py build --write`.

What to monitor: lost samples ([losses.md](losses.md) lists all reasons), the backlog
(`decima_agent_spool_oldest_seconds`, `decima_ingester_lag_seconds`), the age of the newest sample
(`time() - max(decima_ingester_newest_sample_timestamp_seconds)`), and latencies
(`decima_ingester_flush_duration_seconds`, `decima_querier_query_duration_seconds`).
"""
HEAD = """# Configuration

Every setting is a flag and an environment variable. A flag overrides the variable, which overrides
the default; a variable that is set but empty counts as unset. Durations are written `500ms`, `10s`,
`1h30m`, `7d`; sizes `65536`, `64KB`, `512MB` (powers of 1024). Every program also has the flags
`--help`, `--version`, `--healthcheck` (checks `/ready` of the running program; exit status 0 or 1)
and `--print-configuration`. This page is generated from the output of the last one by
`tools/docs.py build --write`.
"""


def programs(build):
    """Each service's program. A service that is not built is an error, not a gap in the page."""
    for main in sorted((ROOT / "services").glob("*/main.c")):
        name = main.parent.name
        program = build / "services" / name / f"decima-{name}"
        if not program.exists():
            sys.exit(f"docs: {program} is not built: run `ninja -C {build}`")
        yield program


def output(*command):
    """The output of a program that runs without DECIMA_* variables."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DECIMA_")}
    return subprocess.run(command, env=clean, text=True, check=True, stdout=subprocess.PIPE).stdout


def pages(build):
    """(file, text) of each page."""
    sections = [output(program, "--print-configuration") for program in programs(build)]
    yield DOCS / "configuration.md", "\n".join([HEAD, *sections])
    tables = [output(program, "--print-metrics") for program in programs(build)]
    yield DOCS / "metrics.md", "\n".join([METRICS, *tables])
    for page in ("failpoints", "labels"):
        yield DOCS / f"{page}.md", output(build / "tools" / "print-tables", page)
    yield DOCS / "losses.md", output(build / "tools" / "print-losses")
    limits = output(build / "tools" / "print-limits")
    check_limits(limits, "".join(tables))
    yield DOCS / "limits.md", limits


def check_limits(page, metrics):
    """Fail if the page lacks a bound of a limits.h, or names a metric that does not exist."""
    documented = set(re.findall(r"^\| `([A-Z0-9_]+)`", page, re.MULTILINE))
    for header in sorted(ROOT.glob("*/**/*limits.h")):
        text = header.read_text()
        missing = set(re.findall(r"\bLIMIT\(([A-Z0-9_]+)", text)) - documented
        plain = re.findall(r"^\s*([A-Z0-9_]+) =|^#define ([A-Z0-9_]+) ", text, re.MULTILINE)
        if missing or plain:
            sys.exit(f"docs: {header.relative_to(ROOT)}: not in tools/print_limits.c: "
                     f"{sorted(missing)}; not a row of LIMIT(): {plain}")
    unknown = set(re.findall(r"`(decima_\w+)", page)) - set(re.findall(r"`(decima_\w+)", metrics))
    if unknown:
        sys.exit(f"docs: a limits.h names metrics that no program has: {sorted(unknown)}")


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
            print(f"docs: {page.relative_to(ROOT)} is stale: run this with --write",
                  file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
