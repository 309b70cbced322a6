# SPDX-License-Identifier: Apache-2.0
"""outcome - what the checks left behind on one kernel, read."""
import gzip
import json
import re
import subprocess
from collections import Counter

HERTZ = 19
PERIOD = 10**9 // HERTZ


class Outcome:
    """samples: [(labels, [(path, address, function), ... root first], ticks)]"""

    def __init__(self, name, out, programs, protos, emulated):
        self.name, self.out, self.programs, self.emulated = name, out, programs, emulated
        self.release = self.text("release").strip()
        self.status = int(self.text("status"))
        self.samples = [sample for path in sorted((out / "profiles").glob("*.pb.gz"))
                        for sample in read(protos.pprof.Profile, path)]

    @property
    def walks_by_calls(self):
        """Before Linux 5.17 there is no bpf_loop()."""
        return "loop=calls" in self.text("agent.log")

    def text(self, name):
        path = self.out / name
        return path.read_text(errors="replace") if path.exists() else ""

    def said(self, name):
        return json.loads(self.text(f"{name}.json"))

    def metrics(self):
        found = re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", self.text("metrics"), re.MULTILINE)
        return {name: float(value) for name, value in found}

    def ticks(self, pids):
        return sum(n for labels, _, n in self.samples if labels.get("pid") in pids)

    def chains(self, pid, program):
        """{(root, ..., leaf): ticks} of the program's own functions, by its symbol table."""
        functions = symbols(self.programs / program)
        chains = Counter()
        for labels, frames, n in self.samples:
            if labels.get("pid") == str(pid):
                names = tuple(name_of(functions, address) for path, address, _ in frames
                              if path.endswith(f"/{program}"))
                chains[names] += n
        return chains


def read(kind, path):
    profile = kind.FromString(gzip.decompress(path.read_bytes()))
    text = [s.decode() if isinstance(s, bytes) else s for s in profile.string_table]
    files = {m.id: text[m.filename] for m in profile.mapping}
    functions = {f.id: text[f.name] for f in profile.function}
    places = {place.id: (files.get(place.mapping_id, ""), place.address,
                         functions[place.line[0].function_id] if place.line else "")
              for place in profile.location}
    for sample in profile.sample:
        labels = {text[label.key]: text[label.str] or str(label.num) for label in sample.label}
        yield (labels, [places[i] for i in reversed(sample.location_id)],
               round(sample.value[0] / PERIOD))


def symbols(path):
    """[(address, size, name)] of a program's own functions."""
    text = subprocess.run(["nm", "-S", "--defined-only", path], capture_output=True, text=True,
                          check=True).stdout
    found = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [Tt] (\S+)$", text, re.MULTILINE)
    return [(int(at, 16), int(size, 16), name) for at, size, name in found]


def name_of(functions, address):
    return next((name for at, size, name in functions if at <= address < at + size), "?")
