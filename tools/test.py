#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run all test suites; at the end print each failure by name, and the counts in one line.

    tools/test.py                     all (this is `make test`)
    tools/test.py --long              also slow tests (`make test-long`)
    tools/test.py --only c            unit tests, BPF on the host, fuzz corpora: under sanitizers;
                                      line coverage of pure modules by unit tests
    tools/test.py --only threads      threaded code, under ThreadSanitizer
    tools/test.py --only web          type check of the web page, and its unit tests in Vitest
    tools/test.py --only integration  pytest with real servers, a browser and containers, and a
                                      short run of tests/chaos. Three lanes run in parallel:
                                      the page, chaos, containers, symbols and what hangs; tests
                                      that profile the machine; tests of servers

C tests run in build-asan/ (gcc, ASan, UBSan), the integration tests against the release build in
build/. All other parts run beside the integration tests, at a lower priority: the integration tests
wait much, and must hold on a busy machine anyway. Integration tests that fail are retried once,
alone; a retry that passes is reported, and recorded by tools/retries.py: decision 0127.
"""
import argparse
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import coverage
import retries
import sanitized
import threads
from local import junit, npm, say
from local.building import build
from local.process import before_exec
from local.servers import ROOT

# pytest's own summary, which is not printed.
PYTEST_SUMMARY = re.compile(r"=* ?\d+ (passed|failed|skipped|error).* in [\d.]+s|-+ generated xml")
MINUTES = {False: 120, True: 360}  # the integration tests hang after that, by --long
LANES = ("machine", "fleets", "servers")  # run side by side: --lane of tests/conftest.py
AGAIN = 3  # at most this many failed integration tests are retried; with more failures, none is
NICE = 5  # of the parts beside the integration tests: a quarter of a busy core
NEVER_AGAIN = "tests/chaos/"  # random faults: a retry would hide a real failure
REPORTED_AT_END = []  # failures and retries, repeated in the last lines
RETRIED = []  # names of tests that passed only when they were retried


def run_c_tests():
    """meson's tests in build-asan/: a count per TAP line, or per program without TAP output; and a
    count per covered module. The unit tests come first, since only what they reach counts."""
    sanitized.prepare(["meson-test-prereq"])
    found, wrong, results = coverage.measure()
    say.waiting("BPF on the host, fuzz corpora under ASan and UBSan")
    results += sanitized.run({test["name"] for test in sanitized.introspect("--tests")}
                             - coverage.unit_tests().keys())
    counts = sum(map(count_c_test, results), Counter())
    say.step(f"C tests under sanitizers: {share(counts)}")
    for sentence in wrong:
        REPORTED_AT_END.append(f"FAILED: {sentence}")
    covered = Counter(passed=len(coverage.listed() & found.keys()) - len(wrong), failed=len(wrong))
    say.step(f"pure modules that unit tests reach: {share(covered)}")
    return counts + covered


def count_c_test(test):
    tap = Counter()
    for verdict, skip in re.findall(r"^(not ok|ok)\b[^#\n]*(# *SKIP)?", test.get("stdout") or "",
                                    re.MULTILINE | re.IGNORECASE):
        tap["skipped" if skip else "passed" if verdict == "ok" else "failed"] += 1
    if test["result"] == "SKIP":
        return Counter(skipped=1)
    if test["result"] != "OK":
        REPORTED_AT_END.append(f"FAILED: {test['name']} ({test['result']})")
        say.line(f"FAILED: {test['name']} ({test['result']}): {' '.join(test['command'])}")
        for stream in ("stdout", "stderr"):
            for text in (test.get(stream) or "").splitlines()[-60:]:
                if not text.startswith("ok "):
                    say.line(f"    {text}")
        tap["failed"] = max(tap["failed"], 1)  # it may have crashed between two test cases
    return tap or Counter(passed=1)


def run_threads():
    """Threaded unit tests, and a real ingester, under ThreadSanitizer."""
    counts = threads.run_unit_tests(threads.prepare(), threads.count_by_result)
    counts += threads.run_ingester()
    say.step(f"under ThreadSanitizer: {share(counts)}")
    return counts


def run_web_tests():
    """Types and Vitest of services/querier/web; the page in a browser is an integration test."""
    web = ROOT / "services" / "querier" / "web"
    say.waiting("the page: types and pure parts")
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        try:
            with npm.locked(web):
                npm.install(web)
            npm.run(web, "npm", "run", "check", "--silent")
            npm.run(web, "npx", "vitest", "run", "--reporter=dot", "--reporter=json",
                    f"--outputFile={report}")
        except npm.Unreachable:
            raise
        except say.Trouble as e:
            say.line(str(e))
        counts = count_web(report)
    say.step(f"the page's parts: {share(counts)}")
    return counts


def count_web(report):
    if not report.exists():
        return Counter(failed=1)  # of its types, or before the first test
    found = json.loads(report.read_text(encoding="utf-8"))
    return Counter(passed=found["numPassedTests"],
                   failed=found["numFailedTests"] or found["numFailedTestSuites"])


def run_integration_tests(long, beside=()):
    """Run the lanes in parallel; the output of all but the first is printed after they end.

    A retry waits for the futures `beside`."""
    build(ROOT / "build")
    found = {lane: Counter() for lane in LANES}
    failed, output = {}, {lane: [] for lane in LANES}  # name of a test -> its message; lane's lines
    with tempfile.TemporaryDirectory() as scratch:
        others = [threading.Thread(target=run_lane, args=(
            lane, long, Path(scratch) / lane, output[lane].append, found[lane], failed))
            for lane in LANES[1:]]
        for lane in others:
            lane.start()
        try:
            run_lane(LANES[0], long, Path(scratch) / LANES[0], say.line, found[LANES[0]], failed)
        finally:
            for lane in others:
                lane.join()
        for line in itertools.chain(*output.values()):
            say.line(line)
        for lane in LANES:
            say.step(f"integration tests, {lane}: {share(found[lane])}")
        counts = sum(found.values(), Counter())
        if failed and may_retry(counts, failed):
            wait(beside)
            retry(long, Path(scratch) / "retry", failed, counts)
        else:
            REPORTED_AT_END.extend(f"FAILED: {test}: {why}" for test, why in failed.items())
    return counts


def may_retry(counts, failed):
    return (counts["failed"] == len(failed) <= AGAIN  # otherwise a lane ended before its last test
            and all(".py::" in test and not test.startswith(NEVER_AGAIN) for test in failed))


def retry(long, scratch, failed, counts):
    """Retry the failed tests alone; a test that passes then is counted as passed and retried."""
    say.waiting(f"{len(failed)} failed: retrying alone")
    still, found = {}, Counter()
    run_pytest([*failed], long, scratch, say.line, found, still)
    whole = found["failed"] == len(still) and found["passed"] + len(still) == len(failed)
    passed = found["passed"] if whole else 0  # otherwise it aborted, or skipped a failed test
    counts["passed"] += passed
    counts["failed"] -= passed
    for test, why in failed.items():
        has_passed = passed and test not in still
        verdict = "passed when retried alone" if has_passed else "FAILED"
        REPORTED_AT_END.append(f"{verdict}: {test}: {still.get(test, why)}")
        RETRIED.extend([test] if has_passed else [])


def run_lane(lane, long, scratch, put, counts, failed):
    began = time.monotonic()
    run_pytest([f"--lane={lane}", "--durations=25", "tests/integration", "tests/chaos",
                "tests/compose"], long, scratch, put, counts, failed)
    put(f"the lane {lane} ended after {time.monotonic() - began:.0f} s")


def run_pytest(what, long, scratch, put, counts, failed):
    """Pass lines to put(line); add to `counts`; add failed tests and messages to `failed`."""
    scratch.mkdir()
    report = scratch / "report.xml"
    command = [sys.executable, "-m", "pytest", "-p", "local.no_skips", "-v", "--tb=short",
               "-rN", "--color=no", "-p", "no:cacheprovider", f"--junitxml={report}",
               f"--basetemp={scratch}/pytest", *what] + (["--long"] if long else [])
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith("DECIMA_") or k == "DECIMA_TEST_DOCKER"}
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, text=True, bufsize=1,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                          env=environment | {"PYTHONUNBUFFERED": "1",
                                             "PYTHONPATH": str(ROOT / "tools")},
                          preexec_fn=before_exec(signal.SIGTERM)) as pytest:
        ends = threading.Timer(MINUTES[long] * 60, pytest.terminate)
        ends.start()
        for line in pytest.stdout:
            if not PYTEST_SUMMARY.match(line):
                put(line.rstrip())
        ends.cancel()
    junit.read(report, counts, failed)
    if pytest.returncode not in (0, 1):
        put(f"pytest ended with status {pytest.returncode}")
        counts["failed"] += 1


def run_beside():
    """The parts without a fleet, one after the other. Linux has a nice value for each thread."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
    return sum((run() for run in (run_c_tests, run_threads, run_web_tests)), Counter())


