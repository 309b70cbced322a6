# SPDX-License-Identifier: Apache-2.0
"""The Kafka topic is deleted and created again, with fewer, the same number of, or more partitions;
the database is replaced by an empty one.

Each message of the new topic is stored exactly once, and SIGTERM ends the ingester in time. The
messages have no sequence numbers: one that is read twice would be counted twice. A new topic that
is shorter than the old one is out of range; a longer one looks like the old one.
"""
import os
import signal
import time

import confluent_kafka.admin
import psycopg
import pytest

from harness import SLOW, Cell, stays, wait_until
from otlp_messages import PERIOD, cpu_message

BEFORE, OLD, LONGER = 4, 5, 8  # partitions of the topic at first; messages of each, and later
STOP_S = SLOW * 12

sizes = pytest.mark.parametrize("partitions", [
    2, BEFORE, pytest.param(7, marks=pytest.mark.long)], ids=["fewer", "same", "more"])
lengths = pytest.mark.parametrize("messages", [2, LONGER], ids=["shorter", "longer"])


@pytest.fixture
def own(servers, request):
    name = "".join(c if c.isalnum() else "_" for c in request.node.name.removeprefix("test_"))
    with Cell(servers, f"again_{name.lower()[-40:]}", partitions=BEFORE) as made:
        made.start()
        yield made


def produce(cell, protos, comm, partitions, messages):
    """With a producer of its own: another would not know the new partitions yet."""
    producer = confluent_kafka.Producer(cell.kafka_settings())
    for i in range(partitions * messages):
        producer.produce(cell.topic, cpu_message(protos, comm, {(i,): 1}), key=b"test/host",
                         partition=i % partitions)
    assert producer.flush(180) == 0
    return partitions * messages


def delete_topic(cell):
    admin = cell.admin()
    admin.delete_topics([cell.topic])[cell.topic].result()
    wait_until(lambda: cell.topic not in admin.list_topics(timeout=180).topics, what="deleted")


def create_topic(cell, partitions):
    admin = cell.admin()
    topic = confluent_kafka.admin.NewTopic(cell.topic, partitions, 1)
    admin.create_topics([topic])[cell.topic].result()
    wait_until(lambda: cell.topic in admin.list_topics(timeout=180).topics, what="created")


def ticks(cell, comm):
    return cell.total(f'{{comm="{comm}"}}') // PERIOD


def stop(cell, figure, what):
    start = time.monotonic()
    by_itself = cell.ingester.stop(timeout=2 * STOP_S)
    took = time.monotonic() - start
    figure(f"SIGTERM of the ingester {what}: {took:.1f} s")
    assert by_itself and took < STOP_S, f"{took:.1f} s"
    assert "service failed" not in cell.ingester.last_words(20)


def assert_stored_once(cell, old, new):
    wait_until(lambda: ticks(cell, "new") >= new, what=f"{new} messages of the new topic")
    stays(lambda: (ticks(cell, "old"), ticks(cell, "new")) == (old, new), 2, "stored once")


def assert_goes_on(cell, protos, figure, partitions, old, new):
    """A further message in each partition; the same after a restart."""
    for what in ("after a topic was recreated", "after a restart"):
        assert_stored_once(cell, old, new)
        wait_until(cell.ingester.ready, what="ready")
        assert cell.ingester.get("/healthy") == (200, b"ok\n")
        new += produce(cell, protos, "new", partitions, 1)
        assert_stored_once(cell, old, new)
        stop(cell, figure, what)
        cell.start_service(cell.ingester)
    assert_stored_once(cell, old, new)


@sizes
@lengths
def test_a_topic_is_recreated_under_a_running_ingester(own, protos, figure, partitions, messages):
    old = produce(own, protos, "old", BEFORE, OLD)
    wait_until(lambda: ticks(own, "old") == old, what="the old messages")

    delete_topic(own)
    create_topic(own, partitions)
    new = produce(own, protos, "new", partitions, messages)

    assert_goes_on(own, protos, figure, partitions, old, new)


def test_the_database_is_replaced_by_an_empty_one_under_a_running_ingester(own, protos):
    """As operations.md promises: it creates the tables, and begins at the oldest message."""
    old = produce(own, protos, "old", BEFORE, OLD)
    wait_until(lambda: ticks(own, "old") == old, what="the old messages")
    pid = own.ingester.pid()

    with psycopg.connect(own.fleet.postgres.address("postgres"), autocommit=True) as db:
        db.execute(f"DROP DATABASE {own.database} WITH (FORCE)")
        db.execute(f"CREATE DATABASE {own.database}")
    new = produce(own, protos, "new", BEFORE, LONGER)

    assert_stored_once(own, old, new)
    assert own.ingester.pid() == pid


@sizes
def test_a_topic_is_recreated_while_no_ingester_runs(own, protos, figure, partitions):
    old = produce(own, protos, "old", BEFORE, OLD)
    wait_until(lambda: ticks(own, "old") == old, what="the old messages")
    stop(own, figure, "before its topic is deleted")

    delete_topic(own)
    create_topic(own, partitions)
    new = produce(own, protos, "new", partitions, LONGER)
    own.start_service(own.ingester)

    assert_goes_on(own, protos, figure, partitions, old, new)


@sizes
def test_a_topic_is_recreated_while_the_ingester_is_frozen(own, protos, figure, partitions):
    """It sees nothing of the deletion: its next fetch is from the new topic."""
    old = produce(own, protos, "old", BEFORE, OLD)
    wait_until(lambda: ticks(own, "old") == old, what="the old messages")

    pid = own.ingester.pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        delete_topic(own)
        create_topic(own, partitions)
        new = produce(own, protos, "new", partitions, LONGER)
    finally:
        os.kill(pid, signal.SIGCONT)

    assert_goes_on(own, protos, figure, partitions, old, new)


def test_an_ingester_whose_topic_was_deleted_ends_in_time(own, protos, figure):
    for delay in (0, 1, 3):
        produce(own, protos, "old", BEFORE, OLD)
        delete_topic(own)
        time.sleep(delay)
        stop(own, figure, f"{delay} s after its topic was deleted")
        own.start_service(own.ingester)
