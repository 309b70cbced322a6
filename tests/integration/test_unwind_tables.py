# SPDX-License-Identifier: Apache-2.0
"""What the agent unwinds with: tables built once, kept on disk and in the kernel, within bounds."""
import contextlib
import copy
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness import metrics, servers_of_a_run, wait_until
from local.services import Service

DEADLINE = 100
BUILDER = "decima-agent-builder"

# Five functions deep, none with a frame pointer, for as many seconds as it is told.
SOURCE = """
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
#define DEEPER(name, next) __attribute__((noinline)) unsigned long name(unsigned long n) \\
  { volatile char room[48 + sizeof #name]; room[n %% 40] = 1; return next(n) + room[n %% 40]; }
__attribute__((noinline)) unsigned long leaf(unsigned long n)
{ for (int i = 0; i < 20000; i++) sink += n; return sink; }
DEEPER(third, leaf) DEEPER(second, third) DEEPER(first, second)
asm(".rept %d\\n.cfi_startproc\\npush %%rbx\\n.cfi_def_cfa_offset 16\\nnop\\nnop\\nnop\\n"
    "pop %%rbx\\n.cfi_def_cfa_offset 8\\nret\\n.skip 16\\n.cfi_endproc\\n.endr\\n");
int main(int argc, char **argv)
{
  struct timespec a, b;
  double s = argc > 1 ? atof(argv[1]) : 3600;
  clock_gettime(CLOCK_MONOTONIC, &a);
  do { first(argc); clock_gettime(CLOCK_MONOTONIC, &b); }
  while (b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9 < s);
  return 0;
}
"""
CHAIN = ["first", "second", "third", "leaf"]

pytestmark = pytest.mark.machine


@pytest.fixture(scope="module")
def fleet():
    """A run directory without servers."""
    with servers_of_a_run("-unwind", without=("postgres", "redis", "kafka")) as made:
        yield made


@pytest.fixture
def start(fleet, request):
    """start(name, flag=value, ...): an agent that samples. It spools: nobody takes its batches."""
    started = []

    def make(name="agent", **flags):
        name = f"{request.node.name[:40]}-{name}"
        given = {"kafka-brokers": "127.0.0.1:1", "profiling-duration": "1s", "log-level": "debug"}
        given |= {k.replace("_", "-"): v for k, v in flags.items()}
        agent = Service(fleet, "agent", name, given)
        agent.launch()
        started.append(agent)
        agent.wait_ready(agent.ready, 60)
        return agent

    yield make
    for agent in started:
        agent.kill()
        shutil.rmtree(fleet.run_dir / agent.name, ignore_errors=True)


class Program:
    """A program that was built just now; `functions` more than it needs make its table large."""

    def __init__(self, where, name, functions=1, flags=()):
        where.mkdir(parents=True, exist_ok=True)
        source, self.path = where / f"{name}.c", where / name
        source.write_text(SOURCE % functions + f"const char mark[] = \"{name}\";\n")
        subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls",
                        "-Wl,--build-id=sha1", *flags, "-o", self.path, source], check=True)
        notes = subprocess.run(["readelf", "-n", self.path], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        self.id = notes.partition("Build ID:")[2].split()[0]

    @contextlib.contextmanager
    def running(self):
        process = subprocess.Popen([self.path])
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def sampled_by(self, agent):
        """Run it until its table is loaded."""
        before = loads(agent, self)
        with self.running():
            wait_until(lambda: loads(agent, self) > before, DEADLINE, "its table is loaded")


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "bin", "busy")


def loads(agent, program):
    return agent.log_file.read_text().count(f'"unwind table loaded" build_id={program.id} ')


def builds(agent, program):
    return agent.log_file.read_text().count(f'"unwind table built" build_id={program.id} ')


def outcomes(agent):
    """{reason: count}, without zeros."""
    found = re.compile(r'decima_agent_unwind_table_build_errors_total{reason="(\w+)"}')
    return {found.fullmatch(k)[1]: int(v) for k, v in metrics(agent).items()
            if found.fullmatch(k) and v}


