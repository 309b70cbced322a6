#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run threaded code under ThreadSanitizer: a data race is a failure even if all tests pass.

    tools/threads.py             unit tests of the suite `threads`, then a real ingester
    tools/threads.py --only c    the unit tests alone

build-tsan/ is built with clang. The unit tests are those in the list `threaded` of
tests/meson.build: queue, server, clients, and threaded code of the agent, the querier and the
symbolizer. The ingester is driven by tests/integration/test_ingester.py; the other programs of that
test run under the sanitizer as well. tests/threads/ has suppressions, only for third-party
libraries, each with its reason.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from local import junit, say
from local.building import HANGS, build, configure
from local.servers import ROOT

WHERE = ROOT / "build-tsan"
SUPPRESSIONS = ROOT / "tests" / "threads" / "suppressions"
PROGRAMS = ("ingester", "querier")  # what test_ingester.py starts


def sanitizer(**more):
    options = {"suppressions": SUPPRESSIONS, "exitcode": 66, **more}
    return {"TSAN_OPTIONS": " ".join(f"{name}={value}" for name, value in options.items())}


def prepare():
    """Build the threaded tests and the programs of the ingester's tests; the tests' names."""
    configure(WHERE, "-Db_sanitize=thread", "-Db_lundef=false", "-Doptimization=1",
              "-Dpage=disabled", compiler="clang-14")
    listed = subprocess.run(["meson", "introspect", WHERE, "--tests"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    tests = [test for test in json.loads(listed) if "decima:threads" in test["suite"]]
    build(WHERE, targets=[os.path.relpath(test["cmd"][0], WHERE) for test in tests]
          + [f"services/{name}/decima-{name}" for name in PROGRAMS] + ["tools/print-losses"])
    return [test["name"] for test in tests]


def run_unit_tests(names, count):
    """The sum of count(result) over all tests; count() prints failures."""
    say.waiting("what has threads, under ThreadSanitizer")
    log = WHERE / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    done = subprocess.run(["meson", "test", "-C", WHERE, "--no-rebuild", *HANGS, *names],
                          cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, env=os.environ | sanitizer(), check=False)
    if not log.exists():
        say.line(done.stdout)
        return Counter(failed=1)
    return sum((count(json.loads(line)) for line in log.read_text().splitlines()), Counter())


def run_ingester():
    """A real ingester with real servers. Each report of the sanitizer counts as a failure."""
    say.waiting("the ingester under ThreadSanitizer")
    counts = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch) / "report.xml"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider",
             f"--junitxml={results}", "tests/integration/test_ingester.py"], cwd=ROOT,
            stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False, env=os.environ | {"DECIMA_TEST_BUILD": str(WHERE)}
            | sanitizer(log_path=f"{scratch}/report"))
        reports = [path.read_text() for path in sorted(Path(scratch).glob("report.[0-9]*"))]
        junit.read(results, counts, {})
    if done.returncode != 0:
        counts["failed"] = max(counts["failed"], 1)
        say.line(done.stdout)
    for report in reports:
        counts["failed"] += 1
        say.line(f"FAILED: ThreadSanitizer\n{report}")
    return counts


def count_by_result(test):
    """Count a test program as one test; print its output if it failed."""
    if test["result"] == "OK":
        return Counter(passed=1)
    say.line(f"FAILED: {test['name']} ({test['result']})\n{test.get('stdout', '')[-8000:]}"
             f"{test.get('stderr', '')[-2000:]}")
    return Counter(failed=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=["c"], help="only the unit tests")
    args = parser.parse_args()
    try:
        counts = run_unit_tests(prepare(), count_by_result)
        if not args.only:
            counts += run_ingester()
    except say.Trouble as e:
        sys.exit(f"threads: {e}")
    say.step(f"{counts['passed']} passed, {counts['failed']} failed under ThreadSanitizer")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
