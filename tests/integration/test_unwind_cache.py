# SPDX-License-Identifier: Apache-2.0
"""The agent's cache of unwind tables on disk: built once, verified, bounded and optional."""
import subprocess

import pytest

from harness import metrics, wait_until
from unwind_agents import (  # fleet: a fixture that start() uses
    Program, builds, cached, fleet, program, start, troubles)

pytestmark = pytest.mark.machine


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


def set_another_version(path):
    content = bytearray(path.read_bytes())
    content[8] += 1
    path.write_bytes(content)


@pytest.mark.parametrize("corrupt", [
    flip, set_another_version, lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(path.read_bytes()[:5000])],
    ids=["flipped_byte", "other_version", "empty", "cut"])
def test_a_corrupt_file_is_built_again(start, fleet, program, corrupt, request):
    state = fleet.run_dir / f"state-{request.node.callspec.id}"
    first = start("first", state_directory=state)
    program.sampled_by(first)
    right = cached(first, program).read_bytes()
    first.stop()
    corrupt(cached(first, program))
    second = start("second", state_directory=state)
    program.sampled_by(second)

    assert troubles(second, "corrupt") == 1
    assert builds(second, program) == 1
    assert cached(second, program).read_bytes() == right


def test_files_of_another_version_and_partial_files_are_removed(start, fleet, program):
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


def test_the_cache_is_bounded_and_evicts_the_oldest_files(start, fleet, tmp_path):
    state = fleet.run_dir / "state-bounded"
    programs = [Program(tmp_path / "bin", f"many{i}", 20000) for i in range(4)]
    agent = start(state_directory=state, unwind_cache_max_bytes="256KB")
    for made in programs:
        made.sampled_by(agent)

    directory = state / "unwind"
    assert sum(f.stat().st_size for f in directory.iterdir()) <= 256 << 10
    assert cached(agent, programs[0]) is None
    wait_until(lambda: metrics(agent)["decima_agent_unwind_cache_removed_total"] >= 1,
               what="a counted removal")


@pytest.fixture
def full_disk(fleet):
    """A state directory whose cache is on a full disk of its own."""
    state = fleet.run_dir / "state-full"
    (state / "unwind").mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,mode=0700", "tmpfs",
                    state / "unwind"], check=True)
    (state / "unwind" / "filler.v2").write_bytes(b"\1" * (16 << 10))
    yield state
    subprocess.run(["umount", "--lazy", state / "unwind"], check=True)


def test_on_a_full_disk_tables_are_built_and_not_cached(start, program, full_disk):
    """The remaining space is reserved for the spool."""
    agent = start(state_directory=full_disk)
    program.sampled_by(agent)

    wait_until(lambda: metrics(agent)["decima_agent_unwind_cache_left_out_total"] >= 1,
               what="a counted table")
    assert cached(agent, program) is None
    assert not list((full_disk / "unwind").glob("*.tmp"))


def test_a_failed_write_to_the_cache_is_counted(start, program, fleet):
    state = fleet.run_dir / "state-in-the-way"
    (state / "unwind" / "next.tmp").mkdir(parents=True)

    agent = start(state_directory=state)
    program.sampled_by(agent)

    wait_until(lambda: troubles(agent, "write") >= 1, what="a counted error")
    assert cached(agent, program) is None
