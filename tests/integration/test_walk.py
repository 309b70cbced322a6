# SPDX-License-Identifier: Apache-2.0
"""The walk of user stacks in BPF, by either of its programs, on known stacks.

walk_check samples running processes with the agent's own BPF programs and with tables that it
builds first. test_unwind.py tests the agent's result; test_unwind_truth.py compares it with other
unwinders.
"""
import contextlib
import os
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

import shares
from local.servers import ROOT

HERTZ = 499
SECONDS = 1
DEADLINE = 180
ENOUGH = shares.needed(0.99, 0.05)  # samples of one program
FRAME_POINTERS, GUESSED = 2, 8  # bits of a sample's flags, bpf/sample.h

JAVA = """
import java.util.*;
public class Busy {
  static long sum;
  static int down(int depth, Map<Integer, String> map) {
    if (depth > 0)
      return down(depth - 1, map) + depth;
    for (int i = 0; i < 2000; i++) {
      map.put(i, "x" + i * sum);
      sum += map.get(i).hashCode();
    }
    return (int) sum;
  }
  public static void main(String[] arguments) {
    Map<Integer, String> map = new HashMap<>();
    while (true)
      sum += down(20, map);
  }
}
"""

pytestmark = pytest.mark.machine


@pytest.fixture(scope="module")
def tests():
    return Path(os.environ.get("DECIMA_TEST_BUILD", ROOT / "build")) / "tests"


@contextlib.contextmanager
def running(*command):
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def walked(tests, process, *flags):
    """[(end, flags, frames)] of the process's samples that the BPF program walked."""
    printed = subprocess.run(
        [tests / "walk_check", *flags, str(HERTZ), str(SECONDS), str(process.pid)], text=True,
        check=True, stdout=subprocess.PIPE, timeout=DEADLINE).stdout
    lines = [line.split() for line in printed.splitlines()]
    return [(words[0], int(words[1]), words[3:]) for words in lines
            if words[0] not in ("cost", "shipped")]


def enough(sample, deadline=DEADLINE):
    """ENOUGH samples, of as many rounds as needed, since the machine may be busy."""
    samples, end = [], time.monotonic() + deadline
    while len(samples) < ENOUGH and time.monotonic() < end:
        samples += sample()
    assert len(samples) >= ENOUGH
    return samples


def assert_whole(samples, share=0.99, end="complete"):
    """At least this share of the stacks reach the root, or end in the other given way."""
    ends = Counter(end for end, _, _ in samples)
    assert ends[end] >= shares.least(share, len(samples)), ends


@pytest.mark.parametrize("flags, depth", [((), 480), (("--calls",), 200)],
                         ids=["loop", "tail calls"])
def test_a_deep_recursion_without_frame_pointers_reaches_its_root(tests, flags, depth):
    with running(tests / "programs" / "chains", "recursion", 1000, depth) as process:
        samples = enough(lambda: walked(tests, process, *flags))

    assert_whole(samples)
    assert all(len(frames) > depth for end, _, frames in samples if end == "complete")
    assert not any(flags & (FRAME_POINTERS | GUESSED) for _, flags, _ in samples)


@pytest.mark.parametrize("flags, most", [((), 512), (("--calls",), 231)],
                         ids=["loop", "tail calls"])
def test_a_deeper_stack_is_truncated_at_the_root_as_too_deep(tests, flags, most):
    with running(tests / "programs" / "chains", "recursion", 1000, 600) as process:
        samples = enough(lambda: walked(tests, process, *flags))

    assert_whole(samples, end="too_deep")
    assert all(len(frames) == most for end, _, frames in samples if end == "too_deep")


@pytest.mark.parametrize("flags", [(), ("--calls",)], ids=["loop", "tail calls"])
def test_a_signal_handler_on_another_stack_is_walked_to_the_root(tests, flags):
    with running(tests / "programs" / "chains", "altstack", 1000) as process:
        samples = enough(lambda: walked(tests, process, *flags))

    assert_whole(samples)


@pytest.mark.skipif(tuple(map(int, os.uname().release.split(".")[:2])) < (6, 12),
                    reason="the verifiers of earlier kernels do not take it")
@pytest.mark.skipif(not shutil.which("javac"), reason="a JVM to be sampled is not there")
def test_compiled_java_without_frame_pointers_reaches_its_root_by_guesses(tests, tmp_path):
    (tmp_path / "Busy.java").write_text(JAVA)
    subprocess.run(["javac", "-d", tmp_path, tmp_path / "Busy.java"], check=True)
    with running("java", "-cp", tmp_path, "Busy") as process:
        end = time.monotonic() + DEADLINE
        samples = []
        while not any(flags & GUESSED for _, flags, _ in samples):  # until it is compiled
            assert time.monotonic() < end
            samples = enough(lambda: walked(tests, process))

    assert_whole(samples, 0.9)
