# SPDX-License-Identifier: Apache-2.0
"""Symbol tables, compared with other tools at the same addresses and with the source."""
import bisect
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

import symbol_oracles as oracles

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "programs"
CHECK = ROOT / "build" / "tests" / "symbol_check"
LIBSTDCXX = "/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.0.30"
SEED = 20
ALLOWED = 0.005  # of the results may differ from both oracles
PLAIN = ["-O2", "-fno-asynchronous-unwind-tables"]


def table_of(path, directory, alt=None, package=None):
    """Build the table of a file."""
    table = directory / (Path(path).name + ".table")
    oracles.run(CHECK, "build", path, table, alt or "-", *([package] if package else []))
    return table


def debug_file_of(path):
    """The debug file of a library, from Debian's debug package."""
    notes = oracles.run("readelf", "-n", path)
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
    return f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"


def libc():
    return debug_file_of("/lib/x86_64-linux-gnu/libc.so.6")


def agent():
    return ROOT / "build" / "services" / "agent" / "decima-agent"


def libstdcxx():
    return LIBSTDCXX


def cpp_program(tmp_path_factory, compiler, *options):
    """A program of many inlined templates, by that compiler."""
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    made = tmp_path_factory.mktemp("cpp") / "templates"
    oracles.run(compiler, "-O2", "-g", *options, "-std=c++17", "-c", PROGRAMS / "templates.cpp",
                "-o", f"{made}.o")
    oracles.run(compiler, f"{made}.o", "-o", made)
    return made


FILES = {"libc": libc, "libstdc++": libstdcxx, "agent": agent}
COMPILERS = ("g++", "clang++-14")


def agrees(path, tmp_path, figure, count):
    drawn = oracles.draw(path, count, SEED)
    compared = oracles.compare(CHECK, path, table_of(path, tmp_path), drawn)
    print(f"{compared}, seed {SEED}\n{compared.listing()}")
    figure(str(compared))
    assert compared.count == count
    assert compared.inlined > count / 100, "too few inlined addresses to compare"
    assert len(compared.different) <= ALLOWED * count


@pytest.mark.parametrize("name", FILES)
def test_functions_files_lines_and_inlining_equal_other_tools(name, tmp_path, figure):
    path = FILES[name]()
    if not Path(path).exists():
        pytest.skip(f"{path} is not here: its debug package is of another version")
    agrees(path, tmp_path, figure, 1000)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_templates_of_either_compiler_equal_other_tools(compiler, tmp_path_factory, tmp_path,
                                                        figure):
    agrees(cpp_program(tmp_path_factory, compiler), tmp_path, figure, 400)


@pytest.mark.long
@pytest.mark.parametrize("compiler", COMPILERS)
def test_thousands_of_addresses_of_templates_equal_other_tools(compiler, tmp_path_factory, tmp_path,
                                                               figure):
    agrees(cpp_program(tmp_path_factory, compiler), tmp_path, figure, 5000)


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_tens_of_thousands_of_addresses_equal_other_tools(name, tmp_path, figure):
    path = FILES[name]()
    if not Path(path).exists():
        pytest.skip(f"{path} is not here: its debug package is of another version")
    agrees(path, tmp_path, figure, 50_000)


def marks_of(*sources):
    """{mark: (file, line)} of the MARK(name) in the sources."""
    return {match[1]: (str(source), number)
            for source in sources
            for number, line in enumerate(source.read_text().splitlines(), 1)
            if (match := re.search(r"; MARK\((\w+)\)$", line))}


def code_of(path):
    """Every address of the program's own code, from readelf's sections."""
    found = set()
    for line in oracles.run("readelf", "-SW", path).splitlines():
        match = oracles.CODE.match(line)
        if match and match[2] == ".text":
            found.update(range(int(match[4], 16), int(match[4], 16) + int(match[5], 16)))
    return sorted(found)


