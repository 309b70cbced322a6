# SPDX-License-Identifier: Apache-2.0
"""attacks - what an unprivileged user does to the agent of a host, all of it at once.

    files of millions of headers and forged build ids   hostile_programs.py
    mappings in a loop, and processes with 30,000       flood
    9,000 small ELF files                               map_files
    processes started by the thousand                   forks
    processes with ever new names and a long path       rename
    a program on a file system that hangs               hung_mount.py
    a process whose memory cannot be read               held_memory.py

The user may not mount a file system here: root mounts the two, as it would one of the network.
(Garbage in the ring of samples is not among them: only root can write to it; ring_garbage.c.)
"""
import os
import shutil
import signal
import subprocess
from pathlib import Path

from hostile_elf import long_path, write_small_program
from local.process import before_exec
from test_hung_mount import HungMount, held_memory

NOBODY = 65534
HERE = Path(__file__).parent
FILES, HOLDERS, MAPPINGS = 9000, 6, 30_000
FORKERS, MAPPINGS_OF_FORK = 12, 10
NAMES = 2  # processes that rename themselves
FOREVER = 100_000
# The mounts hang first: later the user's other files may have used up its share of requests, and
# the agent would never touch the mounts. Held memory comes last: the agent then reads no process of
# the user for a minute.
GROUPS = ("hung mount", "sparse and forged files", "many files", "mappings", "names", "forks",
          "held memory")


def give(path, mode=0o755):
    os.chown(path, NOBODY, NOBODY)
    path.chmod(mode)
    return path


class Attacks:
    """Runs the named GROUPS from start() until stop(), in a directory that every user can read."""

    def __init__(self, place, programs, forged, agent_pid):
        self.place, self.programs, self.forged = place, programs, forged
        self.agent_pid, self.running, self.mounts, self.held = agent_pid, [], [], []

    def prepare(self, groups):
        """What takes long, before the agent is watched."""
        if "many files" in groups:
            self.make_many_files()
        if "hung mount" in groups:
            for operation in ("open", "read"):
                self.mounts.append(
                    HungMount(self.directory(operation), operation, self.agent_pid))

    def start(self, group):
        return {"sparse and forged files": self.start_hostile_files, "mappings": self.start_flood,
                "many files": self.start_many_files, "forks": self.start_forks,
                "names": self.start_names, "hung mount": self.start_hung_mount,
                "held memory": self.start_held_memory}[group]()

    def directory(self, name):
        path = self.place / name
        path.mkdir()
        return give(path)

    def attack(self, *argv, waits=True, **more):
        process = subprocess.Popen(
            [str(a) for a in argv], user=NOBODY, group=NOBODY, extra_groups=[], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True,
            preexec_fn=before_exec(signal.SIGKILL), **more)
        self.running.append(process)
        if waits:
            assert process.stdout.readline() == "ready\n", argv
        return process

    def start_hostile_files(self):
        self.attack("/usr/bin/python3", HERE / "hostile_programs.py", self.directory("hostile"),
                    self.forged)

    def start_flood(self):
        code = long_path(self.directory("long")) / "code"
        code.write_bytes(b"\xc3" * 4096)
        give(code, 0o644)
        self.attack(self.programs / "flood", code, 2 * HOLDERS, MAPPINGS, FOREVER)

    def make_many_files(self):
        place = self.directory("many")
        for i in range(FILES):
            write_small_program(place / str(i), i + 1)
            give(place / str(i), 0o644)

    def start_many_files(self):
        self.attack(self.programs / "map_files", self.place / "many", FILES, HOLDERS)

    def start_forks(self):
        for _ in range(FORKERS):
            self.attack(self.programs / "forks", FOREVER, MAPPINGS_OF_FORK, waits=False)

    def start_names(self):
        program = long_path(self.directory("names")) / "rename"
        give(Path(shutil.copy(self.programs / "rename", program)))
        for i in range(NAMES):
            self.attack(program, f"attacker{i}", FOREVER, waits=False)

    def start_hung_mount(self):
        for mount in self.mounts:
            mount.run("first", FOREVER, user=NOBODY)
            mount.wait_for_hang()

    def start_held_memory(self):
        held = held_memory(self.directory("held"), user=NOBODY)
        held.__enter__()  # pylint: disable=unnecessary-dunder-call
        self.held.append(held)

    def stop(self):
        """Ends what runs; each group of processes with its children."""
        while self.running:
            process = self.running.pop()
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        while self.held:
            self.held.pop().__exit__(None, None, None)
        while self.mounts:
            self.mounts.pop().close()
