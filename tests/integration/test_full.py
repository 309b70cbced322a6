# SPDX-License-Identifier: Apache-2.0
"""Events while the ingester's memory is full of samples that PostgreSQL rejects."""
import os
import signal
import time
from pathlib import Path

import pytest

from harness import Cell, metrics, wait_until
from otlp_messages import PERIOD, cpu_message

FRAMES, STACKS, ROUND = 30, 2000, 20


@pytest.fixture
def full(servers, protos, request):
    """(cell, counts) with a paused ingester: PostgreSQL rejects all rows, and samples of an eighth
    of the ingester's memory limit (64 MB, or the test's parameter) wait to be stored."""
    name = "full_" + "".join(c for c in request.node.name if c.isalnum())[5:40]
    with Cell(servers, name, partitions=2) as cell:
        cell.ingester_flags["memory-limit"] = getattr(request, "param", "64MB")
        cell.ingester = cell.service("ingester", "small")
        cell.start()
        cell.produce(cpu_message(protos, "first", {(1,): 1}), partition=0)
        cell.produce(cpu_message(protos, "first", {(1,): 1}), partition=1)
        wait_until(lambda: cell.total('{comm="first"}') == 2 * PERIOD, what="both partitions")
        with cell.connect() as db:
            db.execute("CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS"
                       " $$ BEGIN RAISE 'disk full' USING ERRCODE = '53100'; END $$")
            db.execute("CREATE TRIGGER away BEFORE INSERT ON chunk_raw FOR EACH STATEMENT"
                       " EXECUTE FUNCTION away()")
        yield cell, fill(cell, protos)


def fill(cell, protos):
    """Produce messages until reading is paused; returns the number of messages by partition."""
    counts = [0, 0]
    for _ in range(20):
        messages = [cpu_message(protos, "many", {tuple(os.urandom(FRAMES)): 1
                                                 for _ in range(STACKS)}) for _ in range(ROUND)]
        cell.produce_all((m, {"partition": i % 2, "key": b"full"}) for i, m in enumerate(messages))
        counts = [count + ROUND // 2 for count in counts]
        if wait_for_pause(cell, 2 + sum(counts)):
            return counts
    raise AssertionError(f"never paused: {metrics(cell.ingester)}")


def wait_for_pause(cell, produced):
    """True if the ingester has paused, false if it has read all messages."""
    def is_settled():
        now = metrics(cell.ingester)
        return now["decima_ingester_paused"] or now["decima_ingester_messages_total"] >= produced
    wait_until(is_settled, what="paused, or all messages read")
    return metrics(cell.ingester)["decima_ingester_paused"] == 1


def assert_stored(cell, messages):
    wait_until(lambda: cell.total('{comm="many"}') == messages * STACKS * PERIOD,
               what=f"{messages} messages")
    assert metrics(cell.ingester)["decima_ingester_paused"] == 0


def test_after_a_fence_is_lost_while_paused_reading_continues(full):
    cell, counts = full
    with cell.connect() as db, db.transaction():
        db.execute("DROP TRIGGER away ON chunk_raw")
        # As if another ingester had stored two more messages of partition 0.
        db.execute("UPDATE consumer_offset SET next_offset = 3, last_timestamp_ms = NULL"
                   " WHERE partition = 0")

    assert_stored(cell, sum(counts) - 2)
    assert metrics(cell.ingester)["decima_ingester_fences_lost_total"] >= 1


def test_the_lag_of_a_partition_is_the_number_of_unread_messages(full, protos):
    cell, counts = full

    def lag():
        now = metrics(cell.ingester)
        return [now[f'decima_ingester_partition_lag_messages{{partition="{i}"}}'] for i in (0, 1)]

    wait_until(lambda: sum(lag()) == 2 + sum(counts) - metrics(cell.ingester)[
        "decima_ingester_messages_total"], what="the lag of all unread messages")
    first, second = lag()

    os.kill(cell.ingester.pid(), signal.SIGSTOP)
    message = cpu_message(protos, "more", {(1,): 1})
    cell.produce_all((message, {"partition": int(i < 3)}) for i in range(10))
    os.kill(cell.ingester.pid(), signal.SIGCONT)
    wait_until(lambda: lag() == [first + 7, second + 3], what="a lag of ten more messages")

    with cell.connect() as db:
        db.execute("DROP TRIGGER away ON chunk_raw")
    assert_stored(cell, sum(counts))
    wait_until(lambda: lag() == [0, 0], what="no lag")


def test_the_freshness_of_a_partition_is_the_time_of_its_newest_sample(full, protos):
    cell, counts = full
    with cell.connect() as db:
        db.execute("DROP TRIGGER away ON chunk_raw")
    assert_stored(cell, sum(counts))
    at_ms = [int(time.time() * 1000) + 1000 * ahead for ahead in (60, 120)]
    for partition in (0, 1):
        cell.produce(cpu_message(protos, "newest", {(1,): 1}, at_ms=at_ms[partition]),
                     partition=partition)
        name = ("decima_ingester_partition_newest_sample_timestamp_seconds"
                f'{{partition="{partition}"}}')
        wait_until(lambda name=name, at=at_ms[partition] // 1000:
                   metrics(cell.ingester)[name] == at, what="the time of the sample")


def test_pauses_are_counted(full):
    cell, _ = full
    assert metrics(cell.ingester)["decima_ingester_pauses_total"] >= 1


@pytest.mark.parametrize("full", ["256MB"], indirect=True)
def test_memory_of_samples_of_one_service_stays_within_its_limit(full):
    cell, counts = full
    with cell.connect() as db:
        db.execute("DROP TRIGGER away ON chunk_raw")

    assert_stored(cell, sum(counts))
    status = Path(f"/proc/{cell.ingester.pid()}/status").read_text()
    assert int(status.partition("VmHWM:")[2].split()[0]) << 10 < 256 << 20
