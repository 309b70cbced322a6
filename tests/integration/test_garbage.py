# SPDX-License-Identifier: Apache-2.0
"""Malformed and oversized messages on the topic: each is counted by its reason, memory stays
bounded, the ingester lives, and the partition goes on. (Other rejections: test_reasons.py.)"""
import itertools

import confluent_kafka
import pytest

from harness import DEADLINE, metrics, wait_until
from otlp_messages import PERIOD, cpu_message, headers

MB = 1 << 20
GROWTH_MAX = 160 * MB  # more than an idle ingester uses: a message of 64 MB and its decoded form
NUMBERS = itertools.count()


@pytest.fixture
def goes_on(cell, protos):
    """After the test, the same process reads one more message of partition 0."""
    pid = cell.ingester.pid()
    before = resident(pid)
    yield
    comm = f"behind-{next(NUMBERS)}"
    cell.produce(cpu_message(protos, comm, {(0x10,): 1}), partition=0)
    wait_until(lambda: cell.total(f'{{comm="{comm}"}}') == PERIOD, what="the next message")
    assert cell.ingester.pid() == pid and cell.ingester.get("/healthy")[0] == 200
    # librdkafka frees the unpacked messages, and malloc returns the memory to the kernel later
    wait_until(lambda: resident(pid) - before < GROWTH_MAX, what="memory released")
    assert resident(pid, "VmHWM") < 512 * MB  # --memory-limit


def resident(pid, what="VmRSS"):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(what)) * 1024


def moved(cell, name, by):
    """Returns a function that waits until the counter has moved by `by` from now on."""
    full = f"decima_ingester_{name}"
    before = metrics(cell.ingester).get(full, 0)
    return lambda: wait_until(lambda: metrics(cell.ingester)[full] == before + by,
                              what=f"{name} moved by {by}")


def produce_packed(cell, *values):
    """Produce to partition 0 in one compressed batch, which fits the topic at any size."""
    producer = confluent_kafka.Producer(cell.kafka_settings(**{
        "compression.codec": "zstd", "message.max.bytes": 1_000_000_000, "linger.ms": 60_000,
        "batch.size": 1_000_000_000, "batch.num.messages": len(values),
        "queue.buffering.max.kbytes": 2_000_000}))
    failures = []
    for value in values:
        producer.produce(cell.topic, value=value, partition=0,
                         on_delivery=lambda e, _: failures.append(e) if e else None)
    assert producer.flush(DEADLINE) == 0 and not failures, failures


def field(number, body):
    """A protobuf field of bytes."""
    length, out = len(body), bytes([number << 3 | 2])
    while length > 127:
        out, length = out + bytes([length & 127 | 128]), length >> 7
    return out + bytes([length]) + body


EMPTY = {
    "resources": field(1, b"") * 400_000,
    "scopes": field(1, field(2, b"") * 400_000),
    "profiles": field(1, field(2, field(2, b"") * 400_000)),
    "tables": field(2, b"".join(field(table, b"") * 60_000 for table in range(1, 8))),
    "dictionaries": field(2, b"") * 400_000,
}


@pytest.mark.parametrize("what", EMPTY)
def test_messages_of_empty_messages_store_no_sample(cell, goes_on, what):
    """800 KB, which other decoders expand to 67 MB."""
    messages = moved(cell, "messages_total", 1)
    samples = moved(cell, "samples_total", 0)

    cell.produce(EMPTY[what], partition=0)

    messages()
    samples()


def test_any_number_of_samples_without_a_dictionary_is_rejected(cell, goes_on):
    rejection = moved(cell, 'rejected_messages_total{reason="old_layout"}', 1)

    cell.produce(field(1, field(2, field(2, field(2, b"") * 400_000))), partition=0)

    rejection()


@pytest.mark.parametrize("megabytes, counted, by", [
    (0.9, 'skipped_total{reason="label_truncated"}', 1),
    (50, 'skipped_total{reason="label_truncated"}', 1),
    (240, "unreadable_messages_total", 1),
])
def test_a_label_of_any_size_is_truncated_or_its_message_is_skipped(
        cell, protos, goes_on, megabytes, counted, by):
    seen = moved(cell, counted, by)

    produce_packed(cell, cpu_message(protos, "x" * int(megabytes * MB), {(0x10,): 1}))

    seen()


