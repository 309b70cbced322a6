# SPDX-License-Identifier: Apache-2.0
"""topic - reads the topic with Kafka's Python client and protoc's classes only, and derives the
contents that PostgreSQL must have.

`Truth` reads the topic. `Ledger` adds up its messages below given offsets: for any offsets in
PostgreSQL, the other tables must equal the ledger at these offsets, to the sample. truth.py
compares both.
"""
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import confluent_kafka
from google.protobuf.message import DecodeError

import reference
from harness import wait_until


@dataclass(frozen=True)
class Message:
    spool: tuple = None     # (host, epoch); None: it has no sequence number
    number: int = 0
    samples: int = 0        # that must be stored
    value: int = 0          # nanoseconds of CPU in them
    is_rejected: bool = False


@dataclass(frozen=True)
class Reported:
    """The counts that an agent reported with a batch, and the counts of the batch itself."""
    sampled: int
    lost: dict
    batch: int = 0          # samples of the batch, as reported
    samples: int = 0        # samples of the batch, as counted


@dataclass
class Account:
    """The expected state of a spool; `numbers` counts the messages of each sequence number."""
    numbers: Counter = field(default_factory=Counter)
    highest: int = 0
    stored: int = 0         # samples
    value: int = 0          # nanoseconds of CPU in them
    duplicates: int = 0     # batches, like the next field
    rejected: int = 0
    rejected_samples: int = 0

    def add(self, message, reported):
        self.numbers[message.number] += 1
        if self.numbers[message.number] > 1:
            self.duplicates += 1
            return
        self.highest = max(self.highest, message.number)
        self._count(message, reported, 1)

    def remove(self, message, reported):
        self.numbers[message.number] -= 1
        if self.numbers[message.number]:
            self.duplicates -= 1
            return
        del self.numbers[message.number]
        while self.highest and self.highest not in self.numbers:
            self.highest -= 1
        self._count(message, reported, -1)

    def _count(self, message, reported, sign):
        self.stored += sign * message.samples
        self.value += sign * message.value
        if message.is_rejected:
            self.rejected += sign
            self.rejected_samples += sign * reported.batch


class Truth:
    """The messages of the topic that have been read."""

    def __init__(self, cell, protos):
        self.cell, self.protos = cell, protos
        self.messages = defaultdict(list)  # {partition: [Message by offset]}
        self.reported = defaultdict(dict)      # {spool: {number: Reported}}
        self.values = Counter()            # {(node, pid): nanoseconds}
        self.stacks = Counter()            # {(node, comm, root, ..., leaf): nanoseconds}
        self.places = defaultdict(list)    # {(spool, number): [(partition, offset)]}
        self.batches_of = defaultdict(set)  # {(node, pid): {(spool, number)}}

    @property
    def ends(self):
        return {p: len(messages) for p, messages in self.messages.items() if messages}

    @property
    def spools(self):
        """{spool: Account} of all messages."""
        ledger = Ledger(self)
        ledger.move(self.ends)
        return ledger.accounts

    def restart(self):
        """The topic was deleted: read another one from its beginning. What the batches of the old
        one reported and held stays known, because they may be sent again."""
        self.messages.clear()

    def report_feed(self, spool, number):
        """A batch of tests/spool_feed that was not seen on a topic."""
        self.reported[spool][number] = Reported(number, {}, batch=1, samples=1)

    def read(self, deadline=60):
        """Read the messages that have arrived since the last call."""
        consumer = confluent_kafka.Consumer(self.cell.kafka_settings(**{
            "group.id": "truth", "enable.auto.commit": False, "auto.offset.reset": "error"}))
        try:
            topic = self.cell.topic
            partitions = consumer.list_topics(topic, timeout=180).topics[topic].partitions
            wanted = {p: wait_until(lambda p=p: high_of(consumer, topic, p), deadline,
                                    f"Kafka returns the end of {topic}/{p}")[0] for p in partitions}
            consumer.assign([confluent_kafka.TopicPartition(topic, p, len(self.messages[p]))
                             for p in partitions])
            ends = time.monotonic() + deadline
            while any(len(self.messages[p]) < end for p, end in wanted.items()):
                assert time.monotonic() < ends, f"the topic was not read: {self.ends}, {wanted}"
                message = consumer.poll(0.2)
                if message is not None and not message.error():
                    self._add(message)
        finally:
            consumer.close()

    def _add(self, record):
        messages = self.messages[record.partition()]
        assert record.offset() == len(messages), (
            f"Kafka skipped from {len(messages)} to {record.offset()}")
        headers = dict(record.headers() or ())
        if "decima-seq" in headers:
            messages.append(self._add_numbered(record, headers))
        else:
            samples, value = self._count(record.value(), None)
            messages.append(Message(samples=samples, value=value))

    def _add_numbered(self, record, headers):
        spool = record.key().decode(), int(headers["decima-epoch"])
        number = int(headers["decima-seq"])
        self.places[spool, number].append((record.partition(), record.offset()))
        status = self.protos.status.AgentStatus.FromString(headers.get("decima-status", b""))
        is_new = number not in self.reported[spool]
        try:
            samples, value = self._count(record.value(), (spool, number) if is_new else None,
                                         is_new)
            message = Message(spool, number, samples, value)
        except DecodeError:
            message = Message(spool, number, is_rejected=True)
        lost = {c.reason.decode(): c.samples for c in status.lost if c.samples}
        reported = Reported(status.sampled, lost, status.batch_samples, message.samples)
        assert is_new or reported == self.reported[spool][number], (
            f"{spool} batch {number} came with other counts: {reported},"
            f" {self.reported[spool][number]}")
        self.reported[spool][number] = reported
        return message

    def _count(self, value, batch, counts=True):
        """(samples, nanoseconds of CPU)"""
        message = self.protos.profiles.ProfilesData.FromString(value)
        total = nanoseconds = 0
        for node, pid, count, period in samples_of(message):
            total += count
            nanoseconds += count * period
            if counts:
                self.values[node, pid] += count * period
            if batch:
                self.batches_of[node, pid].add(batch)
        for sample in reference.samples_of(message) if counts else ():
            if sample.type != reference.CPU:
                continue
            text = tuple(frame.text for frame in sample.stack) or ("[no stack]",)
            self.stacks[sample.get("node"), sample.get("comm"), *text] += sample.value
        return total, nanoseconds


