# SPDX-License-Identifier: Apache-2.0
"""symbol_oracles - the frames that other tools resolve for an address, and those of our table.

A frame is (name, file, line); a result is a tuple of frames, the innermost first. Names are linker
names without the suffixes of split-off function parts (`.cold`, `.part`), which DWARF does not
record. Files are paths without "." and "..". A value that a tool does not know is "" or 0.
"""
import bisect
import json
import os.path
import random
import re
import subprocess
from dataclasses import dataclass, field

SUFFIX = re.compile(r"(\.(cold|part|constprop|isra|lto_priv|localalias|llvm)(\.\d+)?)+$")
CODE = re.compile(r"^\s*\[\s*(\d+)\]\s+(\S+)\s+(\S+)\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s+"
                  r"[0-9a-f]+\s+(\S*)")


def run(*command, text=None, check=True):
    return subprocess.run([str(c) for c in command], input=text, capture_output=True, text=True,
                          check=check, errors="replace", timeout=600).stdout


def frame(name, path, line):
    name = "" if name == "??" else SUFFIX.sub("", name.partition("@")[0])
    path = "" if path in ("", "??") else os.path.normpath(path)
    return name, path, line


def llvm(path, addresses):
    """llvm-symbolizer: one JSON document per line."""
    output = run("llvm-symbolizer-14", "--no-demangle", "--inlines", "--output-style=JSON",
                 f"--obj={path}", text="".join(f"{a:#x}\n" for a in addresses))
    results = []
    for line in output.splitlines():
        entry, = [json.loads(line)] if line.startswith("{") else json.loads(line)
        frames = (frame(s["FunctionName"], s["FileName"], s["Line"]) for s in entry["Symbol"])
        results.append(tuple(f for f in frames if f != ("", "", 0)))
    assert len(results) == len(addresses)
    return results


def elfutils(path, addresses):
    """eu-addr2line: the address, then two lines for each frame: name, place. It exits with 1 if it
    cannot resolve an address."""
    lines = run("eu-addr2line", "-a", "-f", "-i", "-A", "-e", path, check=False,
                text="".join(f"{a:#x}\n" for a in addresses)).splitlines()
    results, frames = [], []
    at = 0
    while at < len(lines):
        if re.fullmatch(r"0x[0-9a-f]{8,}", lines[at]):
            frames = []
            results.append(frames)
            at += 1
            continue
        name, place = lines[at].partition(" inlined at ")[0], lines[at + 1].partition(" (")[0]
        match = re.fullmatch(r"(.*?):(\d+)(?::\d+)?", place)
        made = frame(name, match[1], int(match[2]))
        if made != ("", "", 0):
            frames.append(made)
        at += 2
    assert len(results) == len(addresses)
    return [tuple(a) for a in results]


def lines_of(check, table, addresses):
    """Our own table: unchanged lists of (name, file, line, start line, qualified name)."""
    output = run(check, "find", table, text="".join(f"{a:x}\n" for a in addresses))
    results = [[]]
    for line in output.split("\n")[:-1]:
        if line:
            name, path, number, start, qualified = line.split("\t")
            results[-1].append((name, path, int(number), int(start), qualified))
        else:
            results.append([])
    assert len(results) == len(addresses) + 1
    return results[:-1]


def ours(check, table, addresses):
    return [tuple(frame(*line[:3]) for line in lines)
            for lines in lines_of(check, table, addresses)]


def symbols_of(path):
    """(address, size, name, is local) of the functions that readelf lists."""
    for line in run("readelf", "-sW", path).splitlines():
        cells = line.split()
        if len(cells) >= 8 and cells[3] in ("FUNC", "IFUNC") and cells[6].isdigit():
            yield (int(cells[1], 16), int(cells[2], 0), cells[7].partition("@")[0],
                   cells[4] == "LOCAL")


def aliases_of(path):
    """{name: one name for all names of its address}. llvm-symbolizer takes the last one in the
    table, which has no order; we take the public one. Local functions of one name are not listed;
    versions of an exported one are."""
    addresses, first, parents = {}, {}, {}
    symbols = [symbol for symbol in symbols_of(path) if not SUFFIX.search(symbol[2])]
    for address, _, name, _ in symbols:
        addresses.setdefault(name, set()).add(address)

    def root(name):
        while parents.setdefault(name, name) != name:
            name = parents[name]
        return name

    for address, _, name, is_local in symbols:
        if not is_local or len(addresses[name]) == 1:
            parents[root(name)] = root(first.setdefault(address, name))
    return {name: root(name) for name in list(parents)}


def with_one_name(results, aliases):
    return [tuple((aliases.get(name, name), *rest) for name, *rest in frames)
            for frames in results]


def draw(path, count, seed):
    """Random addresses inside functions: each byte that a symbol covers is equally likely."""
    sections = [CODE.match(line) for line in run("readelf", "-SW", path).splitlines()]
    code = {int(m[1]) for m in sections if m and "X" in m[6] and m[2] == ".text"}
    spans = {}
    for line in run("readelf", "-sW", path).splitlines():
        cells = line.split()
        if len(cells) >= 8 and cells[3] == "FUNC" and cells[6].isdigit() and int(cells[6]) in code:
            size = int(cells[2], 0)
            if size:
                spans[int(cells[1], 16)] = size
    starts = sorted(spans)
    ends, total = [], 0
    for start in starts:
        total += spans[start]
        ends.append(total)
    chance = random.Random(seed)
    drawn = []
    for _ in range(count):
        at = chance.randrange(total)
        index = bisect.bisect_right(ends, at)
        drawn.append(starts[index] + at - (ends[index - 1] if index else 0))
    return drawn


@dataclass
class Comparison:
    """The results of our table that equal an oracle's result, and those that equal no oracle's."""
    path: str
    count: int = 0
    inlined: int = 0
    both: int = 0  # the oracles agree
    different: list = field(default_factory=list)

    def __str__(self):
        return (f"{os.path.basename(self.path)}: {self.count} addresses, {self.inlined} inlined, "
                f"oracles agree on {self.both}, different {len(self.different)}")

    def listing(self):
        return "\n".join(f"  {address:#x}\n    ours {our_result}\n    llvm {a}\n    elfutils {b}"
                         for address, our_result, a, b in self.different)


def compare(check, path, table, addresses):
    made, aliases = Comparison(str(path)), aliases_of(path)
    results = zip(addresses, *(with_one_name(found, aliases) for found in (
        ours(check, table, addresses), llvm(path, addresses), elfutils(path, addresses))),
        strict=True)
    for address, our_result, first, second in results:
        made.count += 1
        made.inlined += len(our_result) > 1
        made.both += first == second
        if our_result not in (first, second):
            made.different.append((address, our_result, first, second))
    return made