@pytest.mark.parametrize("megabytes", [65, 100])
def test_a_message_too_large_to_be_copied_leaves_its_reason(cell, protos, goes_on, megabytes):
    stripped = moved(cell, "rejected_stripped_total", 1)
    rejection = moved(cell, 'rejected_messages_total{reason="limit"}', 1)
    value = cpu_message(protos, "y" * megabytes * MB, {(0x10,): 1})

    produce_packed(cell, value)

    stripped()
    rejection()
    rejected = [message for message in cell.consume(f"{cell.topic}.rejected", int(sum(
        number for name, number in metrics(cell.ingester).items()
        if name.startswith("decima_ingester_rejected_messages_total"))))]
    fields = dict(rejected[-1].headers())
    assert rejected[-1].value() in (None, b"")
    assert fields["decima-reason"] == b"limit" and int(fields["decima-bytes"]) == len(value)
    assert fields["decima-source"].startswith(f"{cell.topic}/0/".encode())


@pytest.mark.reason("ingester.unreadable")
def test_a_batch_that_unpacks_to_half_a_gigabyte_loses_no_other_batch(
        cell, protos, goes_on, moves, figure):
    """15 KB on the topic. The ingester continues right after the batch."""
    comm = "beside the bomb"

    with moves("ingester.unreadable", cell.ingester, by=5 + 1):
        cell.produce(cpu_message(protos, comm, {(0x10,): 1}), partition=0)
        produce_packed(cell, *[bytes(100 * MB)] * 5)
        for _ in range(20):
            cell.produce(cpu_message(protos, comm, {(0x10,): 1}), partition=0)
        produce_packed(cell, bytes(500 * MB))
        cell.produce(cpu_message(protos, comm, {(0x10,): 1}), partition=0)
        wait_until(lambda: cell.total(f'{{comm="{comm}"}}') == 22 * PERIOD, what="all others")
    peak = resident(cell.ingester.pid(), "VmHWM") / MB
    figure(f"an ingester that read 1 GB packed in 30 KB: {peak:.0f} MB of RSS at most")


def test_gigantic_headers_and_keys_do_not_stop_the_partition(cell, protos, goes_on):
    value = cpu_message(protos, "headers", {(0x10,): 1})
    rejection = moved(cell, 'rejected_messages_total{reason="bad_headers"}', 3)
    unread = moved(cell, "bad_status_total", 1)
    big = b"9" * 900_000

    cell.produce(value, partition=0, headers=[(f"h{i}", b"v" * 50) for i in range(9000)])
    cell.produce(value, partition=0, key=b"headers/1", headers=headers(1, status=big))
    cell.produce(value, partition=0, key=big, headers=headers(2))
    cell.produce(value, partition=0, key=b"headers/1", headers=headers(2) | {"decima-seq": big})
    cell.produce(value, partition=0, key=b"headers/1", headers=headers(2) | {"decima-epoch": b""})

    rejection()
    unread()
    wait_until(lambda: cell.total('{comm="headers"}') == 2 * PERIOD, what="the two valid messages")


@pytest.mark.parametrize("at_ms, reason", [
    (1, "too_old"), (86_400_000, "too_old"),  # 1970
    (4_102_444_800_000, "too_far_ahead"), (18_446_744_073_709, "too_far_ahead"),  # 2100, 2554
])
def test_samples_of_1970_and_2100_are_skipped_with_a_reason(cell, protos, goes_on, at_ms, reason):
    skipped = moved(cell, f'skipped_total{{reason="{reason}"}}', 1)

    cell.produce(cpu_message(protos, "elsewhen", {(0x10,): 1}, at_ms=at_ms), partition=0)

    skipped()
    assert cell.total('{comm="elsewhen"}', start=0, end=4_200_000_000) == 0


@pytest.mark.parametrize("comm", ["new\nline", 'quo"te\\', "\u202eabc\U0001f525"])
def test_odd_text_that_is_utf8_is_a_label_like_any_other(cell, protos, goes_on, comm):
    cell.produce(cpu_message(protos, comm, {(0x10,): 1}), partition=0)

    wait_until(lambda: comm in cell.data("label/comm/values"), what="the value")


@pytest.mark.parametrize("comm", [b"a\0b", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\xaf"])
def test_nul_and_invalid_utf8_are_rejected(cell, protos, goes_on, comm):
    rejection = moved(cell, 'rejected_messages_total{reason="text"}', 1)
    mark = b"MARK"[:len(comm)]

    cell.produce(cpu_message(protos, mark.decode(), {(0x10,): 1}).replace(mark, comm), partition=0)

    rejection()
