# SPDX-License-Identifier: Apache-2.0
"""no_skips - a pytest plugin: a skipped test fails, unless its reason is in EXCUSES.

    python3 -m pytest -p local.no_skips ...     as `make test` does, with tools/ in PYTHONPATH

A test that is skipped because a tool is missing never checks anything: the tool must be added to
tools/deps.sh. EXCUSES are properties of the machine, and tests that were not requested.
"""
import re

import pytest

EXCUSES = {  # the beginning of a reason -> why the skip is allowed
    "long: ": "not requested: make test-long",
    "the agent needs root": "a machine on which the agent itself cannot run",
    "this kernel has no BTF": "a machine on which the agent itself cannot run",
    "setarch may not": "a container that forbids personalities",
    "unshare may not": "a container that forbids namespaces of users",
    "no control group can be made": "a container, or a machine that has them read-only",
    "no Docker engine": "no engine runs, and none can be started: tests/compose/engine.py",
    "the encoder cannot be built here": "Go modules need a network; their output is committed",
}


def reason_of(report):
    """The reason of a skip, without pytest's prefix."""
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return re.sub(r"^Skipped: ", "", said)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = reason_of(report)
    if not reason.startswith(tuple(EXCUSES)):
        report.outcome = "failed"
        report.longrepr = (f"skipped: {reason}\nAdd what the test needs to tools/deps.sh; a "
                           "property of the machine to EXCUSES of tools/local/no_skips.py.")
