# SPDX-License-Identifier: Apache-2.0
"""How to write an integration test.

A test is a function in test_*.py here; its name is a claim in plain English. It runs against real
servers. They are started once per run, with a directory and ports of their own, so that they do not
disturb other processes of the machine:

    def test_a_message_is_counted_once(cell):
        cell.produce(message.SerializeToString(), key=b"node/host")
        wait_until(lambda: cell.total('{comm="burn"}') == 5_000, what="5,000 ns of burn")

Fixtures, from the cheapest:

    servers  PostgreSQL, Redis and Kafka (session)
    stack    an ingester and a querier on them that all tests share (session). A test reads, and
             writes only samples with labels of its own, which cannot disturb other tests
    cell     the same for one test module: its own database, topic, ingester, querier. The module
             may kill them, starve them and fill them; `cell.ingester.kill()` is kill -9
    agent    a real agent that feeds `stack` (session; without root and BTF the test is skipped)
    figure   figure("3,000 ticks of 3,005"): prints a line at the end of the run
    moves    with moves("ingester.too_old", cell.ingester, by=2): the reason's counter must move by
             2; see reasons.py
    protos   Python classes of proto/*.proto: protos.profiles.ProfilesData(), protos.pprof.Profile()

harness.py defines them. A test that needs minutes is marked `@pytest.mark.long`: only
`make test-long` runs it. A test that samples this machine is marked `@pytest.mark.machine` (a
module: `pytestmark`). It needs root and BTF. It also samples the other processes of the machine, so
it counts its own programs only. `make test` runs these tests beside the others, which wait for
servers most of their time.
To run some by hand: `/usr/bin/python3 -m pytest tests/integration -k once -x` (after `make build`).
A failing test shows the last lines of the logs of its processes.
"""
import re

import pytest

import reasons
from harness import Cell, servers_of_a_run
from local.services import Service


def pytest_addoption(parser):
    parser.addoption("--list-reasons", action="store_true", help="print reasons that tests claim")
    parser.addoption("--truth-minutes", type=int, default=0,
                     help="test_truth.py draws programs for this time")
    parser.addoption("--truth-seed", type=int, help="of the programs of test_truth.py")


def pytest_configure(config):
    config.addinivalue_line("markers", "reason(name, ...): provokes these losses; reasons.py")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--list-reasons"):
        for name in sorted(set().union(*map(reasons.claimed, items))):
            print(f"reason: {name}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Print the last lines of the logs under a failure."""
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
    """Checks that a reason is counted; a test must check each reason that it claims to provoke."""
    made = reasons.Moves(servers.build)
    yield made
    unseen = reasons.claimed(request.node) - made.seen
    assert not unseen or getattr(request.node, "has_failed", False), f"not checked: {unseen}"


@pytest.fixture(scope="session")
def servers():
    """The Fleet: servers.postgres, .redis, .kafka, each with .address(), .kill(), .launch()."""
    with servers_of_a_run() as fleet:
        yield fleet


@pytest.fixture(scope="session")
def stack(servers):
    """The Cell that all tests share."""
    with Cell(servers, "shared") as made:
        made.start()
        yield made


@pytest.fixture(scope="module")
def cell(servers, request):
    """A Cell that only this test module uses."""
    name = re.sub(r"\W", "_", request.module.__name__.removeprefix("test_"))
    with Cell(servers, name) as made:
        made.start()
        yield made


@pytest.fixture(scope="session")
def agent(stack):
    """A decima-agent on this machine that feeds the shared stack."""
    made = Service(stack.fleet, "agent", "shared-agent",
                   flags={"kafka-topic": stack.topic, "profiling-duration": "2s"})
    made.launch()
    try:
        made.wait_ready(made.ready)
        yield made
    finally:
        made.stop()
