# SPDX-License-Identifier: Apache-2.0
"""A program runs from a file system that hangs for the agent: a network file system, or a user's.

The agent samples on, reads the files of all other programs, says what it skips, and stops in time.
Needs root.
"""
import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import shares
from harness import SLOW, servers_of_a_run, stays, wait_until
from local.services import http
from local_agent import LocalAgent
from priority import with_priority
from spooled import SpoolingAgent, samples_in

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))
HERTZ = 19
PERIOD = 10**9 / HERTZ

HANG_S = 180  # a deadline, as that of wait_until()
operations = pytest.mark.parametrize("operation", ["open", "read"])


@pytest.fixture
def own(tmp_path):
    (tmp_path / "profiles").mkdir()
    agent = LocalAgent(BUILD / "services" / "agent" / "decima-agent", tmp_path / "profiles")
    yield agent
    if agent.process.poll() is None:
        agent.process.kill()
        agent.process.wait()


class HungMount:
    """Two programs on a file system that hangs for an agent and its child processes."""

    def __init__(self, place, operation, agent_pid):
        self.source, self.point = place / "source", place / "mount"
        self.running = []
        self.source.mkdir()
        self.point.mkdir()
        for name in ("first", "second"):
            self.build(name)
        self.server = subprocess.Popen(
            ["/usr/bin/python3", Path(__file__).with_name("hung_mount.py"), self.source,
             self.point, operation, str(agent_pid)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.server.stdout.readline() == "mounted\n"

    def build(self, name):
        """A program of its own build id, so that no other test has made the agent know it."""
        subprocess.run(["gcc", "-O1", f"-Wl,--build-id=0x{os.urandom(16).hex()}",
                        "-o", self.source / name,
                        Path(__file__).parents[1] / "programs" / "burn.c"], check=True)

    def run(self, name, seconds, user=0):
        """Starts a program. It may hang until the release, at a page that the agent reads."""
        process = subprocess.Popen([self.point / name, str(seconds)], user=user,
                                   stdout=subprocess.DEVNULL)
        self.running.append(process)
        return process

    def wait_for_hang(self):
        ready, _, _ = select.select([self.server.stdout], [], [], HANG_S)
        assert ready and self.server.stdout.readline(), "the agent has not touched the mount"

    def release(self):
        self.server.stdin.close()

    def close(self):
        """May be called twice."""
        self.release()
        for process in self.running:
            process.terminate()
            process.wait(SLOW * 30)
        if self.server.poll() is None:
            subprocess.run(["umount", "-l", self.point], check=True)
            self.server.wait(SLOW * 10)


@contextlib.contextmanager
def hung_mount(place, operation, agent):
    mount = HungMount(place, operation, agent.process.pid)
    try:
        yield mount
    finally:
        mount.close()


def counter(agent, name):
    status, body = http(f"http://{agent.address}/metrics")
    found = re.search(rf"^{re.escape(name)} (\d+)$", body.decode(), re.MULTILINE)
    return int(found[1]) if status == 200 and found else None


def ended(agent, outcome):
    return counter(agent, f'decima_agent_files_read_total{{outcome="{outcome}"}}')


def build_id_of(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                           check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes)[1]


def burn(path, seconds):
    with subprocess.Popen([path, str(seconds)], stdout=subprocess.DEVNULL) as process:
        assert process.wait(100 * SLOW) == 0
    return str(process.pid)


def stacks_of(agent, protos, pid):
    return [(frames, round(value / PERIOD)) for labels, frames, value in agent.samples(protos)
            if labels.get("pid") == pid]


@operations
def test_all_other_programs_are_sampled_and_read(own, protos, tmp_path, operation, figure):
    other = shutil.copy(BUILD / "tests" / "programs" / "burn", tmp_path / "other")
    with hung_mount(tmp_path, operation, own) as mount:
        stolen = shares.stolen_seconds()
        mount.run("first", 1)
        mount.wait_for_hang()
        pid = burn(other, 5)
        stolen = shares.stolen_seconds() - stolen
        def given_up():
            """How often a file of the mount was. Those of other tests, of containers for instance,
            are counted by the agent too."""
            line = f'msg="file system hangs, its files are skipped" path="{mount.point}/'
            found = own.words().count(line)
            assert found and ended(own, "timed_out") >= found, own.words()
            return found
        wait_until(given_up, what="the hung file given up")
        assert given_up() == 1, own.words()
        # A process that waits for the server's response to open() does not end when it is killed.
        assert counter(own, "decima_sandbox_left_processes") == (operation == "open")

        skipped = ended(own, "skipped")
        mount.run("second", 1)
        wait_until(lambda: ended(own, "skipped") > skipped, what="a file of the same mount skipped")
        assert given_up() == 1, own.words()
        mount.release()
        wait_until(lambda: counter(own, "decima_sandbox_left_processes") == 0,
                   what="the hung process reaped")
    own.stop()

    stacks = stacks_of(own, protos, pid)
    count = sum(n for _, n in stacks)
    figure(f"{operation}: {count} samples of 5 s of CPU time beside a hung file system")
    assert shares.fits_cpu_time(count, 5, HERTZ, stolen)
    own_id = build_id_of(other)
    # Its path may be that of another copy, which this agent saw first.
    named = sum(n for frames, n in stacks
                if any(build_id == own_id for _, build_id, _, _ in frames))
    assert named >= shares.least(0.99, count), stacks
    assert "file system hangs" in own.words()


@pytest.fixture(scope="module")
def fleet():
    """A run directory without a server."""
    with servers_of_a_run("-hung", without=("postgres", "redis", "kafka")) as made:
        yield made


class BusyProgram:
    """A program that always runs: it takes precedence over all others."""

    def __init__(self):
        self.process = subprocess.Popen([BUILD / "tests" / "programs" / "burn"],
                                        stdout=subprocess.DEVNULL,
                                        preexec_fn=with_priority(-19))
        self.began = time.time()

    def end(self):
        self.process.terminate()
        self.process.wait()
        return time.time()

    def times(self, samples):
        """When it was sampled, in seconds."""
        return sorted(s.time_ms / 1000 for s in samples if s.get("pid") == str(self.process.pid))


def longest_gap(times, start, end):
    """The longest time in [start, end) without one of `times`."""
    places = [start, *(at for at in times if start <= at < end), end]
    return max(later - before for before, later in zip(places, places[1:]))


@pytest.mark.parametrize("times, gap", [([], 10), ([1, 2, 3, 9], 6), ([4, 5], 5), ([12], 10)])
def test_the_longest_gap_includes_the_ends(times, gap):
    assert longest_gap(times, 0, 10) == gap


@operations
def test_sampling_has_no_gap_of_a_second_while_it_hangs_and_afterwards(
        fleet, protos, tmp_path, operation, figure):
    (tmp_path / "state").mkdir()
    agent = SpoolingAgent(fleet, f"hung-{operation}", tmp_path / "state", protos,
                          profiling_cpu_sampling_frequency=97)
    busy = BusyProgram()
    mount = HungMount(tmp_path, operation, agent.pid)
    try:
        mount.run("first", 3600)
        mount.wait_for_hang()
        hung = time.time()
        stays(lambda: agent.service.get("/ready")[0] == 200, 5, what="ready while it hangs")
        released = time.time()
        mount.close()
        stays(lambda: agent.service.get("/ready")[0] == 200, 2, what="ready afterwards")
        ended = busy.end()
        agent.stop()
    finally:
        agent.kill()
        busy.end()
        mount.close()

    times = busy.times(samples_in(agent.batches()))
    during = longest_gap(times, hung, released)
    after = longest_gap(times, released, ended - 1)
    figure(f"{operation}: of a program that always runs, the longest time without a sample was "
           f"{during:.2f} s while its file system hung, {after:.2f} s afterwards")
    assert during < 1 and after < 1


@operations
def test_the_agent_stops_while_a_file_system_hangs(own, tmp_path, operation, figure):
    with hung_mount(tmp_path, operation, own) as mount:
        mount.run("first", 1)
        mount.wait_for_hang()
        start = time.monotonic()
        own.process.send_signal(signal.SIGTERM)
        assert own.process.wait(SLOW * 10) == 0, own.words()
        figure(f"{operation}: stopped in {time.monotonic() - start:.1f} s")


def test_a_program_of_a_file_system_that_is_not_local_is_read(own, protos, tmp_path):
    """Through a copy: its frames have its build id and addresses."""
    with hung_mount(tmp_path, "none", own) as mount:
        process = mount.run("first", 2)
        assert process.wait(SLOW * 30) == 0
        wait_until(lambda: counter(own, "decima_agent_files_remote_total"), what="a copy read")
        own.stop()
    stacks = stacks_of(own, protos, str(process.pid))

    mapped = [build_id for frames, _ in stacks for path, build_id, _, _ in frames
              if path == str(mount.point / "first")]
    assert stacks and mapped and all(mapped), stacks


@contextlib.contextmanager
def held_memory(place, user=0):
    """A process whose mappings cannot be read, since one of its threads hangs in mmap()."""
    source, point = place / "source", place / "mount"
    source.mkdir()
    point.mkdir()
    (source / "file").write_bytes(bytes(8192))
    server = subprocess.Popen(
        ["/usr/bin/python3", Path(__file__).with_name("held_memory.py"), source, point],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout.readline() == "mounted\n"
    process = subprocess.Popen([BUILD / "tests" / "programs" / "hold_memory", point / "file"],
                               user=user)
    try:
        assert server.stdout.readline() == "write\n"
        yield process
    finally:
        server.stdin.close()
        process.kill()
        process.wait()
        subprocess.run(["umount", "-l", point], check=True)
        server.wait(SLOW * 10)


def test_a_process_whose_mappings_cannot_be_read_does_not_stop_sampling(tmp_path, protos, figure):
    (tmp_path / "profiles").mkdir()
    with held_memory(tmp_path):
        agent = LocalAgent(BUILD / "services" / "agent" / "decima-agent", tmp_path / "profiles")
        try:
            wait_until(lambda: counter(
                agent, 'decima_agent_process_reads_hung_total{owner="root"}'),
                       what="a reading that hangs")
            stolen = shares.stolen_seconds()
            stats = json.loads(subprocess.check_output([BUILD / "tests" / "programs" / "burn",
                                                        "3"]))
            stolen = shares.stolen_seconds() - stolen
            agent.stop()
        finally:
            agent.process.kill()
            agent.process.wait()
    count = sum(value for labels, _, value in agent.samples(protos)
                    if labels.get("pid") == str(stats["pid"])) / PERIOD
    figure(f"{count:.0f} samples of {stats['cpu_seconds']:.1f} s of CPU time")
    assert shares.fits_cpu_time(count, stats["cpu_seconds"], HERTZ, stolen)
