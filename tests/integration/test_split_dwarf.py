# SPDX-License-Identifier: Apache-2.0
"""Split DWARF (-gsplit-dwarf): a table built with the package equals that of an unsplit build."""
import re
import struct
import subprocess
from pathlib import Path

import pytest

import symbol_oracles as oracles
from test_symbols import (CHECK, PLAIN, PROGRAMS, ROOT, assert_chains_of_the_source, code_of,
                          cpp_program, expected_of_c, marks_of, table_of, with_dwarf)

# dwp of binutils 2.40 ends with a fault on DWARF 5, and llvm-dwp 14 does not end on gcc's DWARF 5
# of several units.
SPLIT = [("gcc", 4, "dwp"), ("clang-14", 5, "llvm-dwp-14"),
         pytest.param("gcc", 5, "llvm-dwp-14", marks=pytest.mark.long)]


def package_of(path, tool):
    """Join the .dwo files of a program, which were written beside it, as a build does."""
    package = Path(f"{path}.dwp")
    oracles.run(tool, *path.parent.glob("*.dwo"), "-o", package)
    return package


@pytest.fixture(scope="module")
def c_marks():
    return marks_of(PROGRAMS / "inlined.c", PROGRAMS / "inlined_other.c")


@pytest.mark.parametrize(("compiler", "version", "tool"), SPLIT)
def test_every_address_of_a_split_build_equals_the_unsplit_build(compiler, version, tool,
                                                                  tmp_path_factory, figure):
    plus = compiler.replace("gcc", "g++").replace("clang", "clang++")
    form = f"-gdwarf-{version}"
    whole = cpp_program(tmp_path_factory, plus, form)
    split = cpp_program(tmp_path_factory, plus, form, "-gsplit-dwarf")
    package = package_of(split, tool)
    addresses = code_of(whole)
    assert addresses == code_of(split)
    expected = oracles.lines_of(CHECK, table_of(whole, whole.parent), addresses)
    found = oracles.lines_of(CHECK, table_of(split, split.parent, package=package), addresses)
    bare = oracles.lines_of(CHECK, table_of(split, split.parent), addresses)
    inlined = sum(len(lines) > 1 for lines in found)
    figure(f"{compiler} DWARF {version} {tool}: {len(addresses)} addresses, {inlined} inlined")
    assert found == expected
    assert inlined > len(addresses) / 2
    assert not any(len(lines) > 1 for lines in bare)
    # Without the package a line may be that of an inlined call: none is shown.
    assert sum(bool(lines) for lines in bare) > 0.9 * len(addresses)
    assert not any(number for lines in bare for _, _, number, *_ in lines)


@pytest.mark.parametrize(("compiler", "version", "tool"),
                         [("gcc", 4, "dwp"), ("clang-14", 4, "dwp"), ("clang-14", 4, "llvm-dwp-14"),
                          ("clang-14", 5, "llvm-dwp-14")])
def test_each_split_unit_of_several_is_found_in_the_package(compiler, version, tool, tmp_path,
                                                            c_marks):
    for source in ("inlined", "inlined_other"):
        oracles.run(compiler, *PLAIN, f"-gdwarf-{version}", "-gsplit-dwarf", "-c",
                    PROGRAMS / f"{source}.c", "-o", tmp_path / f"{source}.o")
    path = tmp_path / "inlined"
    oracles.run(compiler, *tmp_path.glob("*.o"), "-o", path)
    assert_chains_of_the_source(path, tmp_path, c_marks, expected_of_c(c_marks),
                                package=package_of(path, tool))


def test_the_documented_commands_add_a_package_to_its_debug_file(tmp_path_factory):
    split = cpp_program(tmp_path_factory, "clang++-14", "-gdwarf-5", "-gsplit-dwarf")
    package = package_of(split, "llvm-dwp-14")
    addresses = code_of(split)
    expected = oracles.lines_of(CHECK, table_of(split, split.parent, package=package), addresses)
    page = (ROOT / "docs" / "api.md").read_text()
    commands = re.search(r"^    for s in .*?^    done$", page, re.MULTILINE | re.DOTALL)[0]
    merged = split.parent / "prog.debug"
    oracles.run("objcopy", "--only-keep-debug", split, merged)
    package.rename(split.parent / "prog.dwp")
    subprocess.run(["bash", "-ec", commands], cwd=split.parent, check=True)
    found = oracles.lines_of(CHECK, table_of(merged, split.parent), addresses)
    assert found == expected
    assert sum(len(lines) > 1 for lines in found) > len(addresses) / 2


def test_skeletons_that_share_one_split_unit_meet_the_limit_of_steps(tmp_path):
    """200,000 skeletons of 20 bytes for one unit of 4 MB: 80 GB of entries."""
    ident, entries = 0x0123456789ABCDEF, b"\1" + b"\2" * 4_000_000
    shapes = b"\x01\x11\x01\0\0" + b"\x02\x0b\0\0\0" + b"\0"
    skeleton_shapes = b"\x01\x4a\0" + b"\x76\x08" + b"\0\0" + b"\0"  # DW_AT_dwo_name
    body = struct.pack("<HBBIQ", 5, 4, 8, 0, ident) + b"\1x\0"
    path = with_dwarf(tmp_path, skeleton_shapes,
                      (struct.pack("<I", len(body)) + body) * 200_000)
    unit = struct.pack("<HBBIQ", 5, 5, 8, 0, ident) + entries
    unit = struct.pack("<I", len(unit)) + unit
    index = (struct.pack("<4I", 5, 2, 1, 2) + struct.pack("<QQII", 0, ident, 0, 1)
             + struct.pack("<2I", 1, 3) + struct.pack("<2I", 0, 0)
             + struct.pack("<2I", len(unit), len(shapes)))
    added = []
    for name, data in (("info.dwo", unit), ("abbrev.dwo", shapes), ("cu_index", index)):
        (tmp_path / name).write_bytes(data)
        added += ["--add-section", f".debug_{name}={tmp_path / name}"]
    oracles.run("objcopy", *added, path)
    done = subprocess.run([CHECK, "build", path, tmp_path / "table"], capture_output=True,
                          text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert re.search("more than [0-9]+ steps", done.stderr)
