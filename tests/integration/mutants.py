# SPDX-License-Identifier: Apache-2.0
"""mutants - small programs with DWARF, mutants of them, and a watch over processes of services."""
import contextlib
import lzma
import os
import re
import resource
import shutil
import subprocess
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))
RUN_MAPPED = BUILD / "tests" / "programs" / "run_mapped"
USER = 65500  # no other test's: the agent's shares are of a user
PAGE = 4096
OWNERS = {"decima-agent", "decima-debuginfo", "decima-symbolizer"}

# 50 ms of CPU time in work(). Without a library, so that the kernel needs only the segments of the
# file, and nearly everything else in it may be mutated.
PLAIN = """
struct pair { unsigned long first, second; };
static inline __attribute__((always_inline)) unsigned long mix(unsigned long x)
{
	return x * 6364136223846793005ul + 1442695040888963407ul;
}
__attribute__((noinline)) struct pair turn(struct pair it)
{
	for (unsigned long i = 0; i < 1000; i++)
		it = (struct pair){ mix(it.second), it.first ^ i };
	return it;
}
__attribute__((noinline)) void work(void)
{
	struct pair it = { 1, 2 };
	for (int i = 0; i < 35000; i++)
		it = turn(it);
	asm volatile("" : : "r"(it.first));
}
"""
ALONE = """
void _start(void)
{
	work();
	asm volatile("syscall" : : "a"(231), "D"(0));
	__builtin_unreachable();
}
"""
WITH_LIBC = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) { (void)argv; work(); if (argc > 9) puts("9"); exit(argc > 8); }
"""
GO = """package main

//go:noinline
func turn(a, b uint64) (uint64, uint64) {
	for i := uint64(0); i < 1000; i++ {
		a, b = b*6364136223846793005+1442695040888963407, a^i
	}
	return a, b
}

