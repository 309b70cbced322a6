#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure how fast the page zooms, hovers and searches large flame graphs.

    make bench-web
    tests/bench/bench_web.py --frames 300000 --size 2560x1440

tests/browser/bench.mjs describes the measurement. It needs no server: the responses are made up.
"""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools")]

from local import npm  # noqa: E402  (the path comes first)

BROWSER = ROOT / "tests" / "browser"
MINUTES = 10

npm.install(BROWSER)
done = subprocess.run(["node", "bench.mjs", *sys.argv[1:]], cwd=BROWSER, check=False,
                      timeout=MINUTES * 60)
sys.exit(done.returncode)
