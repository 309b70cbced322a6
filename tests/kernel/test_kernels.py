"""The agent on the kernels that it promises to run on: it loads, samples and walks user stacks.

Emulated time is not real time: a busy machine makes a guest's timers late, and ticks that fell into
one are one. So a guest's counts are only asked to be near; the running kernel's are exact.
"""
import math
import re

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
    assert {labels["comm"] for labels, _, _ in kernel.samples if labels["pid"] == pid} == {"burn"}


def test_a_burners_stacks_are_its_calls(kernel):
    chains = kernel.chains(kernel.said("burn")["pid"], "burn")

    right = sum(n for names, n in chains.items()
                if names[-4:] in {("main", "outer", "middle", "leaf_a"),
                                  ("main", "outer", "middle", "leaf_b")})
    assert right >= 0.95 * sum(chains.values()), chains


def test_shells_that_live_for_a_moment_are_counted_by_pid(kernel):
    children = kernel.said("spawn")["children"]
    pids = {str(child[0]) for child in children}
    expected = HERTZ * sum(child[3] for child in children)

    crowd = [(labels, frames) for labels, frames, _ in kernel.samples if labels["pid"] in pids]
    near = 0.5 * expected if kernel.emulated else 0
    assert abs(kernel.ticks(pids) - expected) <= near + 3 * math.sqrt(expected), expected
    assert {labels["comm"] for labels, _ in crowd} <= {"sh", "spawn"}


def test_kernel_frames_have_names(kernel):
    names = {function for _, frames, _ in kernel.samples for path, _, function in frames
             if function}

    assert any(name.startswith(("do_syscall_64", "el0_svc")) for name in names), names


def test_nothing_is_lost(kernel):
    lost = {name: n for name, n in kernel.metrics().items()
            if name.startswith(("decima_agent_samples_lost", "decima_agent_side_band_lost"))}

    assert lost and not any(lost.values()), lost
