# SPDX-License-Identifier: Apache-2.0
"""The agent's unwind tables in the kernel: of the sampled files, within bounds."""
import contextlib
import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness import metrics, wait_until
from unwind_agents import (  # fleet: a fixture that start() uses
    CHAIN, Program, fleet, loads, outcomes, program, samples_lost, stacks, start)

pytestmark = pytest.mark.machine


def test_code_without_frame_pointers_is_unwound_to_its_root(start, program, protos, tmp_path):
    profiles = tmp_path / "profiles"
    agent = start(local_store_directory=profiles)
    with program.running():
        wait_until(lambda: loads(agent, program), what="the program's table")
        before = len(list(profiles.glob("*.pb.gz")))
        wait_until(lambda: len(list(profiles.glob("*.pb.gz"))) >= before + 3,
                   what="the profiles from before the table")
        for path in profiles.glob("*.pb.gz"):
            path.unlink()
        wait_until(lambda: len(stacks(profiles, protos, program)) >= 100, what="samples",
                   every=1)
    agent.stop()

    found = [s for s in stacks(profiles, protos, program) if "leaf" in s]

    whole = [s for s in found if s[0] == "_start" and s[s.index("first"):][:4] == CHAIN]
    assert len(found) >= 50
    assert len(whole) >= 0.99 * len(found), [s for s in found if s not in whole]


# files without a table

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
        wait_until(lambda: outcomes(agent).get("wrong_machine"), what="the counter")
        program.sampled_by(agent)  # while the other program is still sampled
    finally:
        process.kill()
        process.wait()

    words = agent.log_file.read_text()
    assert len(re.findall(f'"no unwind table" build_id={alien.id} ', words)) == 1


def test_a_program_that_is_deleted_while_it_runs_is_built(start, program):
    agent = start()
    with program.running():
        program.path.unlink()
        wait_until(lambda: loads(agent, program), what="the program's table")


def test_a_program_that_ran_before_the_agent_is_built(start, program):
    with program.running():
        program.path.unlink()
        agent = start()
        wait_until(lambda: loads(agent, program), what="the program's table")


# the kernel's memory

def twin(program, name):
    """The same program with another build id, which is another file for the agent."""
    made = copy.copy(program)
    made.path, made.id = program.path.with_name(name), os.urandom(20).hex()
    content = program.path.read_bytes()
    assert content.count(bytes.fromhex(program.id)) == 1
    made.path.write_bytes(content.replace(bytes.fromhex(program.id), bytes.fromhex(made.id)))
    made.path.chmod(0o755)
    return made


def test_tables_are_evicted_by_their_last_sample_and_loaded_again(start, tmp_path):
    """The tables of the machine's other processes are in the kernel too."""
    first = Program(tmp_path / "bin", "large0", 400000)
    programs = [first] + [twin(first, f"large{i}") for i in range(1, 20)]
    agent = start(unwind_table_max_bytes="32MB")
    most = []

    def left(made):
        return agent.log_file.read_text().count(f'"unwind table evicted" build_id={made.id}')

    for made in programs:
        made.sampled_by(agent)
        most.append(metrics(agent)["decima_agent_unwind_map_bytes"])
    assert left(first)
    first.sampled_by(agent)  # once more

    wait_until(lambda: metrics(agent)["decima_agent_unwind_table_evictions_total"] >= 5,
               what="5 counted evictions")
    assert max(most) <= 32 << 20
    assert metrics(agent)["decima_agent_unwind_map_bytes"] <= 32 << 20
    assert samples_lost(agent) == 0


def test_a_table_larger_than_the_bound_is_rejected_and_evicts_no_table(start, tmp_path, program):
    agent = start(unwind_table_max_bytes="1MB")
    huge = Program(tmp_path / "bin", "huge", 300000)
    program.sampled_by(agent)
    with huge.running():
        wait_until(lambda: f'"no room for an unwind table" build_id={huge.id}' in
                   agent.log_file.read_text(), what="the rejection")

    refused = 'decima_agent_unwind_tables_refused_total{owner="root"}'
    wait_until(lambda: metrics(agent)[refused] >= 1, what="it is counted")
    assert loads(agent, huge) == 0


# processes

def listed(agent):
    """The pids in the BPF program's map."""
    for info in Path(f"/proc/{agent.pid()}/fdinfo").iterdir():
        with contextlib.suppress(FileNotFoundError):
            fields = dict(line.split(":\t") for line in info.read_text().splitlines()
                        if ":\t" in line)
            if fields.get("map_type") == "1" and fields.get("value_size") == "32":
                dump = subprocess.run(["/usr/sbin/bpftool", "-j", "map", "dump", "id",
                                       fields["map_id"]], check=True, stdout=subprocess.PIPE).stdout
                return {int.from_bytes(bytes(int(b, 16) for b in entry["key"]), "little")
                        for entry in json.loads(dump)}
    raise AssertionError("the agent has no map of processes")


def test_processes_are_found_while_they_run_and_not_when_they_ended(start, program):
    agent = start()
    crowd = [subprocess.Popen([program.path]) for _ in range(20)]
    pids = {process.pid for process in crowd}
    try:
        wait_until(lambda: listed(agent) >= pids, what="all processes listed")
    finally:
        for process in crowd:
            process.kill()
            process.wait()

    wait_until(lambda: not listed(agent) & pids, what="no process listed")


def test_a_storm_of_short_processes_leaves_nothing_behind(start):
    agent = start()
    spawn = agent.program.parents[2] / "tests" / "programs" / "spawn"
    printed = json.loads(subprocess.run([spawn, "10", "300", "sh", "-c", "true"], check=True,
                                     timeout=300, stdout=subprocess.PIPE).stdout)
    pids = {child[0] for child in printed["children"]}
    wait_until(lambda: not listed(agent) & pids, what="no process listed")

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


def test_libraries_loaded_and_unloaded_leave_no_lists_behind(start, tmp_path):
    flags = ("-shared", "-fPIC", "-Dmain=unused")
    libraries = [Program(tmp_path, f"lib{i}.so", 10 + i, flags) for i in range(4)]
    source, path = tmp_path / "loader.c", tmp_path / "loader"
    source.write_text(LOADER)
    subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-o", path, source], check=True)
    agent = start()
    process = subprocess.Popen([path] + [str(made.path) for made in libraries])
    try:
        for made in libraries:
            wait_until(lambda made=made: loads(agent, made), what="the program's table")
        written = metrics(agent)["decima_agent_unwind_lists_written_total"]
        wait_until(lambda: metrics(agent)["decima_agent_unwind_lists_written_total"] >=
                   written + 20, what="20 more lists written")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()

    after = metrics(agent)
    assert all(loads(agent, made) == 1 for made in libraries)
    assert after["decima_agent_unwind_list_bytes"] <= 1 << 20
    assert after["decima_agent_unwind_lists_refused_total"] == 0
