# SPDX-License-Identifier: Apache-2.0
"""How to write an integration test.

A test is a function in test_*.py here; its name is a claim. It runs against real servers, started
once per run in a directory and on ports of their own, beside whatever else runs on the machine:

    def test_a_message_is_counted_once(cell):
        cell.produce(message.SerializeToString(), key=b"node/host")
        wait_until(lambda: cell.total('{comm="burn"}') == 5_000, what="5,000 ns of burn")

Fixtures, from the cheapest:

    servers  PostgreSQL, Redis and Kafka (session)
    stack    an ingester and a querier on them that all tests share (session); look, and write only
             what cannot disturb others: labels of your own
    cell     the same for one test module alone: its own database, topic, ingester, querier. Kill
             them, starve them, fill them; `cell.ingester.kill()` is kill -9
    agent    a real agent that feeds `stack` (session; root and BTF, else skipped)
    figure   figure("3,000 ticks of 3,005"): a line at the end of the run
    moves    with moves("ingester.too_old", cell.ingester, by=2): that reason is counted; reasons.py
    protos   Python classes of proto/*.proto: protos.profiles.ProfilesData(), protos.pprof.Profile()

What they are is in harness.py. What needs minutes is marked `@pytest.mark.long`: only
`make test-long` runs it. What samples this machine is marked `@pytest.mark.machine` (a module:
`pytestmark`): it needs root and BTF, meets whatever else runs, so that it counts its own programs
only, and `make test` runs it beside the others, which wait for servers most of their time.
Run some by hand: `/usr/bin/python3 -m pytest tests/integration -k once -x` (after `make build`).
A failing test shows the ends of the logs of what it ran.
"""
import re

import pytest

import reasons
from harness import Cell, servers_of_a_run
from local.services import Service


def pytest_addoption(parser):
    parser.addoption("--list-reasons", action="store_true", help="print what reasons tests claim")


def pytest_configure(config):
    config.addinivalue_line("markers", "reason(name, ...): provokes these losses; reasons.py")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--list-reasons"):
        for name in sorted(set().union(*map(reasons.claimed, items))):
            print(f"reason: {name}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Put the ends of the logs under a failure."""
    report = (yield).get_result()
    if report.failed:
        item.has_failed = True
        for fixture in ("cell", "stack"):
            used = item.funcargs.get(fixture)
            for process in used.processes() if used else []:
                report.sections.append((f"log of {process.name}", process.last_words(20)))
        used = item.funcargs.get("agent")
        if used:
            report.sections.append(("log of agent", used.last_words(20)))


@pytest.fixture
def moves(servers, request):
    """Sees that a reason is counted; what a test claims to provoke it must have looked at."""
    made = reasons.Moves(servers.build)
    yield made
    unseen = reasons.claimed(request.node) - made.seen
    assert not unseen or getattr(request.node, "has_failed", False), f"nobody looked at {unseen}"


@pytest.fixture(scope="session")
def servers():
    """The Fleet: servers.postgres, .redis, .kafka, each with .address(), .kill(), .launch()."""
    with servers_of_a_run() as fleet:
        yield fleet


@pytest.fixture(scope="session")
def stack(servers):
    """The Cell all tests share."""
    with Cell(servers, "shared") as made:
        made.start()
        yield made


@pytest.fixture(scope="module")
def cell(servers, request):
    """A Cell of this test module alone."""
    name = re.sub(r"\W", "_", request.module.__name__.removeprefix("test_"))
    with Cell(servers, name) as made:
        made.start()
        yield made


@pytest.fixture(scope="session")
def agent(stack):
    """A decima-agent on this machine, feeding the shared stack."""
    made = Service(stack.fleet, "agent", "shared-agent",
                   flags={"kafka-topic": stack.topic, "profiling-duration": "2s"})
    made.launch()
    try:
        made.wait_ready(made.ready, 60)
        yield made
    finally:
        made.stop()