def chains_of(path, tmp_path, alt=None, package=None):
    """{(file, line) of the innermost: {chains of (name, line)}} over every address of the code."""
    found = {}
    table = table_of(path, tmp_path, alt, package)
    for lines in oracles.lines_of(CHECK, table, code_of(path)):
        if lines:
            _, path_of_line, line, *_ = lines[0]
            chain = tuple((oracles.SUFFIX.sub("", name), number) for name, _, number, *_ in lines)
            found.setdefault((path_of_line, line), set()).add(chain)
    return found


def expected_of_c(marks):
    """{mark: {chains of (function, line), innermost first}}, with the lines of the calls."""
    line = {name: number for name, (_, number) in marks.items()}
    calls = {("innermost", line["innermost"], "middle", line["middle"], "outer", line["outer"]),
             ("innermost", line["innermost"], "outer", line["outer_again"])}
    return {
        "same_name": {("same_name", line["same_name"])},
        "other_same_name": {("same_name", line["other_same_name"])},
        "other_entry": {("other_entry", line["other_entry"])},
        "innermost": calls,
        "middle_itself": {("middle", line["middle_itself"], "outer", line["outer"])},
        "outer_itself": {("outer", line["outer_itself"])},
    }


def assert_chains_of_the_source(path, tmp_path, marks, expected, alt=None, package=None):
    chains = chains_of(path, tmp_path, alt, package)
    for mark, wanted in expected.items():
        ours = {tuple(cell for pair in chain for cell in pair) for chain in chains[marks[mark]]}
        assert ours == wanted, mark


def compile_c(directory, *options, compiler="gcc"):
    made = directory / "inlined"
    oracles.run(compiler, *PLAIN, *options, PROGRAMS / "inlined.c", PROGRAMS / "inlined_other.c",
                "-o", made)
    return made


FORMS = {
    "dwarf 2": ["-gdwarf-2"],
    "dwarf 3": ["-gdwarf-3"],
    "dwarf 4": ["-gdwarf-4"],
    "dwarf 5": ["-gdwarf-5"],
    "dwarf 5 of 64 bits": ["-gdwarf-5", "-gdwarf64"],
    "zlib": ["-g", "-gz=zlib"],
    "zlib of old": ["-gdwarf-4", "-gz=zlib-gnu"],
    "sections of their own": ["-g", "-ffunction-sections", "-Wl,--gc-sections"],
    "one unit of all": ["-g", "-flto", "-fno-ipa-cp"],
    "another place in memory": ["-g", "-no-pie", "-Wl,-Ttext-segment=0x7f000000"],
}


@pytest.fixture(scope="module")
def c_marks():
    return marks_of(PROGRAMS / "inlined.c", PROGRAMS / "inlined_other.c")


@pytest.mark.parametrize(("form", "compiler"), [
    (form, compiler) for form in FORMS for compiler in ("gcc", "clang-14")
    if compiler == "gcc" or form not in ("one unit of all", "zlib of old")])
def test_each_line_has_the_functions_of_its_source(form, compiler, tmp_path, c_marks):
    options = [o for o in FORMS[form] if compiler == "gcc" or o != "-fno-ipa-cp"]
    path = compile_c(tmp_path, *options, compiler=compiler)
    assert_chains_of_the_source(path, tmp_path, c_marks, expected_of_c(c_marks))


def test_sections_compressed_with_zstd_are_read(tmp_path, c_marks):
    path = compile_c(tmp_path, "-g")
    packed = tmp_path / "packed"
    oracles.run("objcopy", "--compress-debug-sections=zstd", path, packed)
    assert re.search(r"ZSTD", oracles.run("readelf", "-t", packed))
    assert_chains_of_the_source(packed, tmp_path, c_marks, expected_of_c(c_marks))


def test_a_separate_debug_file_has_the_same_result(tmp_path, c_marks):
    path = compile_c(tmp_path, "-g")
    oracles.run("objcopy", "--only-keep-debug", path, tmp_path / "debug")
    assert_chains_of_the_source(tmp_path / "debug", tmp_path, c_marks, expected_of_c(c_marks))


