# SPDX-License-Identifier: Apache-2.0
"""If an agent is killed, its successor counts the samples that were not spooled exactly.

Most agents here have no Kafka, so every batch that they spooled is in their state directory.
bpftool reads the kernel's counts. These two and the successor's report must agree exactly.
"""
import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from harness import metrics, servers_of_a_run, wait_until
from local.process import before_exec
from local.services import Service
from pinned import RING_FULL, SHAPE, bpftool, counted, pin_of, slots_of

pytestmark = pytest.mark.machine

ANEW = "the pinned counters restart at 0"
UNPINNED = "counters are not pinned"


class Host:
    """A state directory, the agents that run on it one after another, and the files they leave."""

    def __init__(self, fleet, protos, directory, name="killed"):
        self.protos, self.directory, self.bpffs = protos, directory, fleet.bpffs
        self.directory.mkdir()
        self.agent = Service(fleet, "agent", f"{name}-agent", flags={
            "kafka-brokers": "127.0.0.1:1", "state-directory": directory,
            "profiling-duration": "1s", "profiling-cpu-sampling-frequency": 499,
            "node": name, "bpffs-directory": self.bpffs})

    def start(self, **flags):
        self.agent.flags |= {k.replace("_", "-"): v for k, v in flags.items()}
        self.agent.launch()
        self.agent.wait_ready(self.agent.ready)

    def end(self):
        self.agent.send(signal.SIGTERM)
        wait_until(lambda: not self.agent.alive(), what="the agent ended")
        assert self.agent.exit_code() == 0, self.agent.last_words()

    @property
    def pin(self):
        return pin_of(self.bpffs, self.directory)

    def counted(self):
        return counted(self.bpffs, self.directory)

    def batches(self):
        """[(samples, AgentStatus)] of each batch that was ever spooled, the oldest first."""
        found = []
        for path in sorted((self.directory / "spool").glob("*.batch")):
            head = path.read_bytes()
            samples, = struct.unpack_from("<Q", head, 24)
            key_len, status_len = struct.unpack_from("<II", head, 40)
            status = head[64 + key_len:64 + key_len + status_len]
            found.append((samples, self.protos.status.AgentStatus.FromString(status)))
        return found

    def spooled(self):
        return sum(samples for samples, _ in self.batches())

    def unspooled(self):
        """The samples that are only in the agent's memory and its ring, now or at its end."""
        if not self.agent.alive():
            wait_until(self.is_detached, what="the kernel has detached the agent's program")
        return self.counted() - self.spooled()

    def is_detached(self):
        """On a busy machine the kernel goes on counting for a moment after the agent has died."""
        before = self.counted()
        time.sleep(0.5)
        return self.counted() == before

    def expect_balanced(self):
        """Each status is balanced, from the first batch on: sampled = spooled + lost."""
        spooled = 0
        for samples, status in self.batches():
            spooled += samples
            assert status.batch_samples == samples
            assert status.sampled == spooled + sum(c.samples for c in status.lost), status

    def reported(self):
        """The last status: (sampled, {reason: samples})."""
        status = self.batches()[-1][1]
        return status.sampled, {c.reason.decode(): c.samples for c in status.lost}

    def await_batches(self, count):
        wait_until(lambda: len(self.batches()) >= count, what=f"{count} batches")

    def await_unspooled(self, least=20):
        wait_until(lambda: self.unspooled() >= least, what=f"{least} samples in its memory",
                   every=0.02)

    def log(self):
        return self.agent.log_file.read_text()


@pytest.fixture(scope="module")
def fleet():
    """A run directory without a server."""
    with servers_of_a_run("-killed", without=("postgres", "redis", "kafka")) as made:
        yield made


@pytest.fixture(scope="module")
def load(fleet):
    """Something to sample."""
    burn = fleet.build / "tests" / "programs" / "burn"
    with subprocess.Popen([burn, "600"], stdout=subprocess.DEVNULL,
                          preexec_fn=before_exec(signal.SIGKILL)) as running:
        yield
        running.kill()


@pytest.fixture
def host(fleet, protos, tmp_path, load):
    made = Host(fleet, protos, tmp_path / "state")
    yield made
    made.agent.kill()


