# SPDX-License-Identifier: Apache-2.0
"""reasons - every loss by its name, and tests that provoke them.

A test that provokes one says so and looks at its counter:

    @pytest.mark.reason("ingester.too_old")
    def test_old_samples_are_skipped(cell, moves):
        with moves("ingester.too_old", cell.ingester, by=2):
            cell.produce(...)

A test in C says REASON_MOVED("agent.timeline_full", moved, by). Names, metrics and what the fleet
calls them are what `print-losses --list` prints, of which docs/losses.md is made too;
test_reasons.py fails when one has no test.
"""
import contextlib
import re
import subprocess
import sys

from harness import metrics, wait_until
from local.servers import ROOT


def known(build):
    """{name: (metric, its name in the fleet or "")} of every reason there is."""
    said = subprocess.run([build / "tools" / "print-losses", "--list"], text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    return {name: (metric, fleet) for name, metric, fleet in
            (line.split("\t") for line in said.splitlines())}


def counted(host, name):
    """What a host's entry in the fleet says of a reason."""
    return sum((host or {}).get(kind, {}).get(name, 0) for kind in ("lost", "truncated"))


class Moves:
    """moves(...): a context in which a reason is provoked, and after which it must be counted."""

    def __init__(self, build):
        self.known, self.seen = known(build), set()

    @contextlib.contextmanager
    def __call__(self, name, service, by=None, told=None, deadline=60):
        """`by`: exactly so many. `told`: gives the host's entry in the fleet, which must move."""
        metric, fleet = self.known[name]

        def value():
            return metrics(service)[metric] if service.alive() else 0

        def moved():
            now = value() - before
            assert now > 0 if by is None else now == by, f"{metric} moved by {now}"
            return True

        before, host_before = value(), counted(told() if told else None, fleet)
        yield
        wait_until(moved, deadline, f"{metric} moves by {by or 'some'}")
        if told:
            assert fleet, f"the fleet does not know {name}"
            wait_until(lambda: counted(told(), fleet) > host_before, deadline,
                       f"the fleet says {fleet}")
        self.seen.add(name)


def claimed(item):
    """The reasons that a test says it provokes."""
    return {name for mark in item.iter_markers("reason") for name in mark.args}


def tested():
    """The reasons that some test claims: of pytest, by asking it; of C, by their text."""
    said = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider",
         "--list-reasons", "tests/integration"], cwd=ROOT, text=True, check=True,
        stdout=subprocess.PIPE).stdout
    names = set(re.findall(r"^reason: (\S+)$", said, re.MULTILINE))
    for path in (ROOT / "tests" / "unit").rglob("*.c"):
        names |= set(re.findall(r'REASON_MOVED\("([\w.]+)"', path.read_text()))
    return names