def test_entries_that_dwz_moved_to_a_common_file_are_found_there(tmp_path, c_marks):
    if not shutil.which("dwz"):
        pytest.skip("there is no dwz")
    first, second = compile_c(tmp_path, "-g"), tmp_path / "second"
    shutil.copy(first, second)
    subprocess.run(["dwz", "-m", "common", "-M", "/nowhere/common", first, second], cwd=tmp_path,
                   check=True)
    assert ".gnu_debugaltlink" in oracles.run("readelf", "-SW", first)
    assert_chains_of_the_source(first, tmp_path, c_marks, expected_of_c(c_marks),
                              alt=tmp_path / "common")
    # Without the common file functions are missing, and no function is wrong.
    names = {name for chains in chains_of(first, tmp_path).values() for chain in chains
             for name, _ in chain}
    assert names <= {"innermost", "middle", "outer", "same_name", "other_entry", "main", "_start",
                     *symbols_of(first)}


def symbols_of(path):
    return {line.split()[-1] for line in oracles.run("nm", path).splitlines()}


def test_a_program_without_dwarf_has_the_functions_of_its_symbols(tmp_path):
    path = compile_c(tmp_path, "-g0")
    for chains in chains_of(path, tmp_path).values():
        for chain in chains:
            assert len(chain) == 1 and chain[0][0] in symbols_of(path) and chain[0][1] == 0


def test_a_stripped_program_has_the_functions_of_its_minidebuginfo(tmp_path):
    """As in gdb's documentation: a small compressed file with the symbols that .dynsym lacks."""
    path = compile_c(tmp_path, "-g", "-rdynamic")
    debug, mini = tmp_path / "debug", tmp_path / "mini"
    names = symbols_of(path)
    oracles.run("objcopy", "--only-keep-debug", path, debug)
    oracles.run("objcopy", "-S", "--remove-section=.gdb_index", "--remove-section=.comment",
                "--keep-symbol=same_name", debug, mini)
    oracles.run("strip", "--strip-all", "-R", ".comment", path)
    assert "same_name" not in symbols_of(path)
    oracles.run("xz", mini)
    oracles.run("objcopy", "--add-section", f".gnu_debugdata={mini}.xz", path)
    found = {name for chains in chains_of(path, tmp_path).values() for chain in chains
            for name, _ in chain}
    assert {"same_name", "outer", "main", "other_entry"} <= found <= names


def with_dwarf(directory, abbrevs, units):
    """A program with these bytes as its DWARF."""
    path = compile_c(directory, "-g0")
    (directory / "abbrevs").write_bytes(abbrevs)
    (directory / "info").write_bytes(units)
    oracles.run("objcopy", "--add-section", f".debug_abbrev={directory / 'abbrevs'}",
                "--add-section", f".debug_info={directory / 'info'}", path)
    return path


def unit_of(entries):
    """A unit of version 5 with these entries."""
    body = struct.pack("<HBBI", 5, 1, 8, 0) + entries
    return struct.pack("<I", len(body)) + body


def test_entries_inside_entries_without_end_are_read_once(tmp_path):
    """2,000,000 levels: slow if a reader skips the children of each to find its sibling."""
    depth = 2_000_000
    shapes = bytes([1, 0x11, 1, 0, 0, 2, 0x0b, 1, 0, 0, 0])
    path = with_dwarf(tmp_path, shapes, unit_of(b"\1" + b"\2" * depth + b"\0" * (depth + 1)))
    outer = re.search(r"([0-9a-f]+) T outer", oracles.run("nm", path))[1]
    found = oracles.run(CHECK, "find", table_of(path, tmp_path), text=f"{outer}\n")
    assert found.startswith("outer\t")


