# SPDX-License-Identifier: Apache-2.0
"""The same tick, walked by the BPF program in the kernel and again on the host.

Each sample has the frames that the kernel found, and its registers and stack. walk_host.c walks
these with the same source, over the same mappings and tables. So the code that is compiled for BPF,
with changes for the verifier, is compared with the code that unit tests and sanitizers check.
The frames, the end of the walk and the guessed steps must be equal.
"""
import contextlib
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import unwind_programs
from local.servers import ROOT

HERTZ = 997
SECONDS = 2
DEADLINE = 180
ENOUGH = 1000  # stacks
EQUAL = 0.999
KINDS = ["calls", "recursion", "alloca", "realigned", "signal", "altstack", "fault", "plt", "vdso",
         "thread", "kernel"]
DEPTH = 100  # the shipped stack copy has room for it
PYTHON = "import json\nwhile True: json.loads(json.dumps([{'a': i} for i in range(200)]))"

pytestmark = pytest.mark.machine


@pytest.fixture(scope="module")
def tests():
    return Path(os.environ.get("DECIMA_TEST_BUILD", ROOT / "build")) / "tests"


@pytest.fixture(scope="module")
def programs(tests, tmp_path_factory):
    """{name: command} of programs that run until they are killed."""
    place = tmp_path_factory.mktemp("twice")
    sources = unwind_programs.SOURCES
    unwind_programs.make(unwind_programs.tool("javac"), "-d", place, sources / "Chain.java")
    java = [unwind_programs.tool("java"), "-Xmx64m", "-cp", place]
    found = {kind: [tests / "programs" / "chains", kind, 10**6, DEPTH] for kind in KINDS}
    return found | {
        "python": [sys.executable, "-c", PYTHON],
        "node": [unwind_programs.tool("node"), sources / "chain.js", 10**6],
        "java": [*java, "-XX:+PreserveFramePointer", "Chain", 10**6],
    } | ({"java by guesses": [*java, "Chain", 10**6]} if may_guess() else {})


def may_guess():
    """The verifiers of earlier kernels reject the code that guesses."""
    return tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 12)


@pytest.fixture(scope="module")
def running(programs):
    """{pid: name}, all at once."""
    with contextlib.ExitStack() as stack:
        pids = {}
        for name, command in programs.items():
            process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.kill)
            pids[process.pid] = name
        yield pids


def compared(tests, running, *flags):
    """[(name, "same" or "so_far" or "differs", the rest of the line)]"""
    printed = subprocess.run(
        [tests / "walk_check", *flags, "--twice", str(HERTZ), str(SECONDS), *map(str, running)],
        text=True, check=True, stdout=subprocess.PIPE, timeout=DEADLINE).stdout
    lines = [line.split(maxsplit=2) for line in printed.splitlines()]
    return [(running[int(pid)], word, rest) for pid, word, rest in lines if pid != "cost"]


@pytest.mark.parametrize("flags", [(), ("--calls",)], ids=["loop", "tail calls"])
def test_the_kernel_and_the_host_walk_a_tick_equally(tests, running, flags, figure):
    found, end = [], time.monotonic() + DEADLINE
    while (len(found) < ENOUGH or len({name for name, _, _ in found}) < len(running)) and \
            time.monotonic() < end:
        found += compared(tests, running, *flags)

    words = Counter(word for _, word, _ in found)
    figure(f"walked twice{''.join(flags)}: {len(found)} ticks of {len(running)} programs, "
           f"{words['same']} the same, {words['so_far']} the same as far as the stack was shipped, "
           f"{words['differs']} different")
    seen = Counter(name for name, _, _ in found)
    whole = Counter(name for name, word, _ in found if word == "same")
    differences = [f"{name}: {rest[:500]}" for name, word, rest in found if word == "differs"]
    for difference in differences[:10]:
        figure(f"walked twice: {difference}")
    assert len(found) >= ENOUGH and len(seen) == len(running), seen
    assert len(differences) <= (1 - EQUAL) * len(found), differences
    # A program on two stacks has one of them shipped; the stacks of all others are whole.
    assert {name for name in seen if not whole[name]} <= {"altstack"}, whole