def troubles(agent, reason):
    return metrics(agent)[f'decima_agent_unwind_cache_errors_total{{reason="{reason}"}}']


def builders_of(agent):
    children = Path(f"/proc/{agent.pid()}/task").glob("*/children")
    pids = [int(pid) for file in children for pid in file.read_text().split()]
    return [pid for pid in pids if BUILDER in Path(f"/proc/{pid}/cmdline").read_text()]


def cached(agent, program):
    """The file of its table: the newest version."""
    files = list((Path(agent.flags["state-directory"]) / "unwind").glob(f"{program.id}.v*"))
    return files[0] if files else None


def samples_lost(agent):
    return sum(v for k, v in metrics(agent).items()
               if k.startswith("decima_agent_samples_lost_total"))


# stacks

def stacks(directory, protos, program):
    """[[function or "?", ... root first]] of a program, by its own symbol table."""
    table = subprocess.run(["nm", "-S", "--defined-only", program.path], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    spans = [(int(at, 16), int(size, 16), name) for at, size, name in
             re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [Tt] (\S+)$", table, re.MULTILINE)]
    found = []
    for path in sorted(directory.glob("*.pb.gz")):
        profile = protos.pprof.Profile()
        profile.ParseFromString(gzip.decompress(path.read_bytes()))
        text = [s.decode() if isinstance(s, bytes) else s for s in profile.string_table]
        ours = {m.id for m in profile.mapping if text[m.build_id] == program.id}
        places = {p.id: p for p in profile.location}
        for sample in profile.sample:
            frames = [places[i] for i in reversed(sample.location_id)]
            if not any(p.mapping_id in ours for p in frames):
                continue
            found.append([next((name for at, size, name in spans
                                if p.mapping_id in ours and at <= p.address < at + size), "?")
                          for p in frames])
    return found


def test_code_without_frame_pointers_is_unwound_to_its_root(start, program, protos, tmp_path):
    profiles = tmp_path / "profiles"
    agent = start(local_store_directory=profiles)
    with program.running():
        wait_until(lambda: loads(agent, program), DEADLINE, "its table is loaded")
        before = len(list(profiles.glob("*.pb.gz")))
        wait_until(lambda: len(list(profiles.glob("*.pb.gz"))) >= before + 3, DEADLINE,
                   "what was walked without it is written")
        for path in profiles.glob("*.pb.gz"):
            path.unlink()
        wait_until(lambda: len(stacks(profiles, protos, program)) >= 100, DEADLINE, "samples",
                   every=1)
    agent.stop()

    found = [s for s in stacks(profiles, protos, program) if "leaf" in s]

    whole = [s for s in found if s[0] == "_start" and s[s.index("first"):][:4] == CHAIN]
    assert len(found) >= 50
    assert len(whole) >= 0.99 * len(found), [s for s in found if s not in whole]


# the cache on disk

def test_a_second_start_builds_nothing_again(start, fleet, program):
    state = fleet.run_dir / "state-second"
    first = start("first", state_directory=state)
    program.sampled_by(first)
    first.stop()
    second = start("second", state_directory=state)
    program.sampled_by(second)

    assert builds(first, program) == 1
    assert builds(second, program) == 0
    assert metrics(second)["decima_agent_unwind_tables_cached_total"] >= 1


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x55
    path.write_bytes(content)


def say_another_version(path):
    content = bytearray(path.read_bytes())
    content[8] += 1
    path.write_bytes(content)


@pytest.mark.parametrize("spoil", [
    flip, say_another_version, lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(path.read_bytes()[:5000])],
    ids=["flipped_byte", "other_version", "empty", "cut"])
def test_a_spoiled_file_is_built_again(start, fleet, program, spoil, request):
    state = fleet.run_dir / f"state-{request.node.callspec.id}"
    first = start("first", state_directory=state)
    program.sampled_by(first)
    right = cached(first, program).read_bytes()
    first.stop()
    spoil(cached(first, program))
    second = start("second", state_directory=state)
    program.sampled_by(second)

    assert troubles(second, "corrupt") == 1
    assert builds(second, program) == 1
    assert cached(second, program).read_bytes() == right


def test_files_of_another_version_and_halves_are_removed(start, fleet, program):
    state = fleet.run_dir / "state-old"
    first = start("first", state_directory=state)
    program.sampled_by(first)
    first.stop()
    file = cached(first, program)
    old = file.rename(file.with_suffix(".v0"))
    (file.parent / "next.tmp").write_bytes(b"half")
    second = start("second", state_directory=state)
    program.sampled_by(second)

    assert builds(second, program) == 1
    assert not old.exists() and not (file.parent / "next.tmp").exists()
    assert file.exists()


def test_the_cache_is_bounded_and_the_oldest_go(start, fleet, tmp_path):
    state = fleet.run_dir / "state-bounded"
    programs = [Program(tmp_path / "bin", f"many{i}", 20000) for i in range(4)]
    agent = start(state_directory=state, unwind_cache_max_bytes="256KB")
    for made in programs:
        made.sampled_by(agent)

    directory = state / "unwind"
    assert sum(f.stat().st_size for f in directory.iterdir()) <= 256 << 10
    assert cached(agent, programs[0]) is None
    wait_until(lambda: metrics(agent)["decima_agent_unwind_cache_removed_total"] >= 1, DEADLINE,
               "removals are counted")


@pytest.fixture
def full_disk(fleet):
    """A state directory whose cache is on a disk of its own, with no room."""
    state = fleet.run_dir / "state-full"
    (state / "unwind").mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,mode=0700", "tmpfs",
                    state / "unwind"], check=True)
    (state / "unwind" / "filler.v1").write_bytes(b"\1" * (16 << 10))
    yield state
    subprocess.run(["umount", "--lazy", state / "unwind"], check=True)