def test_a_successor_counts_exactly_the_samples_that_a_killed_agent_had_not_spooled(host, figure):
    host.start()
    host.await_batches(2)
    host.await_unspooled()

    host.agent.kill()
    unspooled = host.unspooled()
    before = len(host.batches())
    host.start()
    killed = metrics(host.agent)["decima_agent_samples_killed_total"]
    host.await_batches(before + 2)
    host.end()

    assert unspooled > 0 and killed == unspooled
    assert [dict((c.reason, c.samples) for c in s.lost)[b"agent_killed"]
            for _, s in host.batches()[before - 1:before + 2]] == [0, unspooled, unspooled]
    host.expect_balanced()
    sampled, lost = host.reported()
    assert sampled == host.counted()
    assert {reason for reason, samples in lost.items() if samples} == {"agent_killed"}
    figure(f"a killed agent left {unspooled} of {host.counted()} samples unspooled, and its "
           f"successor counted {killed:.0f}")


def test_an_agent_that_is_terminated_leaves_no_sample_unreported(host):
    for _ in range(2):
        count = len(host.batches())
        host.start()
        host.await_batches(count + 1)
        host.end()

        sampled, lost = host.reported()
        assert sampled == host.counted()
        assert lost["agent_killed"] == 0
    host.expect_balanced()


@pytest.mark.parametrize("failpoint", ["after-spool-file", "after-spool-fsync"])
def test_a_batch_is_counted_once_if_the_agent_dies_at_its_fsync(host, failpoint):
    host.start(failpoints=f"{failpoint}=kill:2")
    wait_until(lambda: not host.agent.alive(), what="the failpoint killed the agent")
    unspooled = host.unspooled()
    assert len(host.batches()) == 2
    host.start(failpoints="")
    killed = metrics(host.agent)["decima_agent_samples_killed_total"]
    host.await_batches(3)
    host.end()

    sampled, lost = host.reported()
    assert lost["agent_killed"] == killed == unspooled
    assert sampled == host.counted()
    host.expect_balanced()


def test_samples_of_agents_that_died_before_their_first_batch_are_counted(host):
    host.start()
    host.await_batches(1)
    host.await_unspooled()
    for _ in range(3):
        host.agent.kill()
        unspooled, before = host.unspooled(), host.counted()
        host.start(profiling_duration="600s")
        assert metrics(host.agent)["decima_agent_samples_killed_total"] == unspooled
        wait_until(lambda least=before + 20: host.counted() >= least, what="20 more samples")
    host.agent.kill()

    unspooled = host.unspooled()
    before = len(host.batches())
    host.start(profiling_duration="1s")
    host.await_batches(before + 1)
    host.end()

    sampled, lost = host.reported()
    assert lost["agent_killed"] == unspooled
    assert sampled == host.counted()
    host.expect_balanced()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0755", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_the_next_agent_reports_samples_lost_to_a_full_disk_as_spool_write(
        fleet, protos, load, small_disk):
    host = Host(fleet, protos, small_disk / "state", "full")
    ballast = small_disk / "ballast"
    try:
        host.start()
        host.await_batches(1)
        room = os.statvfs(small_disk)
        ballast.write_bytes(bytes(room.f_bavail * room.f_frsize))
        wait_until(lambda: metrics(host.agent)["decima_agent_samples_unspooled_total"],
                   what="a batch is lost")
        host.end()
        unspooled, before = host.unspooled(), len(host.batches())
        ballast.unlink()
        host.start()
        host.await_batches(before + 1)
        host.end()

        sampled, lost = host.reported()
        assert unspooled > 0 and lost["spool_write"] == unspooled
        assert {reason for reason, samples in lost.items() if samples} == {"spool_write"}
        assert sampled == host.counted()
        host.expect_balanced()
    finally:
        host.agent.kill()


def test_samples_lost_to_a_full_ring_before_a_kill_stay_ring_full(host, fleet):
    """Deep stacks of 1 KB fill the ring of an agent that is stopped; then the agent is killed."""
    def has_overflown():
        deep = fleet.build / "tests" / "programs" / "stacks"
        crowd = [subprocess.Popen([deep, "deep", "1"]) for _ in range(os.cpu_count())]
        assert [process.wait(120) for process in crowd] == [0] * len(crowd)
        return slots_of(host.bpffs, host.directory)[RING_FULL]

    host.start()
    host.await_batches(1)
    host.agent.send(signal.SIGSTOP)
    wait_until(has_overflown, what="the ring is full")
    host.agent.kill()
    unspooled, full = host.unspooled(), slots_of(host.bpffs, host.directory)[RING_FULL]
    before = len(host.batches())
    host.start()
    killed = metrics(host.agent)["decima_agent_samples_killed_total"]
    host.await_batches(before + 1)

    first = {c.reason.decode(): c.samples for c in host.batches()[before][1].lost}
    assert killed == unspooled - full > 0
    assert (first["ring_full"], first["agent_killed"]) == (full, killed)
    host.expect_balanced()


