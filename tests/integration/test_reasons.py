# SPDX-License-Identifier: Apache-2.0
"""Every loss has a reason, and a test that provokes it and checks that its counter moves.

This file has the tests that fit no other file. reasons.py describes how a test claims a reason.
"""
import os
import signal
import subprocess

import confluent_kafka
import pytest
from confluent_kafka.admin import ConfigResource, NewTopic

import reasons
from harness import Cell, metrics, wait_until
from otlp_messages import cpu_message, headers
from test_fleet import Host, look, status

RANGES_MAX = 1024  # of missing batches, lib/store/write/received_set.h
TICKS = 7


def test_every_reason_has_a_test(servers):
    known, tested = set(reasons.known(servers.build)), reasons.tested()

    assert known - tested == set(), "reasons without a test"
    assert tested - known == set(), "claimed by tests, but unknown reasons"


# messages that the ingester rejects

@pytest.fixture
def host(cell, protos, request):
    return Host(cell, protos, request.node.name.removeprefix("test_"))


def message(protos, change):
    """A valid message of TICKS samples, modified by `change(message, profile)`."""
    made = protos.profiles.ProfilesData.FromString(cpu_message(protos, "broken", {(0x10,): TICKS}))
    change(made, made.resource_profiles[0].scope_profiles[0].profiles[0])
    return made.SerializeToString()


def with_old_layout(made, profile):
    made.ClearField("dictionary")
    profile.ClearField("sample_type")
    profile.ClearField("period_type")


def with_text(made, text):
    table = made.dictionary.string_table
    table[list(table).index(b"/bin/test")] = text


BROKEN = {
    "truncated": lambda protos: b"\x0a\x7f\x01",
    "malformed": lambda protos: b"\xff\xff\xff not protobuf",
    "index": lambda protos: message(
        protos, lambda m, p: setattr(p.samples[0], "stack_index", 99)),
    "limit": lambda protos: message(
        protos, lambda m, p: p.samples[0].attribute_indices.extend([1] * 65)),
    "old_layout": lambda protos: message(protos, with_old_layout),
    "text": lambda protos: message(protos, lambda m, p: with_text(m, b"a\0b")),
    "shape": lambda protos: message(protos, lambda m, p: setattr(p, "period", 0)),
}


@pytest.mark.parametrize("reason", [
    pytest.param(name, marks=pytest.mark.reason(f"ingester.{name}")) for name in BROKEN])
def test_a_batch_that_cannot_be_accepted_is_lost_as_rejected(cell, protos, host, moves, reason):
    host.send(1, 5)
    with moves(f"ingester.{reason}", cell.ingester, by=1, told=host.seen):
        host.send(2, TICKS, value=BROKEN[reason](protos))
        host.send(3, 1)

    host.becomes(sampled=TICKS + 6, stored=6, in_flight=0, lost={"rejected": TICKS})


@pytest.mark.reason("ingester.bad_headers")
def test_a_message_with_a_sequence_number_and_no_epoch_is_rejected(cell, protos, moves):
    with moves("ingester.bad_headers", cell.ingester, by=1):
        cell.produce(cpu_message(protos, "half", {(0x10,): 1}), headers={"decima-seq": b"1"})


@pytest.mark.reason("ingester.bad_status")
def test_samples_are_stored_if_their_status_cannot_be_parsed(cell, protos, host, moves):
    with moves("ingester.bad_status", cell.ingester, by=1):
        cell.produce(cpu_message(protos, host.id, {(0x10,): 4}), key=host.id.encode(),
                     headers=headers(1, status=b"\xff\xff"))

    host.becomes(stored=4, sampled=0)


def with_attribute(key, value):
    def change(made, _):
        attribute = made.resource_profiles[0].resource.attributes.add(key=key)
        attribute.value.string_value = value
    return change


def with_deep_stack(made, _):
    stack = made.dictionary.stack_table[1]
    stack.location_indices.extend([stack.location_indices[0]] * 1024)


TOO_LONG = {
    "label_dropped": with_attribute(b"n" * 129, b"v"),
    "label_reserved": with_attribute(b"__tenant", b"v"),
    "label_truncated": with_attribute(b"long", b"v" * 2049),
    "stack_truncated": with_deep_stack,
    "name_truncated": lambda made, _: with_text(made, b"/" + b"f" * 16384),
}


@pytest.mark.parametrize("reason", [
    pytest.param(name, marks=pytest.mark.reason(f"ingester.{name}")) for name in TOO_LONG])
def test_too_long_fields_are_truncated_and_the_sample_is_stored(cell, protos, host, moves, reason):
    with moves(f"ingester.{reason}", cell.ingester, by=1):
        host.send(1, TICKS, value=message(protos, TOO_LONG[reason]))

    host.becomes(sampled=TICKS, stored=TICKS, in_flight=0, lost={})


