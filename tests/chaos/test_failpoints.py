"""At each failpoint (docs/failpoints.md) a process is killed, and one is stopped for longer than
its session lasts: what is stored is what the topic holds, each batch once.

Chance seldom meets these moments (test_chaos.py); here each is met every time. The cases run side
by side, those of the ingesters and then those of the agents, since most of the time goes by until
Kafka misses somebody. One of them by hand:

    /usr/bin/python3 -m pytest -s tests/chaos -k "failpoint and in-copy-stop"
"""
import contextlib
import os
import re
from pathlib import Path

import pytest

from failpoint_cases import AgentCase, IngesterCase
from harness import ROOT
from side_by_side import play

ACTIONS = ("kill", "stop")
INGESTER_POINTS = ("in-revoke", "after-series", "in-copy", "after-copy", "after-fence",
                   "after-commit")
AGENT_POINTS = ("after-spool-file", "after-spool-fsync", "after-produce", "at-report")


def cases(points):
    return [pytest.param(point, action, id=f"{point}-{action}")
            for point in points for action in ACTIONS]


def selected(request):
    """The cases of a fixture's tests that will run, as (point, action)."""
    return [(item.callspec.params["point"], item.callspec.params["action"])
            for item in request.session.items
            if request.fixturename in getattr(item, "fixturenames", ())]


def played(kind, servers, protos, request):
    """{(point, action): (case, what failed or None)} when all cases have come to their ends."""
    with contextlib.ExitStack() as cells:
        made = {}
        for name in selected(request):
            made[name] = kind(servers, protos, *name)
            cells.enter_context(made[name].cell)
        ends = play({name: case.story() for name, case in made.items()})
        yield {name: (case, ends[name]) for name, case in made.items()}


@pytest.fixture(scope="module")
def ingester_cases(killed_servers, protos, request):
    yield from played(IngesterCase, killed_servers, protos, request)


@pytest.fixture(scope="module")
def agent_cases(killed_servers, protos, request):
    if os.geteuid() != 0 or not Path("/sys/kernel/btf/vmlinux").exists():
        pytest.skip("the agent needs root and BTF")
    yield from played(AgentCase, killed_servers, protos, request)


@pytest.mark.parametrize("point, action", cases(INGESTER_POINTS))
def test_an_ingester_may_be_killed_or_stopped_at_any_failpoint(ingester_cases, point, action):
    """Nothing is lost or doubled, and nobody waits for the one that is away."""
    case, why = ingester_cases[point, action]
    if why:
        case.fail(why)


@pytest.mark.parametrize("point, action", cases(AGENT_POINTS))
def test_an_agent_may_be_killed_or_stopped_at_any_failpoint(agent_cases, point, action):
    """Each batch of its spool is stored once, and its sum closes."""
    case, why = agent_cases[point, action]
    if why:
        case.fail(why)


def test_every_failpoint_there_is_has_its_cases():
    page = (ROOT / "docs" / "failpoints.md").read_text()
    tried = [(name, "ingester") for name in INGESTER_POINTS]
    tried += [(name, "agent") for name in AGENT_POINTS]

    assert sorted(re.findall(r"^\| `([\w-]+)` \| (\w+) \|", page, re.MULTILINE)) == sorted(tried)
