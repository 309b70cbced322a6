# SPDX-License-Identifier: Apache-2.0
"""reasons - the names of all losses, and the tests that provoke them.

A test that provokes a loss has a mark with its name and checks its counter:

    @pytest.mark.reason("ingester.too_old")
    def test_old_samples_are_skipped(cell, moves):
        with moves("ingester.too_old", cell.ingester, by=2):
            cell.produce(...)

A test in C calls REASON_MOVED("agent.timeline_full", moved, by). `print-losses --list` prints the
reasons' names, metrics and names in the fleet API; docs/losses.md is generated from the same table.
test_reasons.py fails if a reason has no test.
"""
import contextlib
import re
import subprocess
import sys

from harness import metrics, wait_until
from local.servers import ROOT


def known(build):
    """{name: (metric, its name in the fleet API or "")} of all reasons."""
    listed = subprocess.run([build / "tools" / "print-losses", "--list"], text=True, check=True,
                            stdout=subprocess.PIPE).stdout
    return {name: (metric, fleet) for name, metric, fleet in
            (line.split("\t") for line in listed.splitlines())}


def counted(host, name):
    """The count of a reason in a host's entry of the fleet API."""
    return sum((host or {}).get(kind, {}).get(name, 0) for kind in ("lost", "truncated"))


class Moves:
    """moves(...): a context in which a test provokes a reason; afterwards it must be counted."""

    def __init__(self, build):
        self.known, self.seen = known(build), set()

    @contextlib.contextmanager
    def __call__(self, name, service, by=None, told=None, deadline=60):
        """`by`: the exact count. `told`: returns the host's fleet entry, which must move too."""
        metric, fleet = self.known[name]

        def value():
            return metrics(service)[metric] if service.alive() else 0

        def moved():
            now = value() - before
            assert now > 0 if by is None else now == by, f"{metric} moved by {now}"
            return True

        before, host_before = value(), counted(told() if told else None, fleet)
        yield
        wait_until(moved, deadline, f"{metric} moves by {by or 'any number'}")
        if told:
            assert fleet, f"the fleet API has no name for {name}"
            wait_until(lambda: counted(told(), fleet) > host_before, deadline,
                       f"the fleet API counts {fleet}")
        self.seen.add(name)


def claimed(item):
    """The reasons that a test claims to provoke by its marks."""
    return {name for mark in item.iter_markers("reason") for name in mark.args}


def tested():
    """The reasons that a test claims: pytest lists its own; for C, the sources are searched."""
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider",
         "--list-reasons", "tests/integration"], cwd=ROOT, text=True, check=True,
        stdout=subprocess.PIPE).stdout
    names = set(re.findall(r"^reason: (\S+)$", listed, re.MULTILINE))
    for path in (ROOT / "tests" / "unit").rglob("*.c"):
        names |= set(re.findall(r'REASON_MOVED\("([\w.]+)"', path.read_text()))
    return names
