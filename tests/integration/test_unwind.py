# SPDX-License-Identifier: Apache-2.0
"""Stacks of programs with known call chains: do they reach their root, and are they right?

Programs are built without frame pointers (except in the cases about frame pointers) and run beside
an agent that writes files. Only the names of the frames are checked: the outermost must be the
entry point of the program or of a thread. So a walk that wrongly ends as complete is detected.
The table of cases is in unwind_programs.py; the result of each case is printed at the end.
DECIMA_UNWIND_ONLY is a regular expression of cases, DECIMA_UNWIND_SECONDS their CPU time.

Every program runs once before, so that the agent has the tables of its files. Each case is a new
process nevertheless, which the kernel side does not know at its first samples.
"""
import dataclasses
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import shares
import symbols_of
import unwind_programs
from harness import wait_until
from local.services import http
from local_agent import LocalAgent

HERTZ = 61  # at this rate all deferred stacks may be shipped
PERIOD = 10**9 // HERTZ
SECONDS = float(os.environ.get("DECIMA_UNWIND_SECONDS", "1"))  # of CPU time of each case
AT_ONCE = 2
SHARE = 0.99  # of all stacks; of each case as many as chance allows, since few have a hundred
ALARM = 1e-4  # the probability that a right case is found wrong

pytestmark = pytest.mark.machine


@pytest.fixture(scope="module")
def build():
    return Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))


def run_all(cases):
    """Run the cases, two at a time: {pid: case}."""
    waiting, running, pids = list(cases), [], {}
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            case = waiting.pop(0)
            running.append((case, subprocess.Popen(
                [str(word) for word in case.argv], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL)))
            pids[str(running[-1][1].pid)] = case
        case, process = running.pop(0)
        assert process.wait(300) == 0, case.name
    return pids


def stacks_of(agent, protos, pids, warm, cases):
    """{case's name: Counter of stacks, root first, as (name, path)}."""
    by_program = {os.path.realpath(case.argv[0]): case for case in cases if case.kind == "vfork"}
    found = {case.name: Counter() for case in cases}
    for labels, frames, value in agent.samples(protos):
        program = labels.get("exe", "")
        pid = labels.get("pid")
        case = pids.get(pid) or by_program.get(program)
        if not case or pid in warm or program != os.path.realpath(case.argv[0]):
            continue  # of another program, or before the exec
        user = tuple((symbols_of.name(path, at), path) for path, _, at, function in reversed(frames)
                     if not function)
        if user:
            found[case.name][user] += value / PERIOD
    return found


def first_of_each(cases):
    """One case of each program, and each case that loads more files."""
    found = {}
    for case in cases:
        loads = case.kind in ("plugins", "swaps")
        found.setdefault(case.name if loads else case.argv[0], case)
    return found.values()


def has_all_tables(agent):
    status, body = http(f"http://{agent.address}/metrics")
    waiting = re.search(r"^decima_agent_unwind_tables_waiting (\d+)$", body.decode(), re.MULTILINE)
    return status == 200 and waiting and int(waiting[1]) == 0


@pytest.fixture(scope="module")
def seen(build, protos, tmp_path_factory):
    """[(case, stacks)]"""
    place = tmp_path_factory.mktemp("unwind")
    only = os.environ.get("DECIMA_UNWIND_ONLY", "")
    cases = [case for case in unwind_programs.cases(place, build, SECONDS)
             if re.search(only, case.name)]
    (place / "profiles").mkdir()
    agent = LocalAgent(build / "services" / "agent" / "decima-agent", place / "profiles",
                       f"--profiling-cpu-sampling-frequency={HERTZ}")
    warm = run_all([dataclasses.replace(case, argv=case.warm()) for case in first_of_each(cases)])
    wait_until(lambda: has_all_tables(agent), 200, "all tables loaded", every=1)
    pids = run_all(cases)
    agent.stop()
    found = stacks_of(agent, protos, pids, warm, cases)
    return [(case, found[case.name]) for case in cases]


def chain(stack):
    return ";".join(name for name, _ in stack)


def share(stacks, holds):
    return sum(n for stack, n in stacks.items() if holds(stack)) / max(1, sum(stacks.values()))


def is_rooted(case, stack):
    return re.fullmatch(case.roots, stack[0][0]) is not None


def is_known(case, stack):
    """The chain, or a prefix of it, or no function of the program's own in a stack with a root."""
    text = chain(stack)
    return re.search(case.chain, text) or re.search(case.also, text) or \
        (is_rooted(case, stack) and not re.search(case.own, text))


def is_beyond(count, of, share):
    """More than chance allows if each stack is right with the probability `share`."""
    return count > shares.most(1 - share, round(of), ALARM)


def worst(stacks, holds, text, count=3):
    """The most frequent stacks for which `holds` is false, as text."""
    bad = Counter()
    for stack, n in stacks.items():
        if not holds(stack):
            bad[text(stack)] += n
    return [f"{n:.0f} x {what}" for what, n in bad.most_common(count)]


def test_stacks_reach_their_root(seen, figure):
    """99 of 100 stacks of each program; the ends of the other stacks are listed."""
    failed, total, missing = [], 0, 0
    for case, stacks in seen:
        def holds(stack, case=case):
            return is_rooted(case, stack)
        count, rooted = sum(stacks.values()), share(stacks, holds)
        ends = worst(stacks, holds, lambda stack: f"{stack[0][0]} in "
                     f"{Path(stack[0][1]).name or 'no file'}")
        figure(f"{case.name:28} {count:5.0f} stacks, {rooted:7.2%} to the root"
               + (f"; others end in {', '.join(ends)}" if ends else ""))
        total, missing = total + count, missing + count * (1 - rooted)
        if not stacks or is_beyond(count * (1 - rooted), count, SHARE):
            failed.append(f"{case.name}: {rooted:.2%}, others end in {ends}")
    figure(f"{total:.0f} stacks of {len(seen)} programs: {1 - missing / total:.2%} to the root")
    assert not failed and missing <= (1 - SHARE) * total, "\n".join(failed)


def test_stacks_are_the_known_call_chains(seen, figure):
    """All stacks with the program's own functions are the chain, or a stack of `also`."""
    failed = []
    for case, stacks in seen:
        count = sum(stacks.values())
        for share_wanted, holds in (
                (case.right, lambda stack, case=case: re.search(case.chain, chain(stack))),
                (SHARE, lambda stack, case=case: is_known(case, stack))):
            missing = count * (1 - share(stacks, holds))
            if is_beyond(missing, count, share_wanted):
                others = worst(stacks, holds, lambda stack: chain(stack)[-300:])
                failed.append(f"{case.name}: {missing:.0f} of {count:.0f} are not {case.chain}, "
                              f"{share_wanted:.0%} must: {others}")
    figure(f"call chains: {len(seen) - len(failed)} of {len(seen)} programs are right")
    assert not failed, "\n".join(failed)
