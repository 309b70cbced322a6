#!/usr/bin/env python3
"""Make docs/configuration.md out of what the programs say, or fail when it is stale.

    tools/docs.py [BUILD]           exit 1 when the page is not what the programs in BUILD say
    tools/docs.py [BUILD] --write   write it
"""
import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "configuration.md"
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


def section(program):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DECIMA_")}
    done = subprocess.run([program, "--print-configuration"], env=clean, text=True, check=True,
                          stdout=subprocess.PIPE)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build", nargs="?", default=ROOT / "build", type=Path)
    parser.add_argument("--write", action="store_true", help="write the page")
    args = parser.parse_args()
    page = "\n".join([HEAD] + [section(program) for program in programs(args.build)])
    if args.write:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page)
        return 0
    if PAGE.exists() and PAGE.read_text() == page:
        return 0
    print(f"docs: {PAGE.relative_to(ROOT)} is not what the programs say", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