@pytest.mark.reason("ingester.gap")
def test_of_too_many_missing_batches_the_oldest_is_counted_as_gap(cell, protos, host, moves):
    """Every second batch of a host arrives, then all missing batches except the first."""
    producer = confluent_kafka.Producer(cell.kafka_settings(**{"linger.ms": 5}))
    value, last = cpu_message(protos, host.id, {(0x10,): 1}), 2 * RANGES_MAX + 3

    def send(sequence):
        producer.produce(cell.topic, value, key=host.id.encode(), headers=headers(
            sequence, status=status(protos, sequence, 1)))
        producer.poll(0)

    with moves("ingester.gap", cell.ingester, by=1):
        for sequence in range(1, last + 1, 2):
            send(sequence)
        assert producer.flush(30) == 0
    host.becomes(sampled=last, stored=RANGES_MAX + 2, missing=RANGES_MAX, lost={})

    for sequence in range(4, last, 2):
        send(sequence)
    assert producer.flush(30) == 0

    host.becomes(sampled=last, stored=last - 1, missing=0, in_flight=0, lost={"gap": 1})


# samples that the agent loses or truncates

@pytest.fixture(scope="module")
def agent(cell):
    return cell.start_service(cell.service("agent", flags={
        "profiling-duration": "1s", "node": "busy", "profiling-cpu-sampling-frequency": 64}))


def of_node(cell, node):
    """() -> the node's entry in the fleet, which is balanced."""
    return lambda: next((host for host in look(cell) if host["node"] == node), None)


def program(cell, name):
    return cell.fleet.build / "tests" / "programs" / name


def stacks(cell, kind, seconds, count=1):
    """Run `count` programs with stacks of a kind, for `seconds` of CPU time each."""
    running = [subprocess.Popen([program(cell, "stacks"), kind, str(seconds)])
               for _ in range(count)]
    assert [process.wait(600) for process in running] == [0] * count


@pytest.mark.machine
@pytest.mark.parametrize("kind, reason", [
    pytest.param(kind, reason, marks=pytest.mark.reason(f"agent.{reason}"))
    for kind, reason in (("deep", "user_too_deep"), ("stray", "user_no_mapping"))])
def test_truncated_stacks_are_counted(cell, agent, moves, kind, reason):
    with moves(f"agent.{reason}", agent, told=of_node(cell, "busy")):
        stacks(cell, kind, 1)


@pytest.mark.machine
@pytest.mark.reason("agent.ring_full")
def test_samples_that_a_stopped_agent_does_not_read_are_lost_as_ring_full(cell, agent, moves):
    """Deep stacks of 1 KB, 64 times a second on each CPU, until the ring overflows."""
    room = wait_until(lambda: metrics(agent)["decima_agent_sample_ring_bytes"], what="an interval")
    with moves("agent.ring_full", agent, told=of_node(cell, "busy")):
        agent.send(signal.SIGSTOP)
        try:
            stacks(cell, "deep", 1.5 * room / 1024 / 64 / os.cpu_count(), count=os.cpu_count())
        finally:
            agent.send(signal.SIGCONT)


@pytest.mark.machine
@pytest.mark.reason("agent.malformed")
def test_an_invalid_record_is_lost_as_malformed(cell, agent, moves):
    with moves("agent.malformed", agent, by=1, told=of_node(cell, "busy")):
        subprocess.run([program(cell, "ring_garbage"), str(agent.pid())], check=True)


@pytest.mark.machine
@pytest.mark.reason("agent.local_store")
def test_samples_that_the_local_store_cannot_write_are_counted(cell, moves, tmp_path):
    place = tmp_path / "profiles"
    agent = cell.start_service(cell.service("agent", "local", {
        "profiling-duration": "1s", "local-store-directory": place}))

    with moves("agent.local_store", agent):
        for file in place.iterdir():
            file.unlink()
        place.rmdir()
        stacks(cell, "deep", 1)

    agent.stop()


# batches that the spool loses

class Spooling:
    """An agent whose Kafka address is wrong until connect()."""

    def __init__(self, cell, directory, node, **flags):
        self.cell, self.directory = cell, directory
        self.reported = of_node(cell, node)
        self.agent = cell.service("agent", node, {
            "profiling-duration": "1s", "node": node, "state-directory": directory,
            "kafka-brokers": "127.0.0.1:1"} | {k.replace("_", "-"): v for k, v in flags.items()})
        cell.start_service(self.agent)

    def files(self, suffix=".batch"):
        return sorted((self.directory / "spool").glob(f"*{suffix}"))

    def gathers(self, count):
        """Wait until `count` batches are in the spool; runs a program to sample."""
        def enough():
            stacks(self.cell, "deep", 0.2)
            return len(self.files()) >= count
        wait_until(enough, what=f"{count} batches")

    def connect(self):
        """Start the next agent, with the right Kafka address."""
        self.launch()
        self.agent.wait_ready(self.agent.ready)

    def launch(self):
        self.agent.kill()
        self.agent.flags["kafka-brokers"] = self.cell.fleet.kafka.address()
        self.agent.launch()


