# SPDX-License-Identifier: Apache-2.0
"""symbol_oracles - what other tools say of an address, beside what our table of names says.

A frame is (name, file, line); an answer is a tuple of frames, the innermost first. Names are the
linker's, without the suffixes of parts that the compiler cut off, which DWARF does not tell; files
are paths without "." and "..". What a tool does not know is "" and 0.
"""
import bisect
import json
import os.path
import random
import re
import subprocess
from dataclasses import dataclass, field

SUFFIX = re.compile(r"(\.(cold|part|constprop|isra|lto_priv|localalias)(\.\d+)?)+$")
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
    """llvm-symbolizer: one JSON document a line."""
    said = run("llvm-symbolizer-14", "--no-demangle", "--inlines", "--output-style=JSON",
               f"--obj={path}", text="".join(f"{a:#x}\n" for a in addresses))
    answers = []
    for line in said.splitlines():
        entry, = [json.loads(line)] if line.startswith("{") else json.loads(line)
        frames = (frame(s["FunctionName"], s["FileName"], s["Line"]) for s in entry["Symbol"])
        answers.append(tuple(f for f in frames if f != ("", "", 0)))
    assert len(answers) == len(addresses)
    return answers


def elfutils(path, addresses):
    """eu-addr2line: the address, then two lines of each frame: name, place. It exits with 1 when
    it knows nothing of one address."""
    lines = run("eu-addr2line", "-a", "-f", "-i", "-A", "-e", path, check=False,
                text="".join(f"{a:#x}\n" for a in addresses)).splitlines()
    answers, frames = [], []
    at = 0
    while at < len(lines):
        if re.fullmatch(r"0x[0-9a-f]{8,}", lines[at]):
            frames = []
            answers.append(frames)
            at += 1
            continue
        name, place = lines[at].partition(" inlined at ")[0], lines[at + 1].partition(" (")[0]
        match = re.fullmatch(r"(.*?):(\d+)(?::\d+)?", place)
        made = frame(name, match[1], int(match[2]))
        if made != ("", "", 0):
            frames.append(made)
        at += 2
    assert len(answers) == len(addresses)
    return [tuple(a) for a in answers]


def lines_of(check, table, addresses):
    """Our own table: lists of (name, file, line, start line, qualified name), as they are."""
    said = run(check, "find", table, text="".join(f"{a:x}\n" for a in addresses))
    answers = [[]]
    for line in said.split("\n")[:-1]:
        if line:
            name, path, number, start, qualified = line.split("\t")
            answers[-1].append((name, path, int(number), int(start), qualified))
        else:
            answers.append([])
    assert len(answers) == len(addresses) + 1
    return answers[:-1]


def ours(check, table, addresses):
    return [tuple(frame(*line[:3]) for line in lines)
            for lines in lines_of(check, table, addresses)]


def draw(path, count, seed):
    """Addresses inside functions of the code: each byte that a symbol covers is as likely."""
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
    """How many answers equal an oracle's, and those that equal none."""
    path: str
    count: int = 0
    inlined: int = 0
    both: int = 0  # the oracles say the same
    different: list = field(default_factory=list)

    def __str__(self):
        return (f"{os.path.basename(self.path)}: {self.count} addresses, {self.inlined} inlined, "
                f"oracles agree on {self.both}, different {len(self.different)}")

    def listing(self):
        return "\n".join(f"  {address:#x}\n    ours {mine}\n    llvm {a}\n    elfutils {b}"
                         for address, mine, a, b in self.different)


def compare(check, path, table, addresses):
    made = Comparison(str(path))
    answers = zip(addresses, ours(check, table, addresses), llvm(path, addresses),
                  elfutils(path, addresses), strict=True)
    for address, mine, first, second in answers:
        made.count += 1
        made.inlined += len(mine) > 1
        made.both += first == second
        if mine not in (first, second):
            made.different.append((address, mine, first, second))
    return made
