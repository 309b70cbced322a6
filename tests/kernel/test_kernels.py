# SPDX-License-Identifier: Apache-2.0
"""The agent on the kernels that it promises to run on: it loads, samples and walks user stacks.

`chains` is built without frame pointers: what reaches its _start was walked by tables.

Emulated time is not real time: a busy machine makes a guest's timers late, and ticks that fell into
one are one. So a guest's counts are only asked to be near; the running kernel's are exact.
"""
import math
import re

import pytest
from outcome import HERTZ


def test_the_agent_loads_samples_and_stops_in_order(kernel, figure):
    log = kernel.text("agent.log")
    first = re.findall(r"ts=\S+T(\d+):(\d+):([\d.]+)Z .*msg=\"(starting|sampling)\"", log)

    assert kernel.status == 0 and len(first) == 2, log[-3000:]
    began, sampling = (int(h) * 3600 + int(m) * 60 + float(s) for h, m, s, _ in first)
    figure(f"{kernel.name}: {kernel.release}: from start to sampling {sampling - began:.2f} s")


def test_a_burner_is_counted_by_its_pid_and_comm(kernel):
    said = kernel.said("burn")
    pid = str(said["pid"])
    expected = HERTZ * said["cpu_seconds"]

    found = kernel.ticks({pid})
    near = 0.4 * expected if kernel.emulated else 3 * math.sqrt(expected)
    assert abs(found - expected) <= near, (found, expected)
    comms = [labels["comm"] for labels, _, _ in kernel.samples if labels["pid"] == pid]
    assert comms.count("burn") >= len(comms) - 2, comms  # before its exec it was the shell's


def share(chains, holds):
    return sum(n for names, n in chains.items() if holds(names)) / max(1, sum(chains.values()))


def test_a_burners_stacks_are_its_calls(kernel):
    chains = at_work(kernel.chains(kernel.said("burn")["pid"], "burn"), {"leaf_a", "leaf_b"})

    assert share(chains, lambda names: names[-4:-1] == ("main", "outer", "middle")) >= 0.95, chains


def chains_of(kernel, kind, among):
    return at_work(kernel.chains(kernel.text(f"chains-{kind}").strip(), "chains"), among)


def at_work(chains, among):
    """Of the ticks that found it at one of these: not those of its start, in the loader."""
    chains = {names: n for names, n in chains.items() if among.intersection(names)}
    assert sum(chains.values()) >= 10, chains
    return chains


@pytest.mark.parametrize("depth", (60, 150, 400))
def test_a_recursion_without_frame_pointers_is_walked_to_its_root(kernel, figure, depth):
    found = chains_of(kernel, f"recursion-{depth}", {"spend", "work", "deep"})
    whole = ("_start", "main", "recursion", *["deep"] * (depth + 1))

    if depth == 400 and kernel.walks_by_calls:  # it ends sooner, unless the agent walks it
        assert share(found, lambda names: names.count("deep") >= 200) >= 0.95, found
        return
    right = share(found, lambda names: names[:len(whole)] == whole)
    figure(f"{kernel.name}: recursion of {depth}: {100 * right:.1f} % to the root, "
           f"of {sum(found.values())}")
    assert right >= 0.95, found


@pytest.mark.parametrize("kind, function", (("signal-1", "on_signal"), ("kernel-1", "by_kernel")))
def test_stacks_through_a_signal_and_into_the_kernel_reach_their_root(kernel, kind, function):
    found = chains_of(kernel, kind, {"spend", "work", function})

    assert share(found, lambda names: names[:2] == ("_start", "main")) >= 0.95, found


def test_shells_that_live_for_a_moment_are_counted_by_pid(kernel):
    children = kernel.said("spawn")["children"]
    pids = {str(child[0]) for child in children}
    expected = HERTZ * sum(child[3] for child in children)

    crowd = [(labels, frames) for labels, frames, _ in kernel.samples if labels["pid"] in pids]
    near = 0.5 * expected if kernel.emulated else 0
    assert abs(kernel.ticks(pids) - expected) <= near + 3 * math.sqrt(expected), expected
    assert {labels["comm"] for labels, _ in crowd} <= {"sh", "spawn"}


def test_stacks_in_the_middle_of_an_exec_are_reported_as_exec(kernel, figure):
    """An emulated exec is slow, so ticks fall into it. Without the flag of such stacks the agent
    would request an unwind table for them."""
    pids = {str(child[0]) for child in kernel.said("spawn")["children"]}
    ends = [end for pid, end in re.findall(r'msg="stack truncated" pid=(\d+) .*? end=(\w+)',
                                           kernel.text("agent.log")) if pid in pids]

    figure(f"{kernel.name}: {ends.count('exec')} stacks end in an exec, "
           f"{ends.count('no_table')} for want of a table")
    assert ends.count("exec") >= ends.count("no_table"), ends


def test_kernel_frames_have_names(kernel):
    names = {function for _, frames, _ in kernel.samples for path, _, function in frames
             if function}

    assert any(name.startswith(("do_syscall_64", "el0_svc")) for name in names), names


def test_nothing_is_lost(kernel):
    """Of a guest, that has the machine for itself, also no event of processes."""
    kinds = ("samples", "sideband") if kernel.emulated else ("samples",)
    lost = {name: n for name, n in kernel.metrics().items()
            if name.startswith(tuple(f"decima_agent_{kind}_lost" for kind in kinds))}

    assert lost and not any(lost.values()), lost