def test_two_state_directories_have_two_pins(host, fleet, protos, tmp_path):
    other = Host(fleet, protos, tmp_path / "other", "other")
    try:
        host.start()
        other.start()
        host.await_batches(1)
        other.await_batches(1)
        host.await_unspooled()
        host.agent.kill()
        unspooled = host.unspooled()
        count = len(host.batches())
        host.start()
        host.await_batches(count + 1)
        host.end()
        other.end()

        assert host.pin != other.pin
        assert host.reported()[1]["agent_killed"] == unspooled > 0
        assert other.reported() == (other.counted(), other.reported()[1] | {"agent_killed": 0})
        host.expect_balanced()
        other.expect_balanced()
    finally:
        other.agent.kill()


def entry(cell, node):
    """The entry of a host in the fleet's response; it is balanced."""
    found = [h for h in cell.data("fleet") if h["node"] == node]
    if not found:
        return None
    host, = found
    assert host["sampled"] == host["stored"] + sum(host["lost"].values()) + host["in_flight"], host
    assert host["in_flight"] >= 0, host
    return host


@pytest.mark.reason("agent.agent_killed")
def test_the_fleet_stays_balanced_after_a_kill(cell, moves, load):
    agent = cell.service("agent", flags={
        "profiling-duration": "1s", "profiling-cpu-sampling-frequency": 499, "node": "mortal"})
    cell.start_service(agent)
    wait_until(lambda: (entry(cell, "mortal") or {}).get("stored"), what="samples are stored")
    with moves("agent.agent_killed", agent, told=lambda: entry(cell, "mortal")):
        agent.kill()
        cell.start_service(agent)
    killed = metrics(agent)["decima_agent_samples_killed_total"]
    agent.stop()

    sampled = counted(cell.fleet.bpffs, agent.flags["state-directory"])
    wait_until(lambda: entry(cell, "mortal")["sampled"] == sampled,
               what=f"{sampled} samples reported")
    last = wait_until(lambda: (h := entry(cell, "mortal"))["in_flight"] == 0 and h,
                      what="no sample in transit")
    assert last["lost"] == {"agent_killed": killed}
    assert last["missing"] == 0 and "why" not in last


def make_other_shape(host):
    host.pin.unlink()
    bpftool("map", "create", host.pin, "type", "percpu_array", "key", 4, "value", 8,
            "entries", 3, "name", "counts")


def make_other_type(host):
    host.pin.unlink()
    bpftool("map", "create", host.pin, "type", "hash", "key", 4, "value", 8, "entries", 15,
            "name", "counts")


def make_other_version(host):
    bpftool("map", "update", "pinned", host.pin, "key", SHAPE, 0, 0, 0,
            "value", 9, 0, 0, 0, 0, 0, 0, 0)


def make_other_epoch(host):
    (host.directory / "spool" / "meta").unlink()


@pytest.mark.parametrize("change, reason", [
    (make_other_shape, "another version of the agent made it"),
    (make_other_type, "another version of the agent made it"),
    (make_other_version, "another version of the agent made it"),
    (make_other_epoch, "it belongs to the spool's epoch"),
], ids=["shape", "type", "version", "epoch"])
def test_pinned_counters_of_another_spool_restart_at_0(host, change, reason):
    host.start()
    host.await_batches(1)
    host.await_unspooled()
    host.agent.kill()
    change(host)
    before, spooled, reported = len(host.batches()), host.spooled(), host.reported()[0]
    host.start()
    host.await_batches(before + 1)
    host.end()

    assert ANEW in host.log() and reason in host.log(), host.log()
    sampled, lost = host.reported()
    assert lost["agent_killed"] == 0
    if change is make_other_epoch:
        reported = 0
    assert sampled - reported == host.spooled() - spooled == host.counted()


