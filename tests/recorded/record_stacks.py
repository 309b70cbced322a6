#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record real stacks for tests/unit/bpf/unwind_recorded_test.c and the fuzzer of the walk.

    tests/recorded/record_stacks.py [NAME...]      as root, after `make build`

perf captures programs that we did not write, and chains of calls for what those seldom do; of each
tests/truth/stack_record.c picks one stack that our walk and libdwfl's find alike. It becomes
tests/fuzz/corpus/unwind/recorded-NAME, in the form of that fuzzer's inputs, and libdwfl's frames
become lines of stacks.txt beside this file: NAME, address, FILE+ADDRESS. Look at what changed, and
at the sum of bytes, before it is committed.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "tools")]

import test_unwind_truth as truth  # noqa: E402  (the path comes first)
import unwind_programs as programs  # noqa: E402
from harness import servers_of_a_run  # noqa: E402

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", ROOT / "build"))
CORPUS = ROOT / "tests" / "fuzz" / "corpus" / "unwind"
LIST = HERE / "stacks.txt"
SECONDS = 3
CAPTURES = 10


def chains(kind):
    return lambda place: truth.capture(place / "data", BUILD / "tests" / "programs" / "chains",
                                       kind, 1, 20)


def gcc(place):
    source = place / "some.c"
    source.write_text("".join(f"int f{i}(int n) {{ int s = 0; for (int i = 0; i < n; i++) "
                              f"s += i % 7; return s + {i}; }}\n" for i in range(900)))
    truth.capture(place / "data", "gcc", "-O2", "-c", source, "-o", place / "some.o")


def python(place):
    truth.capture(place / "data", sys.executable, "-c", truth.PYTHON % SECONDS)


def node(place):
    truth.capture(place / "data", programs.tool("node"), programs.SOURCES / "chain.js", SECONDS)


def java(place):
    programs.make(programs.tool("javac"), "-d", place, programs.SOURCES / "Chain.java")
    truth.capture(place / "data", programs.tool("java"), "-Xmx64m", "-XX:+PreserveFramePointer",
                  "-cp", place, "Chain", SECONDS)


def made(form):
    def record(place):
        case = next(iter(form(place, BUILD, 1)))
        truth.capture(place / "data", *case.warm())
    return record


def postgres(place):
    with servers_of_a_run("-record", without=("redis", "kafka")) as servers:
        pgbench = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/pgbench"))))
        address = servers.postgres.address("postgres")
        subprocess.run([pgbench, "-i", "-q", address], check=True, capture_output=True)
        with truth.attached(place / "data", servers.postgres.pid()):
            subprocess.run([pgbench, "-c", "2", "-T", str(SECONDS), address], check=True,
                           capture_output=True)


def redis(place):
    with servers_of_a_run("-record", without=("postgres", "kafka")) as servers:
        port = re.search(r":(\d+)", servers.redis.address())[1]
        with truth.attached(place / "data", servers.redis.pid()):
            subprocess.run([programs.tool("redis-benchmark"), "-p", port, "-q", "-n", "30000",
                            "-t", "lpush,lrange_300,zadd"], check=True, capture_output=True)


RECORDED = {  # name -> (how it is captured, which stack is wanted)
    "gcc": (gcc, "any"),
    "go": (made(programs.go_form), "any"),
    "java": (java, "any"),
    "node": (node, "any"),
    "plt": (gcc, "plt"),
    "postgres": (postgres, "any"),
    "python": (python, "any"),
    "realigned": (chains("realigned"), "any"),
    "redis": (redis, "any"),
    "rust": (made(programs.rust_form), "any"),
    "signal": (chains("signal"), "signal"),
    "vdso": (chains("vdso"), "vdso"),
}


def frames_of(name):
    """Few ticks meet what is seldom: so several captures."""
    capture, want = RECORDED[name]
    for _ in range(CAPTURES):
        with tempfile.TemporaryDirectory() as place:
            capture(Path(place))
            done = subprocess.run([BUILD / "tests" / "truth" / "stack_record", f"{place}/data",
                                   want, CORPUS / f"recorded-{name}"], check=False, text=True,
                                  stdout=subprocess.PIPE)
        if done.returncode == 0:
            return done.stdout.splitlines()
    raise SystemExit(f"{name}: no such stack")


def main():
    lines = LIST.read_text().splitlines() if LIST.exists() else []
    for name in sys.argv[1:] or RECORDED:
        frames = frames_of(name)
        lines = [line for line in lines if line.split()[0] != name]
        lines += [f"{name} {frame}" for frame in frames]
        lines.sort(key=lambda line: list(RECORDED).index(line.split()[0]))
        LIST.write_text("".join(f"{line}\n" for line in lines))
        print(f"{name}: {len(frames)} frames")
    size = sum(path.stat().st_size for path in CORPUS.glob("recorded-*"))
    print(f"{size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