def test_the_number_of_parsing_steps_has_a_limit(tmp_path):
    """Entries of one byte, each with 1,000 attributes of no bytes."""
    shapes = b"\x01\x11\x01\0\0" + b"\x02\x2e\0" + b"\x3a\x19" * 1000 + b"\0\0" + b"\0"
    path = with_dwarf(tmp_path, shapes, unit_of(b"\1" + b"\2" * 4_000_000 + b"\0"))
    done = subprocess.run([CHECK, "build", path, tmp_path / "table"], capture_output=True,
                             text=True, check=False)
    assert done.returncode == 1
    assert re.search("more than [0-9]+ steps", done.stderr)


CALLED = ("abs atoi bsearch calloc clock close dup exp fclose fflush fopen fputs free getenv "
          "getpid isatty lseek malloc memcpy memset open pipe printf puts qsort read realloc sleep "
          "strlen strtol system time unlink write").split()


@pytest.mark.parametrize("options", [[], ["-Wl,-z,ibtplt"], ["-Wl,-z,lazy"], ["-fuse-ld=gold"],
                                     ["-no-pie", "-Wl,-z,now"]])
def test_stubs_of_other_libraries_have_the_names_of_objdump(options, tmp_path):
    source, path = tmp_path / "stubs.c", tmp_path / "stubs"
    source.write_text("".join(f"int {name}();\n" for name in CALLED) + "int main(void)\n{\n"
                      + "".join(f"\t{name}();\n" for name in CALLED) + "}\n")
    oracles.run("gcc", "-O1", "-w", "-fno-builtin", *options, source, "-o", path, "-lm")
    stubs = {}
    for section in (".plt", ".plt.sec", ".plt.got"):
        code = oracles.run("objdump", "-d", "-j", section, path, check=False)
        stubs.update((int(address, 16), re.sub("@.*@", "@", name)) for address, name
                     in re.findall(r"^([0-9a-f]+) <([^>]*@plt)>:", code, re.MULTILINE))
    lazy = {address for address, name in stubs.items() if address in lazy_of(path)}
    addresses = sorted(set(stubs) - lazy)
    results = oracles.lines_of(CHECK, table_of(path, tmp_path), addresses)
    assert len(addresses) > 20
    assert {a: lines[0][0] if lines else "" for a, lines in zip(addresses, results)} == \
        {a: stubs[a] for a in addresses}


def lazy_of(path):
    """Stubs of .plt when there is a .plt.sec: they push a number and jump to the linker."""
    sections = oracles.run("readelf", "-SW", path)
    if ".plt.sec" not in sections:
        return set()
    found = re.search(r"\.plt +PROGBITS +([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+)", sections)
    start, size = (int(word, 16) for word in found.groups())
    return range(start, start + size)


GO = shutil.which("go") or "/usr/local/go/bin/go"
GO_OLD = "/usr/lib/go-1.19/bin/go"  # the table of Go 1.18 and 1.19
GO_SOURCE = """package main

import "C"

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"sort"
)

func main() {
	sort.Strings(os.Args)
	out, _ := json.Marshal(regexp.MustCompile("a+").FindAllString(fmt.Sprint(os.Args), -1))
	fmt.Println(string(out))
}
"""
EXTRACT = ROOT / "build" / "tests" / "debug_extract_run"
GO_PROGRAMS = [(GO, "exe", "internal"), (GO, "exe", "external"), (GO, "pie", "external"),
               (GO_OLD, "exe", "external"), (GO_OLD, "pie", "external"),
               *(pytest.param(go, mode, "internal", marks=pytest.mark.long)
                 for go, mode in ((GO, "pie"), (GO_OLD, "exe"), (GO_OLD, "pie")))]
GENERATED = re.compile("autogen|^$")


