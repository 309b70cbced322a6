# SPDX-License-Identifier: Apache-2.0
"""symbols_of - the symbols of addresses, from nm and the installed debug files."""
import bisect
import functools
import re
import subprocess
from pathlib import Path


def debug_file(path):
    """The file with the symbols of a stripped file, or the file itself."""
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=False)
    found = re.search(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)", notes.stdout)
    debug = Path(f"/usr/lib/debug/.build-id/{found[1]}/{found[2]}.debug") if found else None
    return debug if debug and debug.exists() else path


@functools.lru_cache(maxsize=None)
def table(path):
    """([address], [name]), sorted by address."""
    symbols = {}
    for options, file in ((["-D"], path), ([], path), ([], debug_file(path))):
        text = subprocess.run(["nm", *options, "--defined-only", file], capture_output=True,
                              text=True, check=False).stdout
        for at, name in re.findall(r"^([0-9a-f]+) [TtWwiV] (\S+)$", text, re.MULTILINE):
            symbols.setdefault(int(at, 16), name)
    addresses = sorted(symbols)
    return addresses, [symbols[at].partition("@")[0] for at in addresses]


@functools.lru_cache(maxsize=None)
def name(path, address):
    """The name of the last symbol at or before an address of the file; without one, [file]."""
    if not path:
        return "?"
    if not path.startswith("/") or not Path(path).exists():
        return f"[{path}]"
    addresses, names = table(path)
    at = bisect.bisect_right(addresses, address) - 1
    return names[at] if at >= 0 else f"[{Path(path).name}]"
