# SPDX-License-Identifier: Apache-2.0
"""A service ends at SIGTERM, even if PostgreSQL or Kafka does not respond: within POSTGRES_STOP_MS
and KAFKA_STOP_MS, together 5 s. The bound here leaves room for a loaded machine.
"""
import contextlib
import os
import signal
import time

import pytest

from harness import SLOW, Cell, metrics, wait_until
from otlp_messages import PERIOD, cpu_message

BOUND = SLOW * 12


@pytest.fixture
def own(servers, request):
    name = "stop_" + "".join(c for c in request.node.name.removeprefix("test_") if c.isalnum())[:40]
    with Cell(servers, name, partitions=4) as made:
        made.start()
        yield made


def is_stopped(pid):
    """Whether it does not run: stopped, or ended (a stopped parent may not have reaped it)."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] in "TZ"
    return True


@contextlib.contextmanager
def frozen(*pids):
    """SIGSTOP while the block runs; the processes are stopped before it begins."""
    try:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: all(is_stopped(pid) for pid in pids), what="all processes stopped")
        yield
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(child) for child in f.read().split()]


def backends(cell, application):
    """The server's processes that serve a program's connections to this cell's database."""
    return [pid for (pid,) in cell.rows("SELECT pid FROM pg_stat_activity WHERE datname = %s"
                                        " AND application_name = %s", cell.database, application)]


@contextlib.contextmanager
def frozen_postgresql(cell):
    """Freeze the postmaster first, so that it starts no process, then its child processes."""
    postmaster = cell.fleet.postgres.pid()
    with frozen(postmaster), frozen(*children(postmaster)):
        yield


@contextlib.contextmanager
def frozen_kafka(cell):
    with frozen(cell.fleet.kafka.pid()):
        yield
    wait_until(cell.fleet.kafka.ready, what="Kafka ready again")


def stop(service, figure, what):
    start = time.monotonic()
    by_itself = service.stop(timeout=2 * BOUND)
    took = time.monotonic() - start
    figure(f"SIGTERM of the {service.kind} {what}: {took:.1f} s")
    assert by_itself and took < BOUND, f"{took:.1f} s"
    assert "service failed" not in service.last_words(20)


def store_a_batch(cell, protos):
    """After the first batch the ingester has done its one-time work."""
    cell.produce(cpu_message(protos, "first", {(1,): 1}), partition=0)
    wait_until(lambda: cell.total('{comm="first"}') == PERIOD, what="the first batch")


def buffer_a_batch(cell, protos):
    """A batch that was read and is being flushed."""
    cell.produce(cpu_message(protos, "held", {(1,): 1}), partition=0)
    wait_until(lambda: metrics(cell.ingester)["decima_ingester_buffered_samples"] == 1,
               what="the batch in memory")


def assert_the_next_ingester_stores_it(cell):
    cell.start_service(cell.ingester)
    cell.start_service(cell.querier)
    wait_until(lambda: cell.total('{comm="held"}') == PERIOD, what="the batch, once")


def test_an_idle_ingester_ends_in_time(own, figure):
    stop(own.ingester, figure, "idle")


def test_an_ingester_in_a_flush_to_a_frozen_postgresql_ends_in_time(own, protos, figure):
    store_a_batch(own, protos)
    with frozen(*backends(own, "decima-ingester")):
        buffer_a_batch(own, protos)
        stop(own.ingester, figure, "in a flush, PostgreSQL frozen")
    assert_the_next_ingester_stores_it(own)


def test_an_ingester_that_connects_to_a_frozen_postgresql_ends_in_time(own, figure):
    own.ingester.kill()
    with frozen_postgresql(own):
        own.ingester.launch({"DECIMA_POSTGRES": own.postgres_address})
        wait_until(lambda: own.ingester.get("/healthy")[0] == 200, what="the process healthy")
        stop(own.ingester, figure, "connecting, PostgreSQL frozen")


def test_while_kafka_is_frozen_an_ingester_ends_in_time(own, figure):
    with frozen_kafka(own):
        stop(own.ingester, figure, "while Kafka is frozen")


def test_while_kafka_and_postgresql_are_frozen_an_ingester_ends_in_time(own, protos, figure):
    store_a_batch(own, protos)
    with frozen(*backends(own, "decima-ingester")):
        buffer_a_batch(own, protos)
        with frozen_kafka(own):
            stop(own.ingester, figure, "in a flush, both frozen")
    assert_the_next_ingester_stores_it(own)


def test_an_ingester_that_connects_to_a_frozen_kafka_ends_in_time(own, figure):
    own.ingester.kill()
    with frozen_kafka(own):
        own.ingester.launch({"DECIMA_POSTGRES": own.postgres_address})
        wait_until(lambda: own.ingester.get("/ready")[1] == b"waiting for Kafka\n", what="waiting")
        stop(own.ingester, figure, "opening its topics, Kafka frozen")


def test_an_ingester_without_a_topic_for_rejected_messages_ends_in_time(own, figure):
    rejected = f"{own.topic}.rejected"
    admin = own.admin()
    admin.delete_topics([rejected])[rejected].result()
    wait_until(lambda: rejected not in admin.list_topics(timeout=180).topics, what="deleted")
    own.produce(b"\xff\xff\xff not protobuf", partition=0)
    time.sleep(1)  # no metric shows that the rejection has begun
    stop(own.ingester, figure, "with a message that cannot be rejected")


def test_while_kafka_is_down_or_restarts_an_ingester_ends_in_time(own, figure):
    kafka = own.fleet.kafka
    kafka.kill()
    try:
        time.sleep(2)
        stop(own.ingester, figure, "while Kafka is gone")
        kafka.launch()
        kafka.wait_ready(kafka.ready)
        for delay in (0, 2, 4):
            own.start_service(own.ingester)
            kafka.kill()
            kafka.launch()
            time.sleep(delay)
            stop(own.ingester, figure, f"{delay} s after Kafka began to start")
            kafka.wait_ready(kafka.ready)
    finally:
        kafka.launch()
        kafka.wait_ready(kafka.ready)


def test_a_querier_of_a_frozen_postgresql_is_not_ready_and_ends_in_time(own, figure):
    with frozen_postgresql(own):
        start = time.monotonic()
        wait_until(lambda: own.querier.get("/ready")[0] == 503, what="not ready")
        took = time.monotonic() - start
        figure(f"/ready of the querier while PostgreSQL is frozen: {took:.1f} s")
        assert took < BOUND
        stop(own.querier, figure, "while PostgreSQL is frozen")