def test_on_a_full_disk_tables_are_built_and_not_kept(start, program, full_disk):
    """What room is left is the spool's."""
    agent = start(state_directory=full_disk)
    program.sampled_by(agent)

    wait_until(lambda: metrics(agent)["decima_agent_unwind_cache_left_out_total"] >= 1, DEADLINE,
               "it is counted")
    assert cached(agent, program) is None
    assert not list((full_disk / "unwind").glob("*.tmp"))


def test_a_cache_that_cannot_be_written_is_told(start, program, fleet):
    state = fleet.run_dir / "state-in-the-way"
    (state / "unwind" / "next.tmp").mkdir(parents=True)

    agent = start(state_directory=state)
    program.sampled_by(agent)

    wait_until(lambda: troubles(agent, "write") >= 1, DEADLINE, "it is counted")
    assert cached(agent, program) is None


# the builder

def test_a_builder_that_is_killed_is_started_anew(start, program):
    agent = start()
    program.sampled_by(agent)
    wait_until(lambda: builders_of(agent), DEADLINE, "it has a builder")
    before = metrics(agent)
    for pid in builders_of(agent):
        os.kill(pid, signal.SIGKILL)
    other = Program(program.path.parent, "other")
    other.sampled_by(agent)

    after = metrics(agent)
    assert builds(agent, other) == 1
    assert after["decima_agent_unwind_builder_starts_total"] >= 2
    assert after["decima_agent_samples_taken_total"] > before["decima_agent_samples_taken_total"]
    assert samples_lost(agent) == 0
    assert "crashed" not in outcomes(agent)


def test_while_a_builder_hangs_sampling_goes_on(start, program):
    agent = start()
    program.sampled_by(agent)
    wait_until(lambda: builders_of(agent), DEADLINE, "it has a builder")
    pid = builders_of(agent)[0]
    os.kill(pid, signal.SIGSTOP)
    other = Program(program.path.parent, "waits")
    with other.running():
        wait_until(lambda: metrics(agent)["decima_agent_unwind_tables_waiting"] >= 1, DEADLINE,
                   "its table waits")
        taken = metrics(agent)["decima_agent_samples_taken_total"]
        wait_until(lambda: metrics(agent)["decima_agent_samples_taken_total"] >= taken + 40,
                   DEADLINE, "samples are taken meanwhile")
        assert samples_lost(agent) == 0
        assert loads(agent, other) == 0
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: loads(agent, other), DEADLINE, "another builder has built it")