def go_program(go, directory, mode, linker, *flags):
    """A program of Go with cgo, linked by Go's linker or by that of C."""
    (directory / "main.go").write_text(GO_SOURCE)
    made = directory / "-".join(["prog", *flags])
    subprocess.run([go, "build", f"-buildmode={mode}",
                    f"-ldflags=-linkmode={linker} {' '.join(flags)}", "-o", made, "main.go"],
                   cwd=directory, check=True, env={**os.environ, "GO111MODULE": "off"})
    return made


def go_names(results):
    """The linker's symbols of assembly have a suffix that no tool of Go shows; and a file without a
    line is a placeholder of the linker."""
    return [tuple((name.removesuffix(".abi0"), path if line else "", line)
                  for name, path, line in frames) for frames in results]


def of_go(frames):
    return all(not GENERATED.search(path) and not path.endswith(".c") for _, path, _ in frames)


@pytest.mark.parametrize(("go", "mode", "linker"), GO_PROGRAMS)
def test_a_stripped_go_program_has_the_result_of_its_dwarf(go, mode, linker, tmp_path, figure):
    """What an agent uploads of a stripped program, compared with DWARF of the same code."""
    whole = go_program(go, tmp_path, mode, linker)
    bare = go_program(go, tmp_path, mode, linker, "-s", "-w")
    oracles.run(EXTRACT, bare, tmp_path / "extract")
    drawn = oracles.draw(whole, 3000, SEED)
    expected = go_names(oracles.llvm(whole, drawn))
    found = oracles.ours(CHECK, table_of(tmp_path / "extract", tmp_path), drawn)
    pairs = [pair for pair in zip(expected, found) if pair[0] and of_go(pair[0])]
    different = [pair for pair in pairs if pair[0] != pair[1] and of_go(pair[1])]
    wrong = [pair for pair in different if pair[1] and pair[0][-1][0] != pair[1][-1][0]]
    inlined = sum(len(bare) > 1 for _, bare in pairs)
    figure(f"{go}, {mode}, {linker}: {len(pairs)} addresses, {inlined} inlined, wrong functions "
           f"{len(wrong)}, different {len(different)}, without a name "
           f"{sum(not bare for _, bare in pairs)}")
    print(*different[:9], sep="\n")
    assert len(pairs) > 0.9 * len(drawn)
    assert inlined > 0.1 * len(pairs)
    assert not [pair for pair in pairs if not pair[1]]
    assert len(different) <= 0.001 * len(pairs), different[:5]


def test_a_go_program_without_moduledata_has_no_names(tmp_path):
    """What agents uploaded before: the table, without the base of its addresses."""
    whole = go_program(GO, tmp_path, "exe", "external")
    bare = go_program(GO, tmp_path, "exe", "external", "-s", "-w")
    oracles.run("objcopy", "--remove-section=.go.module", bare, tmp_path / "cut")
    drawn = oracles.draw(whole, 1000, SEED)
    names = {frame[0] for frames in oracles.ours(CHECK, table_of(tmp_path / "cut", tmp_path), drawn)
             for frame in frames}
    assert not any("." in name for name in names), names


@pytest.mark.parametrize("compiler, closure", [("g++", "UliE_"), ("clang++-14", "3$_0")])
def test_functions_of_cpp_have_the_linkers_names(compiler, closure, tmp_path):
    source, path = PROGRAMS / "inlined.cpp", tmp_path / "inlined"
    marks = marks_of(source)
    line = {name: number for name, (_, number) in marks.items()}
    square = "NK6shapes6SquareIiE"
    expected = {
        "area": {(f"_Z{square}4areaEv", line["area"], f"_Z{square}plERKS1_", line["plus"])},
        "plus_itself": {(f"_Z{square}plERKS1_", line["plus_itself"])},
        "hidden": {("_ZN6shapes12_GLOBAL__N_16hiddenEi", line["hidden"])},
        "twice": {(f"_Z5twiceIZ5entryiE{closure}EiT_", line["twice"])},
        "entry": {("_Z5entryi", line["entry"])},
    }
    oracles.run(compiler, *PLAIN, "-g", source, "-o", path)
    assert_chains_of_the_source(path, tmp_path, marks, expected)