func main() {
	a, b := uint64(1), uint64(2)
	for i := 0; i < 35000; i++ {
		a, b = turn(a, b)
	}
	if a == 7 {
		println(b)
	}
}
"""
ALONE_FLAGS = ["-nostdlib", "-static"]
PLAIN_FLAGS = ["-O1", *ALONE_FLAGS, "-no-pie", "-fno-stack-protector", "-fcf-protection=none",
               "-Wl,--build-id=sha1", "-Wno-unused-command-line-argument"]
# name -> compiler, flags
ORIGINALS = {
    "gcc4": ("gcc", ["-gdwarf-4"]),
    "gcc5": ("gcc", ["-gdwarf-5", "-fdebug-types-section"]),
    "gcc5-64": ("gcc", ["-gdwarf-5", "-gdwarf64"]),
    "gcc5-frame": ("gcc", ["-gdwarf-5", "-fno-asynchronous-unwind-tables"]),  # .debug_frame
    "gcc4-zlib": ("gcc", ["-gdwarf-4", "-gz=zlib"]),
    "gcc5-zlib": ("gcc", ["-gdwarf-5", "-gz=zlib"]),
    "clang4": ("clang-14", ["-gdwarf-4"]),
    "clang5": ("clang-14", ["-gdwarf-5"]),
    "clang5-zstd": ("clang-14", ["-gdwarf-5"]),
    "gcc5-mini": ("gcc", ["-gdwarf-5"]),  # stripped, with .gnu_debugdata
    "gcc5-libc": ("gcc", ["-gdwarf-5"]),  # .dynamic, .plt, .rela.plt
    "go": ("go", []),
}


def run(*argv, **more):
    return subprocess.run([str(a) for a in argv], check=True, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, **more).stdout


@dataclass
class Original:
    """A valid program: its file, its build id, and its functions {name: (address, size)}."""
    path: Path
    build_id: str
    functions: dict
    code: tuple  # of the segment with code: offset, bytes, address

    def addresses(self):
        """Addresses at the beginnings and inside of the functions."""
        return [at + step for at, size in self.functions.values() for step in (0, size // 2)]


def compile_c(name, where):
    compiler, flags = ORIGINALS[name]
    source, path = where / f"{name}.c", where / name
    with_libc = name.endswith("-libc")
    source.write_text(PLAIN + (WITH_LIBC if with_libc else ALONE))
    own = [flag for flag in PLAIN_FLAGS if not with_libc or flag not in ALONE_FLAGS]
    run(compiler, *own, *flags, "-o", path, source)
    if name.endswith("-zstd"):
        run("objcopy", "--compress-debug-sections=zstd", path)
    if name.endswith("-mini"):
        mini = where / f"{name}.symbols"
        run("objcopy", "--only-keep-debug", "--strip-debug", path, mini)
        (where / f"{name}.xz").write_bytes(lzma.compress(mini.read_bytes()))
        symbols = functions_of(path)
        run("objcopy", "-S", f"--add-section=.gnu_debugdata={where / name}.xz", path)
        return path, symbols
    return path, functions_of(path)


def compile_go(where):
    go, source = shutil.which("go") or "/usr/local/go/bin/go", where / "main.go"
    source.write_text(GO)
    run(go, "build", f"-ldflags=-B 0x{os.urandom(20).hex()}", "-o", where / "go", source,
        env=os.environ | {"CGO_ENABLED": "0"})
    return where / "go", functions_of(where / "go")


def functions_of(path):
    lines = [line.split() for line in run("nm", "-S", path).splitlines()]
    return {cells[3].removeprefix("main."): (int(cells[0], 16), int(cells[1], 16))
            for cells in lines if len(cells) == 4 and cells[3].removeprefix("main.") in
            ("turn", "work", "main")}


def build_id_of(path):
    return re.search(r"Build ID: ([0-9a-f]{40})", run("readelf", "-nW", path))[1]


def code_of(path):
    for line in run("readelf", "-lW", path).splitlines():
        cells = line.split()
        if cells[:1] == ["LOAD"] and "E" in cells[6:-1]:
            return tuple(int(cells[i], 16) for i in (1, 4, 2))
    raise AssertionError(f"{path} has no code")


def make_originals(where):
    """{name: Original}"""
    made = {}
    for name in ORIGINALS:
        path, functions = compile_go(where) if name == "go" else compile_c(name, where)
        path.chmod(0o755)
        made[name] = Original(path, build_id_of(path), functions, code_of(path))
        run(path, timeout=60)
    return made


def renamed(original, to):
    """A copy of the program with another build id."""
    build_id = os.urandom(20)
    to.write_bytes(original.path.read_bytes().replace(bytes.fromhex(original.build_id), build_id))
    return Original(to, build_id.hex(), original.functions, original.code)


@dataclass
class Mutant:
    path: Path
    original: Original
    build_id: str
    kinds: list


def make_mutants(seed, first, count, where, originals):
    """Mutants FIRST to FIRST + COUNT - 1 of the seed."""
    by_path = {str(original.path): original for original in originals.values()}
    lines = run(BUILD / "tests" / "elf_mutants", seed, first, count, where, *by_path)
    cells = [line.split("\t") for line in lines.splitlines()]
    return [Mutant(where / index, by_path[path], build_id, kinds.split(","))
            for index, path, build_id, kinds in cells]


def run_as_user(*argv):
    """Its exit status, or why there is none: no program, or not ended after a minute."""
    try:
        done = subprocess.run([str(a) for a in argv], user=USER, group=USER, extra_groups=[],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False,
                              stderr=subprocess.DEVNULL, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        return done.returncode
    except OSError:
        return "not a program"
    except subprocess.TimeoutExpired:
        return "endless"


def execute(mutant):
    """Run the mutant; if the kernel does not run it, run its code out of a mapping of its file.
    Returns how it ran."""
    if run_as_user(mutant.path) == 0:
        return "as a program"
    offset, length, address = mutant.original.code
    if "work" not in mutant.original.functions:
        return "not"
    skip = offset % PAGE
    numbers = (offset - skip, length + skip, address - skip, mutant.original.functions["work"][0])
    done = run_as_user(RUN_MAPPED, mutant.path, *(f"{number:x}" for number in numbers))
    return "mapped" if done == 0 else "not"


def descendants(pid):
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text(encoding="ascii").split():
                found += [int(child), *descendants(int(child))]
    return found


class Watch:
    """Looks at the processes of services: which there were, and the peak of each one's memory.

    A process is known by the service and the name of its program; a service's own by the name.
    """

    def __init__(self, **pids):
        self.pids, self.peaks, self.seen = pids, Counter(), {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.look()
        self.first = Counter({who: len(seen) for who, seen in self.seen.items()})

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.look()

    def run(self):
        while not self.ended.wait(0.1):
            self.look()

    def look(self):
        for name, pid in self.pids.items():
            for each in (pid, *descendants(pid)):
                with contextlib.suppress(OSError, TypeError):  # it has ended
                    self.note(each, "" if each == pid else f"{name}: ")

    def note(self, pid, prefix):
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        argv = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        program = os.path.basename(argv[0].decode())
        peak = int(re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)[1]) << 10
        # a process that has not executed its program yet has the memory of its service
        if not program or (prefix and program in OWNERS):
            return
        self.peaks[prefix + program] = max(self.peaks[prefix + program], peak)
        self.seen.setdefault(prefix + program, set()).add(pid)