def run_all(long):
    build(ROOT / "build")  # the integration tests start at once, the other builds have time
    with ThreadPoolExecutor(1) as executor:
        beside = executor.submit(run_beside)
        counts = run_integration_tests(long, [beside])
        return counts + beside.result()


def share(counts):
    return f"{counts['passed']} of {sum(counts.values())} passed"


def summary(counts):
    return f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--long", action="store_true", help="also slow tests")
    parser.add_argument("--only", choices=["c", "threads", "web", "integration"],
                        help="run one part")
    args = parser.parse_args()
    parts = {"c": run_c_tests, "threads": run_threads, "web": run_web_tests,
             "integration": lambda: run_integration_tests(args.long),
             None: lambda: run_all(args.long)}
    counts = Counter()
    try:
        counts += parts[args.only]()
        if args.only is None and (RETRIED or not counts["failed"]):
            too_often = retries.add(RETRIED)
            counts["failed"] += len(too_often)
            REPORTED_AT_END.extend(f"FAILED: {sentence}" for sentence in too_often)
    except say.Trouble as e:
        say.line(f"make test: {e}")
        counts["failed"] += 1
    except KeyboardInterrupt:
        say.line("interrupted")
        counts["failed"] += 1
    for line in REPORTED_AT_END:
        say.line(line)
    say.line(summary(counts))
    return 0 if counts["passed"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
