# SPDX-License-Identifier: Apache-2.0
"""The file of debug info that the agent extracts from a program: standard tools print the same."""
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", ROOT / "build"))
ADDRESSES = 200

SOURCE = """
#include <string>
#include <vector>
#include <cstdio>
namespace shop { struct Cart { std::vector<std::string> items;
  __attribute__((noinline)) void add(const std::string &s) { items.push_back(s + "!"); } }; }
static inline int twice(int x) { return x + x; }
int main(int argc, char **) { shop::Cart c; for (int i = 0; i < argc; i++)
  c.add("thing" + std::to_string(twice(i))); printf("%zu\\n", c.items.size()); }
"""

VARIANTS = {
    "plain": ["c++", "-O2", "-g", "IN", "-o", "OUT"],
    "dwarf-4": ["c++", "-O2", "-gdwarf-4", "IN", "-o", "OUT"],
    "compressed": ["c++", "-O2", "-g", "-gz=zlib", "IN", "-o", "OUT"],
    "zdebug": ["c++", "-O2", "-g", "-gz=zlib-gnu", "IN", "-o", "OUT"],
    "clang": ["clang++-14", "-O2", "-g", "IN", "-o", "OUT"],
    "static": ["c++", "-O2", "-g", "-static", "IN", "-o", "OUT"],
    "symbols-alone": ["c++", "-O2", "IN", "-o", "OUT"],
    "stripped": ["c++", "-O2", "-s", "IN", "-o", "OUT"],
}


def run(*argv, stdin=None):
    done = subprocess.run([str(a) for a in argv], input=stdin, text=True, capture_output=True,
                          check=False, timeout=100)
    assert done.returncode == 0, f"{argv}: {done.stdout[-500:]} {done.stderr[-2000:]}"
    return done.stdout


def extract(program, out):
    return run(BUILD / "tests" / "debug_extract_run", program, out).strip()


@pytest.fixture(scope="module", params=[*VARIANTS, "library", "ourselves"])
def files(request, tmp_path_factory):
    """(program, extract, rank)"""
    where = tmp_path_factory.mktemp(request.param)
    if request.param == "library":
        program = Path(os.path.realpath(next(Path("/lib").glob("*-linux-gnu/libstdc++.so.6"))))
    elif request.param == "ourselves":
        program = BUILD / "services" / "agent" / "decima-agent"
    else:
        source, program = where / "shop.cc", where / "shop"
        source.write_text(SOURCE)
        run(*[{"IN": source, "OUT": program}.get(a, a) for a in VARIANTS[request.param]])
    return program, where / "extract", extract(program, where / "extract")


def sections(path):
    """{name: (type, address, size)}; -W prints each section on one line."""
    text = run("readelf", "-SW", path)
    rows = re.findall(r"\[ *\d+\] (\S+) +(\S+) +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", text)
    return {name: (kind, address, size) for name, kind, address, size in rows}


def random_addresses(program):
    """Random addresses of the program's code, the same in each run."""
    code = [(int(a, 16), int(s, 16)) for k, a, s in sections(program).values()
            if k == "PROGBITS" and int(a, 16)]
    name = [v for n, v in sections(program).items() if n == ".text"]
    code = [(int(a, 16), int(s, 16)) for _, a, s in name] or code
    chance = random.Random(7)
    return [hex(start + chance.randrange(size)) for start, size in
            chance.choices(code, weights=[s for _, s in code], k=ADDRESSES)]


def test_llvm_symbolizer_prints_the_same(files):
    program, out, rank = files
    stdin = "\n".join(random_addresses(program)) + "\n"

    before, after = (run("llvm-symbolizer", "--inlines", "--no-demangle", f"--obj={f}",
                         stdin=stdin) for f in (program, out))

    assert after == before
    if rank == "dwarf":
        assert before.count("??\n") < ADDRESSES


def test_eu_addr2line_prints_the_same(files):
    program, out, _ = files
    addresses = random_addresses(program)

    # the exit status is 1 if an address has no line
    before, after = (subprocess.run(["eu-addr2line", "-i", "-f", "-e", f, *addresses], text=True,
                                    capture_output=True, check=False).stdout
                     for f in (program, out))

    assert after == before and before.count("\n") >= 2 * ADDRESSES


def test_readelf_and_gdb_accept_the_extract(files):
    program, out, rank = files

    for argv in (["readelf", "-hlSsnrW"], ["eu-readelf", "-hlSsnr"]):
        done = subprocess.run([*argv, out], capture_output=True, text=True, check=False)
        complaints = [line for line in done.stderr.splitlines()
                      if "program interpreter" not in line and "PHDR segment" not in line]
        assert done.returncode == 0 and not complaints  # apart from the missing contents
    notes = [re.sub(" at offset .*", "", run("eu-readelf", "-n", f)) for f in (program, out)]
    assert notes[0] == notes[1]
    output = subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
                             "-ex", "info line main", out], capture_output=True, text=True,
                            check=False, timeout=100)
    assert "not in executable format" not in output.stderr
    if rank == "dwarf" and program.name == "shop":
        assert "shop.cc" in output.stdout


def test_only_the_contents_of_sections_are_removed(files):
    program, out, _ = files
    before, after = sections(program), sections(out)

    assert {n: v[1:] for n, v in before.items()} == {n: v[1:] for n, v in after.items()}
    assert after[".text"][0] == "NOBITS" and after[".rodata"][0] == "NOBITS"
    assert after[".eh_frame"][0] == "NOBITS"
    assert out.stat().st_size <= program.stat().st_size + 8192


def test_the_extract_of_a_program_without_symbols_is_small(files):
    program, out, rank = files

    if rank in ("dynsym", "nothing"):
        assert out.stat().st_size < program.stat().st_size


def test_the_extract_keeps_the_names_of_the_plt(tmp_path):
    """objdump reads foo@plt from .rela.plt, .dynsym and the code of .plt."""
    source, program, out = tmp_path / "a.c", tmp_path / "a", tmp_path / "out"
    source.write_text('#include <stdio.h>\nint main(void) { return puts("x"); }\n')
    run("cc", "-O2", "-o", program, source)
    extract(program, out)

    extracted = sections(out)

    assert extracted[".plt"][0] == "PROGBITS" and extracted[".rela.plt"][0] == "RELA"
    assert "puts" in run("readelf", "-rW", out)


def test_the_extract_of_a_go_program_keeps_its_line_table(tmp_path):
    source, program, out = tmp_path / "a.go", tmp_path / "a", tmp_path / "out"
    source.write_text("package main\nfunc main() { println(1) }\n")
    try:
        run("go", "build", "-ldflags=-s -w", "-o", program, source)
    except (FileNotFoundError, AssertionError):
        pytest.skip("there is no Go")

    assert extract(program, out) == "go"
    assert sections(out)[".gopclntab"][0] == "PROGBITS"
    assert out.stat().st_size < program.stat().st_size


def test_a_file_that_is_not_an_elf_file_is_an_error(tmp_path):
    for number, content in enumerate((b"", b"#!/bin/sh\n", b"\x7fELF" + b"\0" * 100)):
        file = tmp_path / str(number)
        file.write_bytes(content)
        done = subprocess.run([BUILD / "tests" / "debug_extract_run", file, tmp_path / "out"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 1 and done.stderr.count("\n") == 1