@pytest.mark.machine
@pytest.mark.reason("agent.spool_full")
def test_the_oldest_batches_of_a_full_spool_are_lost_as_spool_full(cell, moves, tmp_path):
    """60 KB of labels of each process fill 4 MB soon; the loss is reported when Kafka is back."""
    labels = ";".join(f"l{i}={'v' * 2000}" for i in range(30))
    spooling = Spooling(cell, tmp_path, "full", spool_max_bytes="4MB",
                        metadata_external_labels=labels)
    with moves("agent.spool_full", spooling.agent, told=spooling.reported):
        wait_until(lambda: stacks(cell, "deep", 0.1, count=20) or metrics(spooling.agent)[
            'decima_agent_spool_lost_batches_total{reason="spool_full"}'], what="a lost batch")
        assert sum(f.stat().st_size for f in spooling.files()) <= 4 << 20
        spooling.connect()
        stacks(cell, "deep", 1)

    spooling.agent.stop()


@pytest.mark.machine
@pytest.mark.reason("agent.spool_corrupt")
def test_batches_corrupted_on_disk_are_lost_as_spool_corrupt(cell, moves, tmp_path):
    spooling = Spooling(cell, tmp_path, "corrupt")
    spooling.gathers(3)
    spooling.agent.kill()
    flipped, truncated = spooling.files()[:2]
    content = bytearray(flipped.read_bytes())
    content[-20] ^= 1
    flipped.write_bytes(content)
    os.truncate(truncated, truncated.stat().st_size - 1)

    with moves("agent.spool_corrupt", spooling.agent, told=spooling.reported):
        spooling.connect()
        stacks(cell, "deep", 1)

    assert [f.stem for f in spooling.files(".bad")] == [flipped.stem, truncated.stem]
    assert metrics(spooling.agent)[
        'decima_agent_spool_lost_batches_total{reason="spool_corrupt"}'] == 2
    spooling.agent.stop()


@pytest.mark.machine
def test_a_batch_that_cannot_be_read_is_overtaken_and_sent_later(cell, tmp_path):
    """A directory in its place: root may read every file."""
    spooling = Spooling(cell, tmp_path, "unreadable")
    spooling.gathers(3)
    spooling.agent.kill()
    unreadable = spooling.files()[0]
    kept = unreadable.rename(tmp_path / "kept")
    unreadable.mkdir()
    left = {f.name for f in spooling.files()[1:]}

    spooling.launch()
    wait_until(lambda: not left & {f.name for f in spooling.files()}, what="younger ones sent")
    wait_until(lambda: b"1 batches of the spool cannot be read" in
               spooling.agent.get("/ready")[1], what="not ready")

    unreadable.rmdir()
    kept.rename(unreadable)
    wait_until(lambda: not unreadable.exists(), 180, "the batch sent")
    wait_until(lambda: spooling.agent.get("/ready")[0] == 200, what="ready again")
    assert metrics(spooling.agent)[
        'decima_agent_spool_lost_batches_total{reason="spool_corrupt"}'] == 0
    spooling.agent.stop()


@pytest.mark.machine
@pytest.mark.reason("agent.spool_refused")
def test_a_batch_that_kafka_rejects_is_lost_as_spool_refused(cell, moves, tmp_path):
    with Cell(cell.fleet, f"{cell.name}_small", partitions=1) as small:
        admin = small.admin()
        admin.create_topics([NewTopic(small.topic, 1, 1, config={"max.message.bytes": "500"})])[
            small.topic].result()
        small.start()
        agent = small.start_service(small.service("agent", flags={
            "profiling-duration": "1s", "node": "refused", "state-directory": tmp_path}))

        with moves("agent.spool_refused", agent, told=of_node(small, "refused")):
            stacks(small, "deep", 1)
            wait_until(lambda: list((tmp_path / "spool").glob("*.bad")), what="a file *.bad")
            larger = ConfigResource(ConfigResource.Type.TOPIC, small.topic,
                                    set_config={"max.message.bytes": "1048588"})
            admin.alter_configs([larger])[larger].result()
            stacks(small, "deep", 1)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", tmp_path], check=True)
    yield tmp_path
    subprocess.run(["umount", "-l", tmp_path], check=True)


@pytest.mark.machine
@pytest.mark.reason("agent.spool_write")
def test_a_batch_that_a_full_disk_rejects_is_lost_as_spool_write(cell, moves, small_disk):
    agent = cell.start_service(cell.service("agent", "disk", {
        "profiling-duration": "1s", "node": "disk", "state-directory": small_disk}))
    ballast = small_disk / "ballast"

    def fill():
        try:
            with open(ballast, "ab", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        except OSError:
            return metrics(agent)["decima_agent_samples_unspooled_total"]

    with moves("agent.spool_write", agent, told=of_node(cell, "disk")):
        wait_until(lambda: stacks(cell, "deep", 0.1) or fill(), what="a batch that does not fit")
        ballast.unlink()
        stacks(cell, "deep", 1)

    agent.stop()
