# SPDX-License-Identifier: Apache-2.0
"""At each failpoint (docs/failpoints.md) a process is killed, one is stopped for longer than Kafka
waits for it, and one stands there while PostgreSQL or Kafka is killed: what is stored is what the
topic holds, each batch once.

Chance seldom meets these moments (test_chaos.py); here each is met every time. The cases of a kind
run side by side, since most of the time goes by until somebody misses somebody. Some by hand:

    /usr/bin/python3 -m pytest -s tests/chaos -k "failpoint and in-copy"
"""
import contextlib
import re

import pytest

from blows import SERVERS
from failpoint_cases import AgentCase, IngesterCase
from harness import ROOT
from side_by_side import Meeting, play

INGESTER_POINTS = ("in-revoke", "after-series", "in-copy", "after-copy", "after-fence",
                   "after-commit", "before-compaction", "in-compaction", "in-rollup",
                   "after-compaction")
AGENT_POINTS = ("after-spool-file", "after-spool-fsync", "after-produce", "at-report")


def cases(points, whats):
    return pytest.mark.parametrize("point, what", [
        pytest.param(point, what, id=f"{point}-{what}",
                     marks=[pytest.mark.machine] if point in AGENT_POINTS else [])
        for point in points for what in whats])


def selected(request):
    """The cases of a fixture's tests that will run, as (point, what)."""
    return [(item.callspec.params["point"], item.callspec.params["what"])
            for item in request.session.items
            if request.fixturename in getattr(item, "fixturenames", ())]


def played(servers, protos, request):
    """{(point, what): (case, what failed or None)} when all cases have come to their ends."""
    names = selected(request)
    before, blow = SERVERS.get(names[0][1], (contextlib.nullcontext, None))
    meeting = Meeting(len(names), lambda: blow(servers))
    with contextlib.ExitStack() as cells:
        made = {}
        for point, what in names:
            kind = AgentCase if point in AGENT_POINTS else IngesterCase
            made[point, what] = kind(servers, protos, point, what, meeting)
            cells.enter_context(made[point, what].cell)
        with before(servers):
            ends = play({name: case.story() for name, case in made.items()})
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
def test_an_ingester_may_be_killed_or_stopped_at_any_failpoint(ingesters_away, point, what):
    """Nothing is lost or doubled, and nobody waits for the one that is away."""
    judge(ingesters_away, point, what)


@cases(AGENT_POINTS, ["kill", "stop"])
def test_an_agent_may_be_killed_or_stopped_at_any_failpoint(agents_away, point, what):
    """Each batch of its spool is stored once, and its sum closes."""
    judge(agents_away, point, what)


@cases(INGESTER_POINTS, ["postgres-killed"])
def test_postgres_may_be_killed_while_an_ingester_is_at_any_failpoint(postgres_killed, point, what):
    judge(postgres_killed, point, what)


@cases(INGESTER_POINTS + AGENT_POINTS, ["kafka-killed"])
def test_kafka_may_be_killed_while_a_process_is_at_any_failpoint(kafka_killed, point, what):
    judge(kafka_killed, point, what)


def test_every_failpoint_there_is_has_its_cases():
    page = (ROOT / "docs" / "failpoints.md").read_text()
    tried = [(name, "ingester") for name in INGESTER_POINTS]
    tried += [(name, "agent") for name in AGENT_POINTS]

    assert sorted(re.findall(r"^\| `([\w-]+)` \| (\w+) \|", page, re.MULTILINE)) == sorted(tried)
