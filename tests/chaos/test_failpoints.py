# SPDX-License-Identifier: Apache-2.0
"""Failpoints (docs/failpoints.md): at each one a process is killed, or stopped for longer than
Kafka's session timeout, or stopped while PostgreSQL or Kafka is killed. PostgreSQL stores exactly
the batches of the topic, each once.

Random faults seldom hit these moments (test_chaos.py); here each is hit every time. The cases of a
kind run concurrently, since most of the time is spent waiting for timeouts. To run some of them:

    /usr/bin/python3 -m pytest -s tests/chaos -k "failpoint and in-copy"
"""
import contextlib
import re

import pytest

from server_kills import SERVERS
from failpoint_cases import AgentCase, IngesterCase
from harness import ROOT
from side_by_side import Barrier, run_all


def points_of(program):
    """The names of a program's failpoints, from the generated page."""
    page = (ROOT / "docs" / "failpoints.md").read_text()
    names = tuple(re.findall(rf"^\| `([a-z-]+)` \| {program} \|", page, re.MULTILINE))
    assert names, f"docs/failpoints.md has no failpoint of the {program}"
    return names


INGESTER_POINTS = points_of("ingester")
AGENT_POINTS = points_of("agent")


def cases(points, whats):
    return pytest.mark.parametrize("point, what", [
        pytest.param(point, what, id=f"{point}-{what}",
                     marks=[pytest.mark.machine] if point in AGENT_POINTS else [])
        for point in points for what in whats])


def selected(request):
    """The selected cases of a fixture's tests, as (point, what)."""
    return [(item.callspec.params["point"], item.callspec.params["what"])
            for item in request.session.items
            if request.fixturename in getattr(item, "fixturenames", ())]


def played(servers, protos, request):
    """{(point, what): (case, its exception or None)}, after all cases have ended."""
    names = selected(request)
    before, kill = SERVERS.get(names[0][1], (contextlib.nullcontext, None))
    barrier = Barrier(len(names), lambda: kill(servers))
    with contextlib.ExitStack() as cells:
        made = {}
        for point, what in names:
            kind = AgentCase if point in AGENT_POINTS else IngesterCase
            made[point, what] = kind(servers, protos, point, what, barrier)
            cells.enter_context(made[point, what].cell)
        with before(servers):
            ends = run_all({name: case.scenario() for name, case in made.items()})
        yield {name: (case, ends[name]) for name, case in made.items()}


@pytest.fixture(scope="module")
def ingesters_away(killed_servers, protos, request):
    yield from played(killed_servers, protos, request)


@pytest.fixture(scope="module")
def agents_away(killed_servers, protos, request):
    yield from played(killed_servers, protos, request)


@pytest.fixture(scope="module")
def postgres_killed(killed_servers, protos, request):
    yield from played(killed_servers, protos, request)


@pytest.fixture(scope="module")
def kafka_killed(killed_servers, protos, request):
    yield from played(killed_servers, protos, request)


def judge(made, point, what):
    case, why = made[point, what]
    if why:
        case.fail(why)


@cases(INGESTER_POINTS, ["kill", "stop"])
def test_no_sample_is_lost_if_an_ingester_is_killed_or_stopped(ingesters_away, point, what):
    """The other ingester goes on meanwhile."""
    judge(ingesters_away, point, what)


@cases(AGENT_POINTS, ["kill", "stop"])
def test_no_sample_is_lost_if_an_agent_is_killed_or_stopped(agents_away, point, what):
    """Each batch of its spool is stored once, and its balance holds."""
    judge(agents_away, point, what)


@cases(INGESTER_POINTS, ["postgres-killed"])
def test_no_sample_is_lost_if_postgres_is_killed(postgres_killed, point, what):
    judge(postgres_killed, point, what)


@cases(INGESTER_POINTS + AGENT_POINTS, ["kafka-killed"])
def test_no_sample_is_lost_if_kafka_is_killed(kafka_killed, point, what):
    judge(kafka_killed, point, what)


def test_every_documented_failpoint_has_test_cases():
    page = (ROOT / "docs" / "failpoints.md").read_text()
    tried = [(name, "ingester") for name in INGESTER_POINTS]
    tried += [(name, "agent") for name in AGENT_POINTS]

    assert sorted(re.findall(r"^\| `([\w-]+)` \| (\w+) \|", page, re.MULTILINE)) == sorted(tried)
