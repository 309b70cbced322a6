# SPDX-License-Identifier: Apache-2.0
"""Our walk of a stack, compared with other unwinders, on programs that we did not write.

perf captures registers and stacks of postgres under load, node, gcc, python and redis. The code
that runs in the kernel (bpf/unwind.h, here on the host, over tables that lib/unwind builds) and
elfutils' libdwfl walk each stack from the same registers and bytes: tests/truth/. Differences are
counted by cause. perf's own walk of one of the captures is the second reference.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import unwind_programs
from harness import wait_until

HERTZ = 997
SECONDS = 2
EQUAL = 0.995  # of stacks, frame by frame from the leaf to the last
BLIND = 0.02  # of stacks: perf captured too little for libdwfl, see tests/truth/walks.h

pytestmark = pytest.mark.machine

PYTHON = """
import hashlib, json, re, time, zlib
end = time.time() + %d
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
while time.time() < end:
    fib(15)
    json.loads(json.dumps([{"a": i, "b": str(i)} for i in range(200)]))
    re.findall(r"(\\w+)=(\\d+)", "abc=12 " * 100)
    zlib.compress(b"abc" * 5000)
    sorted(range(3000), key=lambda x: -x)
    hashlib.sha256(b"x" * 100000).digest()
"""


@pytest.fixture(scope="module")
def build():
    return Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))


def perf(out, *what, event="cpu-clock"):
    """A command that records with build ids of mappings. If one listener, such as an agent, gets
    build ids, some kernels also set the flag in the events of other listeners; perf 6.1 then reads
    device and inode as an id of any length, and crashes. With --buildid-mmap it gets real ids.
    """
    return [unwind_programs.tool("perf"), "record", "--buildid-mmap", "-N", "-q", "-e", event,
            "-F", str(HERTZ), "--call-graph", "dwarf,65528", "-o", str(out), *map(str, what)]


def capture(out, *command, **options):
    """Record a command from its start to its end."""
    done = subprocess.run(perf(out, "--", *command, **options), capture_output=True, text=True,
                          check=False, timeout=300)
    assert out.exists() and done.returncode == 0, done.stderr


@contextlib.contextmanager
def attached(out, pid):
    """Record a running process and the children that it makes meanwhile."""
    recorder = subprocess.Popen(perf(out, "-p", pid), stderr=subprocess.PIPE, text=True)
    wait_until(lambda: out.exists() and out.stat().st_size > 0, what="perf's file")
    time.sleep(0.5)  # perf attaches after it has opened its file
    try:
        yield
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=100)


def compare(build, out, *flags):
    done = subprocess.run([build / "tests" / "truth" / "unwind_truth", out, *flags],
                          capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    return json.loads(last), lines


def judge(figure, name, score):
    """Print the whole score, then assert it."""
    equal = score["equal"] / max(1, score["stacks"] - score["blind"])
    frames = score["equal_frames"] / max(1, score["frames"])
    causes = sorted(score["causes"], key=lambda cause: -cause["stacks"])
    figure(f"{name:9} {score['stacks']:5} stacks: {equal:7.2%} equal libdwfl's ({frames:.2%} of "
           f"{score['frames']} frames); to the root {score['complete_ours']}, libdwfl "
           f"{score['complete_libdwfl']}; by frame pointers {score['by_frame_pointers']}; not to "
           f"be compared, since libdwfl reads below the stack pointer: {score['blind']}")
    for cause in causes:
        figure(f"{'':9} {cause['stacks']:5} {cause['cause']}, e.g. {cause['example']}")
    assert score["stacks"] >= 200 and score["blind"] <= BLIND * score["stacks"], score
    assert equal >= EQUAL, causes


def test_gcc_is_walked_like_libdwfl(build, tmp_path, figure):
    source = tmp_path / "some.c"
    source.write_text("#include <stdio.h>\n#include <stdlib.h>\n" + "".join(
        f"int f{i}(int n) {{ char b[64]; int s = 0; sprintf(b, \"%d\", n);\n"
        f"for (int i = 0; i < n; i++) s += b[i % 8] * i % 7; return atoi(b) + s + {i}; }}\n"
        for i in range(600)))

    capture(tmp_path / "data", "gcc", "-O2", "-c", source, "-o", tmp_path / "some.o")

    judge(figure, "gcc", compare(build, tmp_path / "data")[0])


def test_python_is_walked_like_libdwfl(build, tmp_path, figure):
    capture(tmp_path / "data", sys.executable, "-c", PYTHON % SECONDS)

    judge(figure, "python", compare(build, tmp_path / "data")[0])


def test_node_is_walked_like_libdwfl(build, tmp_path, figure):
    capture(tmp_path / "data", unwind_programs.tool("node"),
            unwind_programs.SOURCES / "chain.js", SECONDS)

    judge(figure, "node", compare(build, tmp_path / "data")[0])


def test_postgres_under_load_is_walked_like_libdwfl(build, servers, tmp_path, figure):
    pgbench = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/pgbench"))), None)
    assert pgbench, "there is no pgbench: run tools/deps.sh"
    address = servers.postgres.address("postgres")
    subprocess.run([pgbench, "-i", "-s", "2", "-q", address], check=True, capture_output=True)

    with attached(tmp_path / "data", servers.postgres.pid()):
        subprocess.run([pgbench, "-c", "4", "-j", "2", "-T", str(2 * SECONDS), address],
                       check=True, capture_output=True)

    judge(figure, "postgres", compare(build, tmp_path / "data")[0])


def test_redis_under_load_is_walked_like_libdwfl(build, servers, tmp_path, figure):
    port = re.search(r":(\d+)", servers.redis.address())[1]
    command = [unwind_programs.tool("redis-benchmark"), "-p", port, "-q", "-n", "60000",
               "-t", "set,get,lpush,lrange_300,zadd,mset"]

    with attached(tmp_path / "data", servers.redis.pid()):
        subprocess.run(command, check=True, capture_output=True, timeout=300)

    judge(figure, "redis", compare(build, tmp_path / "data")[0])


def perf_script(out):
    """{(thread, time in ns): [address, ... leaf first]} of perf's own walk of its capture."""
    command = [unwind_programs.tool("perf"), "script", "-i", out, "--ns", "--max-stack", "500",
               "--no-inline", "-F", "tid,time,ip"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    found = {}
    for block in text.split("\n\n"):
        lines = block.strip().splitlines()
        head = re.match(r"\s*(\d+)\s+(\d+)\.(\d{9}):", lines[0]) if lines else None
        if head:
            user = [int(line.split()[0], 16) for line in lines[1:]]
            found[int(head[1]), int(head[2] + head[3])] = [at for at in user if at >> 47 == 0]
    return found


def test_a_recursion_is_walked_like_perf(build, tmp_path, figure):
    program = shutil.copy(build / "tests" / "programs" / "chains", tmp_path)
    capture(tmp_path / "data", program, "recursion", 1, 100, event="cpu-clock:u")
    theirs = perf_script(tmp_path / "data")

    _, lines = compare(build, tmp_path / "data", "--frames")

    ours = {(int(tid), int(at)): [int(frame, 16) for frame in frames]
            for tid, at, *frames in map(str.split, lines)}
    equal = sum(frames == theirs.get(key) for key, frames in ours.items())
    figure(f"perf script: {equal} of {len(ours)} stacks of a recursion of 100 are equal")
    assert len(ours) >= 200 and equal >= EQUAL * len(ours)