def shown_at(path, tmp_path, mark, alt=None):
    """The displayed names of a line's innermost function, without parameters."""
    shown = set()
    for lines in oracles.lines_of(CHECK, table_of(path, tmp_path, alt), code_of(path)):
        if lines and tuple(lines[0][1:3]) == mark:
            system_name, *_, qualified = lines[0]
            shown.add(qualified or oracles.run("c++filt", system_name).strip())
    return {re.sub(r"\(int\)", "", name) for name in shown}


HIDDEN = "app::(anonymous namespace)"
SHOWN = {
    "in_unnamed": f"{HIDDEN}::unnamed",
    "constructor": f"{HIDDEN}::Hidden::Hidden",
    "in_class": f"{HIDDEN}::Hidden::fixed",
    "in_inner_class": f"{HIDDEN}::Hidden::Inner::deep",
    "in_local_class": "app::run::Local::step",
    "hidden": "shapes::(anonymous namespace)::hidden",
}


@pytest.mark.parametrize(("compiler", "options"), [
    ("g++", "-g"), ("g++", "-g -gdwarf-4"), ("g++", "-g -flto"),
    ("clang++-14", "-g"), ("clang++-14", "-g -gdwarf-4")])
def test_functions_without_a_linker_name_have_their_scope(compiler, options, tmp_path):
    source, path = PROGRAMS / "inlined.cpp", tmp_path / "inlined"
    marks = marks_of(source)
    oracles.run(compiler, *PLAIN, *options.split(), source, "-o", path)
    for mark, wanted in SHOWN.items():
        assert shown_at(path, tmp_path, marks[mark]) == {wanted}, mark


def test_functions_without_a_linker_name_are_found_in_the_file_of_dwz(tmp_path):
    if not shutil.which("dwz"):
        pytest.skip("there is no dwz")
    source, first, second = PROGRAMS / "inlined.cpp", tmp_path / "first", tmp_path / "second"
    marks = marks_of(source)
    oracles.run("g++", *PLAIN, "-g", source, "-o", first)
    shutil.copy(first, second)
    subprocess.run(["dwz", "-m", "common", "-M", "/nowhere/common", first, second], cwd=tmp_path,
                   check=True)
    for mark, wanted in SHOWN.items():
        assert shown_at(first, tmp_path, marks[mark], alt=tmp_path / "common") == {wanted}, mark


@pytest.mark.parametrize("compiler", ["gcc", "clang-14"])
def test_functions_of_c_have_no_scope(compiler, tmp_path):
    path = compile_c(tmp_path, "-g", compiler=compiler)
    found = [line for lines in oracles.lines_of(CHECK, table_of(path, tmp_path), code_of(path))
            for line in lines]
    assert "innermost" in {line[0] for line in found}
    assert {line[4] for line in found} == {""}


MUSL = Path("/usr/lib/x86_64-linux-musl/libc.a")


def test_functions_without_a_size_end_where_their_code_does(tmp_path, figure):
    """musl's functions in assembly have no size, and .dynsym lacks the hidden ones, such as
    __clone, the root of every thread. The truth is .symtab, which has all of them."""
    whole, bare, cut = tmp_path / "whole.so", tmp_path / "bare.so", tmp_path / "extract"
    oracles.run("ld", "-shared", "--whole-archive", MUSL, "-o", whole)
    oracles.run("strip", "-o", bare, whole)
    oracles.run(EXTRACT, bare, cut)
    symbols = sorted(symbol[:3] for symbol in oracles.symbols_of(whole))
    aliases = {}
    for address, _, name in symbols:
        aliases.setdefault(address, set()).add(name)
    starts = sorted(aliases)
    sizes = {address: size for address, size, _ in symbols}
    exported = {address for address, size, *_ in oracles.symbols_of(bare) if size == 0}
    addresses = code_of(whole)
    found = oracles.lines_of(CHECK, table_of(cut, tmp_path), addresses)
    named = wrong = covered = 0
    for address, lines in zip(addresses, found):
        at = bisect.bisect_right(starts, address) - 1
        truth = starts[at] if at >= 0 else 0
        if sizes.get(truth, 0):
            continue
        covered += truth in exported
        named += truth in exported and bool(lines)
        wrong += bool(lines) and lines[0][0] not in aliases.get(truth, ())
    hidden = starts[[n for n, a in enumerate(starts) if "__clone" in aliases[a]][0]]
    assert hidden not in exported
    figure(f"{len(exported)} exported functions without a size, {covered} bytes: {named} with a "
           f"name; wrong in all code without a size: {wrong}")
    assert len(exported) > 20
    assert wrong == 0
    assert named > 0.8 * covered


