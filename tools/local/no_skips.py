# SPDX-License-Identifier: Apache-2.0
"""no_skips - a plugin of pytest's: a test that is skipped fails, unless nothing could be done.

    python3 -m pytest -p local.no_skips ...     as `make test` does, with tools/ in PYTHONPATH

A skip for a tool that is not there says nothing, run after run: the tool belongs into
tools/deps.sh. What remains are facts of the machine, and what was not asked for: EXCUSES.
"""
import re

import pytest

EXCUSES = {  # the beginning of a reason -> what excuses it
    "long: ": "was not asked for: make test-long",
    "the agent needs root": "a machine on which the agent itself cannot run",
    "this kernel has no BTF": "a machine on which the agent itself cannot run",
    "setarch may not": "a container that forbids personalities",
    "unshare may not": "a container that forbids namespaces of users",
    "no control group can be made": "a container, or a machine that has them read-only",
    "no Docker engine": "no engine runs, and none can be started: tests/compose/engine.py",
    "the encoder cannot be built here": "modules of Go come by the network; what it made is kept",
}


def reason_of(report):
    """What a skip said, without pytest's own word before it."""
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
        report.longrepr = (f"skipped: {reason}\nWhat a test wants belongs into tools/deps.sh; a "
                           "fact of the machine into EXCUSES of tools/local/no_skips.py.")
