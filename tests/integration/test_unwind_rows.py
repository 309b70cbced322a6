# SPDX-License-Identifier: Apache-2.0
"""Tables of unwind rows, compared with readelf and llvm-dwarfdump on the same files."""
import bisect
import glob
import shutil
from pathlib import Path

import pytest

import unwind_oracle as oracle

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / "build" / "tests" / "unwind_check"
LIBRARIES = "/usr/lib/x86_64-linux-gnu/"


def newest(pattern):
    return next(iter(sorted(glob.glob(pattern), reverse=True)), None)


SMALL = {
    "libc": lambda: LIBRARIES + "libc.so.6",
    "libcrypto": lambda: LIBRARIES + "libcrypto.so.3",
    "libstdc++": lambda: LIBRARIES + "libstdc++.so.6",
    "ld.so": lambda: "/lib64/ld-linux-x86-64.so.2",
    "postgres": lambda: newest("/usr/lib/postgresql/*/bin/postgres"),
    "python": lambda: newest("/usr/bin/python3.[0-9]*[0-9]"),
    "agent": lambda: ROOT / "build" / "services" / "agent" / "decima-agent",
}
LARGE = {
    "libpython": lambda: newest("/usr/lib/x86_64-linux-gnu/libpython3*.so.1*") or
                         newest("/*/.pyenv/versions/*/lib/libpython3.*.so.1.0"),
    "node": lambda: shutil.which("node"),
    "libLLVM": lambda: newest("/usr/lib/llvm-*/lib/libLLVM-*.so"),
    "libjvm": lambda: newest("/usr/lib/jvm/*/lib/server/libjvm.so"),
    "cc1": lambda: newest("/usr/lib/gcc/x86_64-linux-gnu/*/cc1"),
}


def file_of(name, files):
    path = files[name]()
    if not path or not Path(path).exists():
        pytest.skip(f"there is no {name} here")
    return path


def differences(expected, found):
    """The first ten differences, for the message of an assert."""
    lines = []
    for address, rule in sorted(set(expected) ^ set(found))[:10]:
        side = "ours" if (address, rule) in set(found) else "theirs"
        lines.append(f"{address:x} {side} {rule}")
    return "\n".join(lines)


def compare(path, tmp_path, figure, section="eh-frame", machine=oracle.X86_64):
    built = oracle.run(CHECK, "build", path, tmp_path / "table").strip()
    found = oracle.table_rows(CHECK, tmp_path / "table", machine)
    functions = oracle.with_calls(path, oracle.functions_of(path, section, machine), section,
                                  machine)
    expected = oracle.rows_of(oracle.filled(path, functions, machine))
    figure(f"{Path(path).name}: {built}; readelf has {len(expected[0])}")
    assert len(functions) > 2 and len(expected[0]) > 5
    assert found == expected, differences(expected[0], found[0])


@pytest.mark.parametrize("name", SMALL)
def test_every_row_equals_that_of_readelf(name, tmp_path, figure):
    compare(file_of(name, SMALL), tmp_path, figure)


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_every_row_of_a_large_file_equals_that_of_readelf(name, tmp_path, figure):
    compare(file_of(name, LARGE), tmp_path, figure)


@pytest.mark.parametrize("name, how", [
    ("so64", {}),                             # gcc: PLT, a realigned stack
    ("dbgs", {"section": "debug-frame"}),     # compressed, without .eh_frame
    ("lld", {}),                              # PLT stubs without unwind info
    ("arm64", {"machine": oracle.ARM64}),
])
def test_small_files_of_each_kind_have_the_rows_of_readelf(name, how, tmp_path, figure):
    compare(ROOT / "tests" / "fuzz" / "corpus" / "unwind_build" / name, tmp_path, figure, **how)


@pytest.mark.parametrize("path", ["/usr/aarch64-linux-gnu/lib/libc.so.6",
                                  "/usr/aarch64-linux-gnu/lib/libstdc++.so.6"])
def test_rows_of_arm64_equal_those_of_readelf(path, tmp_path, figure):
    if not Path(path).exists():
        pytest.skip(f"there is no {path}: libc6-arm64-cross, libstdc++6-arm64-cross")
    compare(path, tmp_path, figure, machine=oracle.ARM64)


def test_rows_of_the_vdso_equal_those_of_readelf(tmp_path, figure):
    image = tmp_path / "vdso"
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
        span = next(line.split()[0] for line in maps if "[vdso]" in line)
        start, end = (int(part, 16) for part in span.split("-"))
        memory.seek(start)
        image.write_bytes(memory.read(end - start))
    compare(image, tmp_path, figure)


@pytest.mark.parametrize("flag", ["-static", "-static-pie"])
def test_rows_of_static_programs_equal_those_of_readelf(flag, tmp_path, figure):
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    oracle.run("gcc", flag, tmp_path / "main.c", "-o", tmp_path / "program")
    compare(tmp_path / "program", tmp_path, figure)


def test_the_return_from_signals_is_found_without_unwind_info(tmp_path):
    if not shutil.which("musl-gcc"):
        pytest.skip("there is no musl")
    (tmp_path / "main.c").write_text("#include <signal.h>\n"
                                     "int main(void) { return signal(10, SIG_IGN) != 0; }\n")
    oracle.run("musl-gcc", "-static", tmp_path / "main.c", "-o", tmp_path / "program")
    oracle.run(CHECK, "build", tmp_path / "program", tmp_path / "table")
    rows, _ = oracle.table_rows(CHECK, tmp_path / "table")
    symbols = oracle.run("nm", tmp_path / "program").splitlines()
    address = next(int(line.split()[0], 16) for line in symbols if line.endswith("__restore_rt"))

    assert (address - 1, oracle.SIGNAL) in rows


