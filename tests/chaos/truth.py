"""truth - what the topic holds, read by Kafka's Python client and protoc's classes alone, and what
is stored; and every difference between the two in words.
"""
import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import confluent_kafka
from google.protobuf.message import DecodeError

DIFFERENCES_SHOWN = 20


@dataclass
class Spool:
    """What is known of one (host, epoch)."""
    numbers: set = field(default_factory=set)
    stored: int = 0      # samples
    duplicates: int = 0  # batches, and so the next
    rejected: int = 0


class Truth:
    """The topic so far: each number once, and each message without a number."""

    def __init__(self, cell, protos):
        self.cell, self.protos = cell, protos
        self.spools = defaultdict(Spool)
        self.values = Counter()  # {(node, pid): nanoseconds}
        self.ends = Counter()    # {partition: offset after the last}

    def read(self, deadline=60):
        """Read what has come since."""
        consumer = confluent_kafka.Consumer(self.cell.kafka_settings(**{
            "group.id": "truth", "enable.auto.commit": False, "auto.offset.reset": "error"}))
        try:
            topic = self.cell.topic
            partitions = consumer.list_topics(topic, timeout=20).topics[topic].partitions
            wanted = {p: consumer.get_watermark_offsets(
                confluent_kafka.TopicPartition(topic, p), timeout=20)[1] for p in partitions}
            consumer.assign([confluent_kafka.TopicPartition(topic, p, self.ends[p])
                             for p in partitions])
            ends = time.monotonic() + deadline
            while any(self.ends[p] < end for p, end in wanted.items()):
                assert time.monotonic() < ends, f"the topic was not read: {self.ends}, {wanted}"
                message = consumer.poll(0.2)
                if message is not None and not message.error():
                    self._take(message)
        finally:
            consumer.close()

    def _take(self, message):
        partition, offset = message.partition(), message.offset()
        assert offset == self.ends[partition], f"Kafka skipped from {self.ends} to {offset}"
        self.ends[partition] += 1
        headers = dict(message.headers() or ())
        if "decima-seq" not in headers:
            self._count(message.value())
            return
        spool = self.spools[message.key().decode(), int(headers["decima-epoch"])]
        number = int(headers["decima-seq"])
        if number in spool.numbers:
            spool.duplicates += 1
            return
        spool.numbers.add(number)
        try:
            spool.stored += self._count(message.value())
        except DecodeError:
            spool.rejected += 1

    def _count(self, value):
        message = self.protos.profiles.ProfilesData.FromString(value)
        total = 0
        for node, pid, count, period in samples_of(message):
            self.values[node, pid] += count * period
            total += count
        return total


def samples_of(message):
    """(node, pid, samples, period) of each OTLP sample."""
    words = message.dictionary.string_table
    pairs = [(words[a.key_strindex], a.value) for a in message.dictionary.attribute_table]
    for resource in message.resource_profiles:
        of_resource = {a.key: a.value for a in resource.resource.attributes}
        for scope in resource.scope_profiles:
            for profile in scope.profiles:
                for sample in profile.samples:
                    labels = of_resource | dict(pairs[i] for i in sample.attribute_indices)
                    count = sum(sample.values) or len(sample.timestamps_unix_nano)
                    yield (labels[b"host.name"].string_value.decode(),
                           labels[b"process.pid"].int_value, count, profile.period)


def offsets(cell):
    return dict(cell.rows("SELECT partition, next_offset FROM consumer_offset WHERE topic = %s",
                          cell.topic))


def stored_spools(cell):
    found = {}
    for host, epoch, highest, missing, gap, stored, duplicates, rejected in cell.rows(
            "SELECT host, epoch, highest, missing::text, gap, stored, duplicate_batches,"
            " rejected_batches FROM agent_status"):
        numbers = set(range(1, highest + 1))
        for first, end in re.findall(r"\[(\d+),(\d+)\)", missing):
            numbers -= set(range(int(first), int(end)))
        assert gap == 0, f"{host}: {gap} numbers were given up"
        found[host, epoch] = Spool(numbers, stored, duplicates, rejected)
    return found


def stored_values(cell, began):
    """{(node, pid): nanoseconds}, as the querier tells it."""
    found = Counter()
    stacks = cell.collapsed(group_by="node,pid", start=f"{began:.3f}",
                            end=f"{time.time() + 1:.3f}")
    for stack, value in stacks.items():
        node, pid = (part.partition("=")[2] for part in stack[:2])
        found[node, int(pid)] += value
    return found


def differences(truth, began):
    """A sentence for each; none when all that was sent is stored, once."""
    found = []
    stored = stored_spools(truth.cell)
    for key in sorted(truth.spools.keys() | stored.keys()):
        sent, kept = truth.spools.get(key, Spool()), stored.get(key, Spool())
        for what, numbers in (("not seen", sent.numbers - kept.numbers),
                              ("seen but never sent", kept.numbers - sent.numbers)):
            if numbers:
                found.append(f"{key}: {what}: {sorted(numbers)[:30]}")
        for name in ("stored", "duplicates", "rejected"):
            if getattr(sent, name) != getattr(kept, name):
                found.append(f"{key}: {name} is {getattr(kept, name)} in agent_status,"
                             f" {getattr(sent, name)} in the topic")
    values = stored_values(truth.cell, began)
    for key in sorted(truth.values.keys() | values.keys()):
        if truth.values[key] != values[key]:
            found.append(f"node {key[0]} pid {key[1]}: {values[key]} ns are stored,"
                         f" {truth.values[key]} were sent")
    if len(found) > DIFFERENCES_SHOWN:
        found[DIFFERENCES_SHOWN:] = [f"and {len(found) - DIFFERENCES_SHOWN} more"]
    return found