def test_an_exported_function_has_its_public_name(tmp_path):
    """As recvmsg of libc, whose definition is __libc_recvmsg; the library's own calls are of a
    third name."""
    source, path = tmp_path / "lib.c", tmp_path / "lib.so"
    source.write_text("""\
int __lib_work(int x)
{
	return x * 3;
}
extern __typeof(__lib_work) work __attribute__((weak, alias("__lib_work")));
extern __typeof(__lib_work) __GI___lib_work
	__attribute__((visibility("hidden"), alias("__lib_work")));
__attribute__((visibility("hidden"))) int inner_work(int x) __asm__("__GI_inner_work");
int inner_work(int x)
{
	return x * 5;
}
extern __typeof(inner_work) inner __attribute__((visibility("hidden"), alias("__GI_inner_work")));
""")
    oracles.run("gcc", *PLAIN, "-g", "-shared", "-fPIC", source, "-o", path)
    names = {lines[0][0] for lines in oracles.lines_of(CHECK, table_of(path, tmp_path),
                                                       code_of(path)) if lines}
    assert {"work", "inner"} <= names
    assert not names & {"__lib_work", "__GI___lib_work", "__GI_inner_work"}
    oracles.run("strip", "-g", path)
    names = {lines[0][0] for lines in oracles.lines_of(CHECK, table_of(path, tmp_path),
                                                       code_of(path)) if lines}
    assert {"work", "inner"} <= names
    assert not names & {"__lib_work", "__GI___lib_work", "__GI_inner_work"}


def test_the_parts_of_a_coroutine_have_names_of_their_own(tmp_path):
    """clang gives them one name in DWARF; gcc gives them names of their own."""
    source, path = tmp_path / "coroutine.cc", tmp_path / "coroutine"
    source.write_text("""\
#include <coroutine>
struct task {
	struct promise_type {
		task get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};
volatile int sink;
task count(int n)
{
	for (int i = 0; i < n; i++) {
		sink = sink + i;
		co_await std::suspend_always{};
	}
}
task (*volatile start)(int) = count;
int main()
{
	task made = start(9);
	while (!made.handle.done())
		made.handle.resume();
	made.handle.destroy();
}
""")
    oracles.run("clang++-14", "-std=c++20", "-stdlib=libstdc++", "-D__cpp_impl_coroutine=1", "-O1",
                "-g", source, "-o", path)
    names = {lines[-1][0] for lines in oracles.lines_of(CHECK, table_of(path, tmp_path),
                                                        code_of(path)) if lines}
    assert {"_Z5counti", "_Z5counti.resume", "_Z5counti.destroy"} <= names


def test_an_object_file_before_linking_is_rejected(tmp_path):
    path = tmp_path / "inlined.o"
    oracles.run("gcc", *PLAIN, "-g", "-c", PROGRAMS / "inlined.c", "-o", path)
    done = subprocess.run([CHECK, "build", path, tmp_path / "table"], capture_output=True,
                             text=True, check=False)
    assert done.returncode == 1
    assert "yet to be linked" in done.stderr
