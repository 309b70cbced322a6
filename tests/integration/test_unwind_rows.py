"""Tables of unwind rows, beside what readelf and llvm-dwarfdump say of the same files."""
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
    """A few of the places where they part, for who reads it."""
    lines = []
    for address, rule in sorted(set(expected) ^ set(found))[:10]:
        side = "ours" if (address, rule) in set(found) else "theirs"
        lines.append(f"{address:x} {side} {rule}")
    return "\n".join(lines)


def compare(path, tmp_path, figure, **how):
    built = oracle.run(CHECK, "build", path, tmp_path / "table").strip()
    found = oracle.table_rows(CHECK, tmp_path / "table")
    expected = oracle.rows_of(oracle.functions_of(path, **how))
    figure(f"{Path(path).name}: {built}; readelf has {len(expected[0])}")
    assert len(expected[0]) > 10
    assert found == expected, differences(expected[0], found[0])


@pytest.mark.parametrize("name", SMALL)
def test_every_row_is_what_readelf_says(name, tmp_path, figure):
    compare(file_of(name, SMALL), tmp_path, figure)


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_every_row_of_a_large_file_is_what_readelf_says(name, tmp_path, figure):
    compare(file_of(name, LARGE), tmp_path, figure)
