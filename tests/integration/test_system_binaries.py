# SPDX-License-Identifier: Apache-2.0
"""Random addresses of large binaries: the whole inline chain equals llvm-symbolizer's."""
import shutil
import subprocess
from pathlib import Path

import pytest

import symbol_oracles as oracles
from test_symbols import (CHECK, GO, GO_OLD, LIBSTDCXX, go_names, go_program, libc, table_of)

SEED = 41
ALLOWED = 0.0005  # of the addresses may differ
RUST = """\
use std::collections::HashMap;
fn main() {
    let mut found: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, text) in std::env::args().enumerate() {
        found.entry(text.to_uppercase()).or_default().push(i);
    }
    let mut lines: Vec<_> = found.iter().map(|(k, v)| format!("{k}:{v:?}")).collect();
    lines.sort();
    println!("{}", lines.join(","));
}
"""


def the_only(pattern):
    """The installed file of that pattern."""
    return sorted(Path("/").glob(pattern))[-1]


def rust(directory):
    (directory / "main.rs").write_text(RUST)
    subprocess.run(["rustc", "-O", "-g", "main.rs", "-o", "main"], cwd=directory, check=True)
    return directory / "main"


def node(_):
    return Path(shutil.which("node")).resolve()


BINARIES = {
    "libc": lambda _: libc(),
    "libstdc++": lambda _: LIBSTDCXX,
    "libcrypto": lambda _: the_only("usr/lib/*-linux-gnu/libcrypto.so.3"),
    "libpython": lambda _: the_only("usr/lib/*-linux-gnu/libpython3.*.so.1.0"),
    "postgres": lambda _: the_only("usr/lib/postgresql/*/bin/postgres"),
    "node": node,
    "libjvm": lambda _: the_only("usr/lib/jvm/*/lib/server/libjvm.so"),
    "rust": rust,
    "go, cgo": lambda directory: go_program(GO, directory, "exe", "external"),
    "go, pie": lambda directory: go_program(GO, directory, "pie", "external"),
    "go 1.19": lambda directory: go_program(GO_OLD, directory, "exe", "internal"),
}


def compare(name, tmp_path, figure, count):
    path = BINARIES[name](tmp_path)
    drawn, aliases = oracles.draw(path, count, SEED), oracles.aliases_of(path)
    ours, llvm = (go_names(oracles.with_one_name(found, aliases)) for found in (
        oracles.ours(CHECK, table_of(path, tmp_path), drawn), oracles.llvm(path, drawn)))
    different = [row for row in zip(drawn, ours, llvm) if row[1] != row[2]]
    figure(f"{name}: {count} addresses, {sum(len(frames) > 1 for frames in llvm)} inlined, "
           f"different {len(different)}")
    for address, our_frames, frames in different:
        print(f"{address:#x}\n    ours {our_frames}\n    llvm {frames}")
    assert sum(bool(frames) for frames in llvm) > 0.99 * count
    assert len(different) <= ALLOWED * count


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.long) if name.startswith("go") else name
    for name in BINARIES])
def test_a_thousand_addresses_have_the_chains_of_llvm_symbolizer(name, tmp_path, figure):
    compare(name, tmp_path, figure, 1000)


@pytest.mark.long
@pytest.mark.parametrize("name", BINARIES)
def test_ten_thousand_addresses_have_the_chains_of_llvm_symbolizer(name, tmp_path, figure):
    compare(name, tmp_path, figure, 10_000)