def test_the_builder_is_nice_bounded_and_ends_with_its_agent(start, program):
    agent = start()
    program.sampled_by(agent)
    wait_until(lambda: builders_of(agent), DEADLINE, "it has a builder")
    pid = builders_of(agent)[0]

    assert int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[16]) == 10
    assert Path(f"/proc/{pid}/oom_score_adj").read_text().strip() == "1000"
    limits = Path(f"/proc/{pid}/limits").read_text()
    assert re.search(r"Max data size +536870912 +536870912", limits)
    agent.kill()
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), DEADLINE, "it has ended")


# what cannot be built

MAPS_IT = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    held = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
while True:
    pass
"""


def test_a_file_without_a_table_is_counted_by_its_reason_once(start, program):
    alien = twin(program, "alien")
    content = bytearray(alien.path.read_bytes())
    content[18:20] = (8).to_bytes(2, "little")  # MIPS
    alien.path.write_bytes(content)
    agent = start()
    process = subprocess.Popen([sys.executable, "-c", MAPS_IT, alien.path])
    try:
        wait_until(lambda: outcomes(agent).get("wrong_machine"), DEADLINE, "it is counted")
        program.sampled_by(agent)  # while the other is sampled on
    finally:
        process.kill()
        process.wait()

    words = agent.log_file.read_text()
    assert len(re.findall(f'"no unwind table" build_id={alien.id} ', words)) == 1


def test_a_program_that_is_deleted_while_it_runs_is_built(start, program):
    agent = start()
    with program.running():
        program.path.unlink()
        wait_until(lambda: loads(agent, program), DEADLINE, "its table is loaded")


def test_a_program_that_ran_before_the_agent_is_built(start, program):
    with program.running():
        program.path.unlink()
        agent = start()
        wait_until(lambda: loads(agent, program), DEADLINE, "its table is loaded")


# the kernel's memory

def twin(program, name):
    """The same program with another build id: for the agent another file."""
    made = copy.copy(program)
    made.path, made.id = program.path.with_name(name), os.urandom(20).hex()
    content = program.path.read_bytes()
    assert content.count(bytes.fromhex(program.id)) == 1
    made.path.write_bytes(content.replace(bytes.fromhex(program.id), bytes.fromhex(made.id)))
    made.path.chmod(0o755)
    return made


def test_within_the_bound_tables_leave_by_their_last_sample_and_come_back(start, tmp_path):
    """Whatever else the machine runs has its tables there, too."""
    first = Program(tmp_path / "bin", "large0", 400000)
    programs = [first] + [twin(first, f"large{i}") for i in range(1, 20)]
    agent = start(unwind_table_max_bytes="32MB")
    most = []

    def left(made):
        return agent.log_file.read_text().count(f'"unwind table left" build_id={made.id}')

    for made in programs:
        made.sampled_by(agent)
        most.append(metrics(agent)["decima_agent_unwind_map_bytes"])
    assert left(first)
    first.sampled_by(agent)  # once more

    wait_until(lambda: metrics(agent)["decima_agent_unwind_table_evictions_total"] >= 5, DEADLINE,
               "they are counted")
    assert max(most) <= 32 << 20
    assert metrics(agent)["decima_agent_unwind_map_bytes"] <= 32 << 20
    assert samples_lost(agent) == 0


def test_a_table_larger_than_the_bound_is_refused_and_drives_none_out(start, tmp_path, program):
    agent = start(unwind_table_max_bytes="1MB")
    huge = Program(tmp_path / "bin", "huge", 300000)
    program.sampled_by(agent)
    with huge.running():
        wait_until(lambda: f'"no room for an unwind table" build_id={huge.id}' in
                   agent.log_file.read_text(), DEADLINE, "it is refused")

    wait_until(lambda: metrics(agent)["decima_agent_unwind_tables_refused_total"] >= 1, DEADLINE,
               "it is counted")
    assert loads(agent, huge) == 0


# processes

def listed(agent):
    """The pids that the BPF program finds."""
    for info in Path(f"/proc/{agent.pid()}/fdinfo").iterdir():
        with contextlib.suppress(FileNotFoundError):
            told = dict(line.split(":\t") for line in info.read_text().splitlines()
                        if ":\t" in line)
            if told.get("map_type") == "1" and told.get("value_size") == "32":
                dump = subprocess.run(["/usr/sbin/bpftool", "-j", "map", "dump", "id",
                                       told["map_id"]], check=True, stdout=subprocess.PIPE).stdout
                return {int.from_bytes(bytes(int(b, 16) for b in entry["key"]), "little")
                        for entry in json.loads(dump)}
    raise AssertionError("the agent has no map of processes")


def test_processes_are_found_while_they_run_and_not_when_they_ended(start, program):
    agent = start()
    crowd = [subprocess.Popen([program.path]) for _ in range(20)]
    pids = {process.pid for process in crowd}
    try:
        wait_until(lambda: listed(agent) >= pids, DEADLINE, "all are found")
    finally:
        for process in crowd:
            process.kill()
            process.wait()

    wait_until(lambda: not listed(agent) & pids, DEADLINE, "they are gone")


def test_a_storm_of_short_processes_leaves_nothing_behind(start):
    agent = start()
    spawn = agent.program.parents[2] / "tests" / "programs" / "spawn"
    said = json.loads(subprocess.run([spawn, "10", "300", "sh", "-c", "true"], check=True,
                                     timeout=300, stdout=subprocess.PIPE).stdout)
    pids = {child[0] for child in said["children"]}
    wait_until(lambda: not listed(agent) & pids, DEADLINE, "they are gone")

    after = metrics(agent)
    assert len(pids) >= 500
    assert after["decima_agent_unwind_lists_written_total"] < 1500
    assert after["decima_agent_unwind_lists_refused_total"] == 0
    assert after["decima_agent_unwind_list_bytes"] <= 1 << 20


LOADER = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
typedef unsigned long function(unsigned long);
int main(int argc, char **argv)
{
  struct timespec a, b;
  for (;;)
    for (int i = 1; i < argc; i++) {
      void *held = dlopen(argv[i], RTLD_NOW);
      function *first = held ? (function *)dlsym(held, "first") : 0;
      if (!first) { puts(dlerror()); return 1; }
      clock_gettime(CLOCK_MONOTONIC, &a);
      do { first(1); clock_gettime(CLOCK_MONOTONIC, &b); }
      while ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 50);
      dlclose(held);
    }
}
"""


def test_libraries_that_come_and_go_are_loaded_and_leave_no_lists_behind(start, tmp_path):
    flags = ("-shared", "-fPIC", "-Dmain=unused")
    libraries = [Program(tmp_path, f"lib{i}.so", 10 + i, flags) for i in range(4)]
    source, path = tmp_path / "loader.c", tmp_path / "loader"
    source.write_text(LOADER)
    subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-o", path, source], check=True)
    agent = start()
    process = subprocess.Popen([path] + [str(made.path) for made in libraries])
    try:
        for made in libraries:
            wait_until(lambda made=made: loads(agent, made), DEADLINE, "its table is loaded")
        written = metrics(agent)["decima_agent_unwind_lists_written_total"]
        wait_until(lambda: metrics(agent)["decima_agent_unwind_lists_written_total"] >=
                   written + 20, DEADLINE, "libraries come and go")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()

    after = metrics(agent)
    assert all(loads(agent, made) == 1 for made in libraries)
    assert after["decima_agent_unwind_list_bytes"] <= 1 << 20
    assert after["decima_agent_unwind_lists_refused_total"] == 0
