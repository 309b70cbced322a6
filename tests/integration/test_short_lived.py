# SPDX-License-Identifier: Apache-2.0
"""Processes that end before the agent can inspect them: their samples are stored with whole stacks.

The kernel side does not know a process of this kind, so it defers the stack: it ships registers and
the top of the stack, and the agent walks them with the mappings of their tick (stack_walk.c).
A stack is whole if its root is the beginning of a program or of a thread: an ELF file's entry
point, or libc's clone().
"""
import json
import os
import re
import subprocess
from functools import lru_cache
from pathlib import Path

import pytest

import shares
from local_agent import LocalAgent

pytestmark = pytest.mark.machine

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))
SPAWN = BUILD / "tests" / "programs" / "spawn"
SECONDS = 15
WARM = 4  # until the unwind tables of the crowd's files are loaded
ENTRY_BYTES = 64
# Samples a second: most of a shell's 0.3 ms fall between two ticks.
HERTZ = {"sh": 97, "gcc": 19}
CUT = re.compile(r'msg="stack truncated" pid=(\d+) .*? end=(\w+)')


class Crowd:
    def __init__(self, name, samples, pids, counters, log):
        self.name, self.counters = name, counters
        # The ends of the walks whose stacks are truncated.
        self.ends = [end for pid, end in CUT.findall(log) if pid in pids]
        self.samples = [(labels, frames) for labels, frames, _ in samples
                        if labels.get("pid") in pids]
        # A frame without a function name is user code; leaf first.
        self.user = [frames for frames in ([f for f in frames if not f[3]]
                                           for _, frames in self.samples) if frames]


def run_crowd(name, place):
    """200 shells a second, or compilers one after another; returns the pids of all processes."""
    source, log = place / "some.c", place / "gcc.pids"
    source.write_text("#include <stdio.h>\n#include <stdlib.h>\n" + "".join(
        f"int f{i}(int n) {{ char b[64]; sprintf(b, \"%d\", n); return atoi(b) + {i}; }}\n"
        for i in range(100)))
    command = {
        "sh": [SPAWN, "{seconds}", 200, "sh", "-c", "true"],
        "gcc": [SPAWN, "{seconds}", 0, "gcc", "-wrapper", f"{SPAWN},--log,{log}", "-O1", "-c",
                source, "-o", place / "some.o"],
    }[name]

    def run(seconds):
        argv = [str(a).format(seconds=seconds) for a in command]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=200)
        return {str(child[0]) for child in json.loads(done.stdout)["children"]}

    run(WARM)
    log.unlink(missing_ok=True)
    pids = run(SECONDS)
    return pids | (set(log.read_text().split()) if log.exists() else set())


@pytest.fixture(scope="module", params=HERTZ)
def crowd(request, protos, tmp_path_factory):
    place = tmp_path_factory.mktemp(request.param)
    (place / "profiles").mkdir()
    agent = LocalAgent(BUILD / "services" / "agent" / "decima-agent", place / "profiles",
                       f"--profiling-cpu-sampling-frequency={HERTZ[request.param]}",
                       "--log-level=debug")
    pids = run_crowd(request.param, place)
    counters = subprocess.run(["curl", "-fsS", f"http://{agent.address}/metrics"],
                              capture_output=True, text=True, check=True).stdout
    agent.stop()
    return Crowd(request.param, agent.samples(protos), pids, counters, agent.words())


def test_each_sample_has_its_command_and_thread_id(crowd):
    comms = {"sh": {"sh", "spawn"}, "gcc": {"gcc", "cc1", "as", "collect2", "ld", "spawn"}}

    assert len(crowd.samples) >= 30
    assert {labels["comm"] for labels, _ in crowd.samples} <= comms[crowd.name]
    assert all(labels["thread_id"].isdigit() for labels, _ in crowd.samples)


def test_no_sample_is_lost(crowd):
    lost = [line for line in crowd.counters.splitlines()
            if line.startswith("decima_agent_samples_lost_total")]

    assert lost and all(line.endswith(" 0") for line in lost), lost


def test_each_sample_has_a_stack(crowd):
    assert all(frames for _, frames in crowd.samples)
    assert any(f[3].startswith(("do_syscall_64", "el0_svc"))
               for _, frames in crowd.samples for f in frames)


def test_user_frames_lie_in_mapped_files(crowd, figure):
    mapped = sum(all(path for path, *_ in frames) for frames in crowd.user)

    figure(f"{crowd.name}: {mapped} of {len(crowd.user)} user stacks wholly in mapped files")
    assert mapped >= shares.least(0.97, len(crowd.user))


@lru_cache(maxsize=None)
def beginnings(path):
    """[(address, bytes)] where programs and threads begin in this file.

    libc's clone3() has no name in a stripped file; its unwind row has no caller.
    """
    header = subprocess.run(["readelf", "-hW", path], capture_output=True, text=True, check=False)
    entry = re.search(r"Entry point address:\s+0x([0-9a-f]+)", header.stdout)
    names = subprocess.run(["nm", "-DS", "--defined-only", path], capture_output=True, text=True,
                           check=False).stdout
    clones = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) \w (?:__)?clone3?(?:@.*)?$", names, re.MULTILINE)
    found = [(int(at, 16), int(size, 16)) for at, size in clones]
    rows = subprocess.run(["readelf", "--debug-dump=frames", path], capture_output=True, text=True,
                          check=False).stdout
    for row in rows.split("\n\n"):
        spans = re.search(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)", row)
        if spans and re.search(r"DW_CFA_undefined: r(16|30) ", row):
            found.append((int(spans[1], 16), int(spans[2], 16) - int(spans[1], 16)))
    return found + ([(int(entry[1], 16), ENTRY_BYTES)] if entry else [])


def is_whole(frames):
    path, _, address, _ = frames[-1]
    return any(at <= address < at + size for at, size in beginnings(path))


def in_exec(frames, kernel):
    """While exec runs, the old stack is gone and the registers still point to it."""
    return len(frames) == 1 and any("execve" in name for name in kernel)


def not_shipped_of(crowd):
    """The deferred stacks of the whole machine that were over the rate and were not shipped."""
    return int(re.search(r'fate="not_shipped"} (\d+)', crowd.counters)[1])


def test_user_stacks_in_the_middle_of_an_exec_end_as_exec(crowd, figure):
    stacks = [([f for f in frames if not f[3]], [f[3] for f in frames if f[3]])
              for _, frames in crowd.samples]
    leaves = [user for user, kernel in stacks if in_exec(user, kernel)]
    cut_off = sum(not is_whole(user) for user in leaves)
    in_an_exec = crowd.ends.count("exec")

    figure(f"{crowd.name}: {in_an_exec} of {len(crowd.user)} user stacks end in an exec; "
           f"{crowd.ends.count('no_table')} for want of a table")
    assert in_an_exec <= len(leaves)  # one of them may lie where a program begins
    assert cut_off - in_an_exec - not_shipped_of(crowd) <= shares.most(0.02, len(crowd.user))
    assert in_an_exec > 0 or crowd.name != "sh"


def test_user_stacks_are_whole(crowd, figure):
    stacks = [([f for f in frames if not f[3]], [f[3] for f in frames if f[3]])
              for _, frames in crowd.samples]
    walked = [user for user, kernel in stacks if user and not in_exec(user, kernel)]
    whole = sum(is_whole(user) for user in walked)
    not_shipped = not_shipped_of(crowd)

    figure(f"{crowd.name}: {whole} of {len(walked)} user stacks reach their root; of the whole "
           f"machine's {not_shipped} were over the rate and not shipped")
    assert whole + not_shipped >= shares.least(0.98, len(walked))