def high_of(consumer, topic, partition):
    """The end offset, in a list, since 0 is false. Raises AssertionError while Kafka restarts."""
    place = confluent_kafka.TopicPartition(topic, partition)
    try:
        return [consumer.get_watermark_offsets(place, timeout=180)[1]]
    except confluent_kafka.KafkaException as e:
        raise AssertionError(str(e)) from None


def samples_of(message):
    """(node, pid, samples, period) of each OTLP sample; the period of a gauge is 0 here."""
    words = message.dictionary.string_table
    pairs = [(words[a.key_strindex], a.value) for a in message.dictionary.attribute_table]
    for resource in message.resource_profiles:
        of_resource = {a.key: a.value for a in resource.resource.attributes}
        for scope in resource.scope_profiles:
            for profile in scope.profiles:
                for sample in profile.samples:
                    labels = of_resource | dict(pairs[i] for i in sample.attribute_indices)
                    is_ticks = words[profile.period_type.type_strindex] == b"cpu"
                    count = len(sample.timestamps_unix_nano)
                    if is_ticks and sample.values:
                        count = sum(sample.values)
                    yield (labels[b"host.name"].string_value.decode(),
                           labels[b"process.pid"].int_value, count,
                           profile.period if is_ticks else 0)


class Ledger:
    """The contents of PostgreSQL if exactly the messages below given offsets are stored."""

    def __init__(self, truth):
        self.truth = truth
        self.offsets = Counter()
        self.accounts = defaultdict(Account)
        self.plain = 0  # samples of messages without a number; plain_value: nanoseconds
        self.plain_value = 0

    def move(self, offsets):
        """Move to other offsets, higher or lower ones."""
        for partition in self.offsets.keys() | offsets.keys():
            here, there = self.offsets[partition], offsets.get(partition, 0)
            messages = self.truth.messages[partition]
            self.put(messages[here:there])
            for message in messages[there:here]:
                self._put(message, Account.remove, -1)
            self.offsets[partition] = there

    def put(self, messages):
        """Add messages."""
        for message in messages:
            self._put(message, Account.add, 1)

    def _put(self, message, how, sign):
        if not message.spool:
            self.plain += sign * message.samples
            self.plain_value += sign * message.value
            return
        account = self.accounts[message.spool]
        how(account, message, self.truth.reported[message.spool][message.number])
        if not account.numbers:
            del self.accounts[message.spool]

    def total(self):
        return self.plain + sum(account.stored for account in self.accounts.values())

    def value(self):
        return self.plain_value + sum(account.value for account in self.accounts.values())
