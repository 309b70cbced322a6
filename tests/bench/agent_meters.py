# SPDX-License-Identifier: Apache-2.0
"""agent_meters - what a process costs, what the kernel says of BPF, and what messages hold.

CPU time is the kernel's own account of a process and its ended children. The time of BPF programs
is counted by the kernel while bpf_stats() is on, apart from that account: they run on the time of
whatever they interrupt.
"""
import contextlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = 4096  # of an element of a segment of unwind tables
STATS = Path("/proc/sys/kernel/bpf_stats_enabled")
BPFTOOL = shutil.which("bpftool", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


@contextlib.contextmanager
def bpf_stats():
    """The kernel counts runs of BPF programs and their time; it costs some 20 ns a run."""
    before = STATS.read_text()
    STATS.write_text("1")
    try:
        yield
    finally:
        STATS.write_text(before)


def busy_seconds():
    """CPU seconds that the machine was not idle since it started."""
    fields = [int(n) / TICK for n in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(fields) - fields[3] - fields[4]


def cpu_seconds(pid):
    """(user, system) of a process, and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own, children = [int(n) / TICK for n in fields[11:13]], [int(n) / TICK for n in fields[13:15]]
    return tuple(own), tuple(children)


def thread_seconds(pid):
    """CPU seconds of its threads, to the nanosecond and not to the tick."""
    total = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):
            total += int(path.read_text().split()[0])
    return total / 1e9


def memory_bytes(pid):
    """(RSS, its peak, what of it is not shared with files)"""
    status = Path(f"/proc/{pid}/status").read_text()
    return tuple(int(re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)[1]) * 1024
                 for name in ("VmRSS", "VmHWM", "RssAnon"))


def fdinfo(pid):
    """[{name: text}] of what a process has open that is of BPF."""
    found = []
    for path in Path(f"/proc/{pid}/fdinfo").iterdir():
        with contextlib.suppress(OSError):
            text = path.read_text()
            if "prog_id:" in text or "map_id:" in text:
                found.append(dict(re.findall(r"^(\w+):\s*(.*)$", text, re.MULTILINE)))
    return found


def bpftool(*words):
    said = subprocess.run([BPFTOOL, "-j", *map(str, words)], capture_output=True, text=True,
                          check=False)
    return json.loads(said.stdout) if said.returncode == 0 else {}


def programs(pid):
    """{name: (runs, seconds)} of the BPF programs that a process holds."""
    found = {}
    for info in fdinfo(pid):
        if "prog_id" in info and "link_id" not in info:
            name = bpftool("prog", "show", "id", info["prog_id"]).get("name", info["prog_id"])
            found[name] = (int(info.get("run_cnt", 0)), int(info.get("run_time_ns", 0)) / 1e9)
    return found


def map_bytes(pid):
    """(maps, of unwind tables) in bytes: of the BPF maps that a process holds open.

    That is all of its maps: the segments of tables, too, are open as long as they are there.
    """
    found = {info["map_id"]: info for info in fdinfo(pid) if "map_id" in info}
    tables = sum(int(info["memlock"]) for info in found.values()
                 if info["value_size"] == str(PAGE_BYTES))
    return sum(int(info["memlock"]) for info in found.values()) - tables, tables


class Message:
    """A batch: .samples = [(attributes, frames, times)], a frame is (mapped, is kernel's)."""

    def __init__(self, protos, value):
        data = protos.profiles.ProfilesData()
        data.ParseFromString(value)
        self.dictionary = data.dictionary
        self.samples = []
        for resource in data.resource_profiles:
            outer = {a.key.decode(): self.value(a.value) for a in resource.resource.attributes}
            for scope in resource.scope_profiles:
                for profile in scope.profiles:
                    self.samples += [self.sample(outer, sample) for sample in profile.samples]

    def text(self, index):
        return self.dictionary.string_table[index].decode(errors="replace")

    def value(self, value):
        kind = value.WhichOneof("value")
        if kind == "string_value":
            return value.string_value.decode(errors="replace")
        if kind == "string_value_strindex":
            return self.text(value.string_value_strindex)
        return str(getattr(value, kind)) if kind else ""

    def attributes(self, indices):
        table = self.dictionary.attribute_table
        return {self.text(table[i].key_strindex): self.value(table[i].value) for i in indices}

    def frame(self, index):
        location = self.dictionary.location_table[index]
        kind = self.attributes(location.attribute_indices).get("profile.frame.type", "")
        return location.mapping_index > 0, kind == "kernel"

    def sample(self, outer, sample):
        places = self.dictionary.stack_table[sample.stack_index].location_indices
        return (outer | self.attributes(sample.attribute_indices),
                [self.frame(index) for index in places], list(sample.timestamps_unix_nano))


def messages(protos, consumer, topic_end):
    """The first `topic_end` Messages of a topic."""
    found = []
    while len(found) < topic_end:
        message = consumer.poll(10)
        if message is None:
            break
        if not message.error():
            found.append(Message(protos, message.value()))
    return found