def test_a_run_without_the_pin_in_between_is_detected(host, tmp_path):
    host.start()
    host.await_batches(1)
    host.end()
    host.start(bpffs_directory="/proc/nowhere")
    host.await_batches(len(host.batches()) + 1)
    host.end()
    reported = host.reported()[0]
    host.start(bpffs_directory=host.bpffs)
    host.await_batches(len(host.batches()) + 1)
    host.end()

    assert ANEW in host.log() and "has run without it" in host.log()
    sampled, lost = host.reported()
    assert lost["agent_killed"] == 0
    assert sampled == reported + host.counted()
    host.expect_balanced()


def not_empty(tmp_path):
    (tmp_path / "files" / "inside").mkdir(parents=True)
    return tmp_path / "files"


def read_only(tmp_path):
    place = tmp_path / "read-only"
    place.mkdir()
    subprocess.run(["mount", "-t", "bpf", "-o", "ro", "bpffs", place], check=True)
    return place


@pytest.mark.parametrize("directory, reason", [
    (lambda _: "/proc/nowhere", "make directory /proc/nowhere"),
    (not_empty, "is no bpffs and not empty: nothing is mounted over it"),
    (read_only, "Read-only file system"),
    (lambda _: "/" + "/".join(["long"] * 1000), "the path of the pin is longer than"),
], ids=["nowhere", "not-empty", "read-only", "endless"])
def test_if_the_counters_cannot_be_pinned_one_warning_is_logged(host, tmp_path, directory, reason):
    place = directory(tmp_path)
    try:
        for _ in range(2):
            count = len(host.batches())
            host.start(bpffs_directory=place)
            host.await_batches(count + 1)
            host.agent.kill()

            warnings = [line for line in host.log().splitlines()
                        if f"{UNPINNED}: losses of a killed agent will be unknown" in line]
            assert len(warnings) == 1 and reason in warnings[0], host.log()
        assert host.reported()[1]["agent_killed"] == 0
        host.expect_balanced()
    finally:
        while os.path.ismount(place):
            subprocess.run(["umount", place], check=True)


def opened(pid):
    """The paths of a process's open files."""
    found = set()
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add(os.readlink(file))
    return found


def test_agents_that_start_at_the_same_time_mount_one_file_system(fleet, protos, tmp_path, load):
    place = tmp_path / "bpffs"
    place.mkdir()
    hosts = [Host(fleet, protos, tmp_path / f"state-{i}", f"racing-{i}") for i in range(2)]
    directory = os.open(place, os.O_RDONLY)  # the directory before an agent mounts a bpffs over it
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        for host in hosts:
            host.bpffs = host.agent.flags["bpffs-directory"] = place
            host.agent.launch()
        for host in hosts:
            wait_until(lambda h=host: str(place) in opened(h.agent.pid()),
                       what="the agent opened it", every=0.01)
        assert not os.path.ismount(place)
        fcntl.flock(directory, fcntl.LOCK_UN)
        for host in hosts:
            host.agent.wait_ready(host.agent.ready)

        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        assert sum(line.split()[4] == str(place) for line in mounts) == 1
        assert all(host.pin.exists() for host in hosts)
    finally:
        os.close(directory)
        for host in hosts:
            host.agent.kill()
        while os.path.ismount(place):
            subprocess.run(["umount", place], check=True)


@pytest.fixture
def counting(host, fleet):
    """A killed agent's map and a pinned program that still counts in it."""
    host.start()
    host.await_batches(1)
    host.await_unspooled()
    host.agent.kill()
    program = fleet.bpffs / f"program_{os.getpid()}"
    bpftool("prog", "load", fleet.build / "bpf" / "sampler.bpf.o", program,
            "type", "perf_event", "map", "name", "counts", "pinned", host.pin)
    yield program
    program.unlink(missing_ok=True)


def test_a_successor_waits_until_the_predecessors_program_is_detached(host, counting):
    unspooled, before = host.unspooled(), len(host.batches())
    host.agent.launch()
    time.sleep(1)
    assert host.agent.alive() and not host.agent.ready()
    counting.unlink()
    host.agent.wait_ready(host.agent.ready)
    host.await_batches(before + 1)

    assert "waited for a predecessor's program to detach" in host.log()
    assert metrics(host.agent)["decima_agent_samples_killed_total"] == unspooled
    host.expect_balanced()


def test_if_another_program_keeps_counting_the_counters_restart_at_0(host, counting):
    before = len(host.batches())
    host.start()
    host.await_batches(before + 1)

    assert ANEW in host.log() and "another program still counts in it" in host.log()
    assert host.reported()[1]["agent_killed"] == 0
    host.expect_balanced()