def spans(rows, end):
    """[(start, end, rule)]"""
    return [(start, following, rule) for (start, rule), following
            in zip(rows, [address for address, _ in rows[1:]] + [end])]


def test_code_without_unwind_info_is_analysed(tmp_path, figure):
    """A C library without its .eh_frame: the rows by code analysis are compared with .eh_frame."""
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    oracle.run("gcc", "-static", tmp_path / "main.c", "-o", tmp_path / "from_eh_frame")
    oracle.run("objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", tmp_path / "from_eh_frame",
               tmp_path / "bare")
    oracle.run(CHECK, "build", tmp_path / "from_eh_frame", tmp_path / "from_eh_frame.table")
    oracle.run(CHECK, "build", tmp_path / "bare", tmp_path / "bare.table")
    from_eh_frame = spans(*oracle.table_rows(CHECK, tmp_path / "from_eh_frame.table"))
    bare = spans(*oracle.table_rows(CHECK, tmp_path / "bare.table"))
    starts = [start for start, _, _ in from_eh_frame]
    equal = popped = other = 0

    for start, end, rule in bare:
        if rule == oracle.NONE:
            continue
        while start < end:
            _, their_end, theirs = from_eh_frame[bisect.bisect(starts, start) - 1]
            size = min(end, their_end) - start
            start += size
            by_pointer = theirs[:2] == (oracle.CFA_REGISTER, 6) and rule[1] == 7
            if theirs == oracle.NONE:
                continue
            if theirs == rule or (by_pointer and theirs[4:] == rule[4:]):
                equal += size
            elif theirs[:4] == rule[:4] and theirs[6:] == rule[6:]:
                popped += size  # compilers emit no row after an epilogue pops %rbp
            else:
                other += size
    described = sum(end - start for start, end, rule in from_eh_frame if rule != oracle.NONE)
    figure(f"of {described} bytes {equal} equal, {popped} with %rbp popped, {other} different")
    assert equal > 0.7 * described
    assert other < 0.002 * equal


def test_a_c_library_without_unwind_info_has_rows(tmp_path):
    if not shutil.which("musl-gcc"):
        pytest.skip("there is no musl")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    oracle.run("musl-gcc", "-static", tmp_path / "main.c", "-o", tmp_path / "program")
    oracle.run(CHECK, "build", tmp_path / "program", tmp_path / "table")
    from_eh_frame = spans(*oracle.table_rows(CHECK, tmp_path / "table"))
    symbols = oracle.run("nm", tmp_path / "program").splitlines()
    address = next(int(line.split()[0], 16) for line in symbols
                   if line.endswith("libc_start_main_stage2"))
    depths = {rule[2] for start, _, rule in from_eh_frame if address <= start < address + 40}

    assert depths and max(depths) == 48


GO = """package main

import (
	"fmt"
	"net/http"
	"os"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func main() {
	fmt.Println(fib(len(os.Args)))
	go http.ListenAndServe("127.0.0.1:0", nil)
}
"""


@pytest.fixture(scope="module")
def go_program(tmp_path_factory):
    """A function that builds a Go program with the given linker flags."""
    if not shutil.which("go"):
        pytest.skip("there is no go")
    where = tmp_path_factory.mktemp("go")
    (where / "main.go").write_text(GO)
    (where / "go.mod").write_text("module chain\n\ngo 1.20\n")

    def build(name, flags):
        oracle.run("go", "build", "-C", where, f"-ldflags={flags}", "-o", where / name, ".")
        return where / name

    return build


def test_stack_depths_of_go_equal_those_of_its_debug_frame(go_program, tmp_path, figure):
    path = go_program("full", "")
    built = oracle.run(CHECK, "build", path, tmp_path / "table").strip()
    rows, _ = oracle.table_rows(CHECK, tmp_path / "table")
    starts = [address for address, _ in rows]
    compared, moved = 0, []

    for _, end, theirs in oracle.functions_of(path, "debug-frame"):
        for address, rule in theirs:
            if address >= end:
                continue
            ours = rows[bisect.bisect(starts, address) - 1][1]
            compared += 1
            if ours[:3] != rule[:3]:
                moved.append((address, ours, rule))
    figure(f"{built}; {len(moved)} of {compared} rows are not by depth")
    assert compared > 10000
    # Functions that switch stacks are unwound by frame pointer or as the return of a handler.
    assert {ours[0] for _, ours, _ in moved} <= {oracle.CFA_FRAME_POINTER, oracle.CFA_SIGNAL,
                                                 oracle.CFA_UNSUPPORTED}, moved
    assert len(moved) < 60, moved


def test_a_stripped_program_of_go_has_the_same_rows(go_program, tmp_path):
    tables = []
    for name, flags in ("full", ""), ("stripped", "-s -w"):
        oracle.run(CHECK, "build", go_program(name, flags), tmp_path / name)
        tables.append(oracle.table_rows(CHECK, tmp_path / name))
    assert tables[0] == tables[1]
