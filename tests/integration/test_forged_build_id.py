# SPDX-License-Identifier: Apache-2.0
"""An unprivileged user runs a program with the build id of another. Needs root, to start the agent.

The programs have the same build id and nothing else in common: their functions have other places
and frames of other sizes. So a table or a segment of the one breaks the stacks of the other.
"""
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from forged import Programs
from harness import wait_until
from local_agent import LocalAgent
from test_short_lived import in_exec, is_whole
from unwind_agents import builds, fleet, loads, start  # fleet: a fixture that start() uses

pytestmark = pytest.mark.machine

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))
SECONDS = 2.0  # of CPU time of each
HERTZ = 97
FUNCTIONS = ("main", "outer", "inner", "leaf")

def places_of(program):
    """{function: (begin, end)}"""
    lines = subprocess.run(["nm", "-S", program], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    symbols = {f[3]: (int(f[0], 16), int(f[0], 16) + int(f[1], 16))
               for f in map(str.split, lines) if len(f) == 4}
    return {name: symbols[name] for name in FUNCTIONS}


@pytest.fixture
def programs():
    made = Programs()
    yield made
    made.remove()


def profile(place, protos, run):
    """The samples that an agent takes while run() runs, and what run() returns."""
    agent = LocalAgent(BUILD / "services" / "agent" / "decima-agent", place / "profiles",
                       f"--profiling-cpu-sampling-frequency={HERTZ}")
    try:
        result = run()
        agent.stop()
    finally:
        if agent.process.poll() is None:
            agent.process.kill()
            agent.process.wait()
    return agent.samples(protos), result


def stacks_of(samples, program):
    """[(pid, user stack)] of a program, one for each tick, without those that exec cuts off."""
    stacks = [(labels["pid"], [f for f in frames if not f[3]], [f[3] for f in frames if f[3]],
               round(nanoseconds * HERTZ / 1e9))
              for labels, frames, nanoseconds in samples if labels["comm"] == program.name]
    return [(pid, user) for pid, user, kernel, ticks in stacks
            if user and not in_exec(user, kernel) for _ in range(ticks)]


def check_victim(samples, last, programs, figure):
    """The stacks of the last run are whole. In the first one its unwind table is built, until
    when the agent ships a bounded number of stacks that need it."""
    places = places_of(programs.victim)
    stacks = stacks_of(samples, programs.victim)
    wrong = Counter()

    for pid, stack in stacks:
        own = [f for f in stack if f[0] == str(programs.victim)]
        names = [next((name for name, (begin, end) in places.items() if begin <= f[2] < end), "?")
                 for f in own]
        expected = list(reversed(FUNCTIONS))
        wrong["other build id"] += any(f[1] != programs.id for f in own)
        wrong["other function"] += "leaf" in names and names[:4] != expected[:len(names)]
        wrong["cut off"] += pid == last and not is_whole(stack)
    figure(f"{len(stacks)} stacks of the victim, {+wrong or 'none'} wrong")
    assert sum(pid == last for pid, _ in stacks) > SECONDS * HERTZ / 2
    assert not +wrong


def check_attacker(samples, programs):
    """The frames of the forged file are not known by the build id of the victim."""
    ids = {f[1] for _, stack in stacks_of(samples, programs.attacker) for f in stack
           if f[0] == str(programs.attacker)}

    assert ids and all(i.startswith("htlhash:") for i in ids), ids


def test_the_victim_starts_first(programs, protos, tmp_path, figure):
    samples, last = profile(tmp_path, protos, lambda: programs.run(
        SECONDS, programs.victim, programs.attacker, programs.victim))

    check_victim(samples, last, programs, figure)
    check_attacker(samples, programs)


def test_the_attacker_starts_first(programs, protos, tmp_path, figure):
    samples, last = profile(tmp_path, protos, lambda: programs.run(
        SECONDS, programs.attacker, programs.victim, programs.victim))

    check_victim(samples, last, programs, figure)


def test_the_table_of_the_attacker_on_disk_is_not_used(programs, start, fleet):
    state = fleet.run_dir / "state-forged"

    def sampled(name, program):
        agent = start(name, state_directory=state)
        with programs.start(program, 3600) as process:
            wait_until(lambda: loads(agent, programs) > 0, what="the table is loaded")
            process.kill()
        agent.stop()
        return agent

    sampled("first", programs.attacker)
    assert len(list((state / "unwind").glob(f"{programs.id}-*"))) == 1
    second = sampled("second", programs.victim)
    assert builds(second, programs) == 1
    third = sampled("third", programs.victim)
    assert builds(third, programs) == 0
