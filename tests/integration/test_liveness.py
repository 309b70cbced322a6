# SPDX-License-Identifier: Apache-2.0
"""An ingester whose loop hangs says so at /healthy, and ends at SIGTERM all the same."""
import contextlib
import ctypes
import os
import signal

import confluent_kafka
import pytest

from harness import Cell, stays, wait_until
from otlp_messages import PERIOD, cpu_message
from test_stop import backends, buffer_a_batch, frozen, store_a_batch

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000
STATUS_STUCK = 3
STALL_S = 60


@pytest.fixture
def own(servers, request):
    name = "live_" + "".join(c for c in request.node.name.removeprefix("test_") if c.isalnum())[:40]
    with Cell(servers, name, partitions=2) as made:
        made.start()
        yield made


def ptrace(request, thread, data=0):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(request, thread, None, data) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"ptrace request {request:#x}: {os.strerror(error)}")


@contextlib.contextmanager
def stopped_thread(thread):
    """Only this thread stands still, as in a call that does not return. Others go on."""
    ptrace(PTRACE_SEIZE, thread)
    ptrace(PTRACE_INTERRUPT, thread)
    os.waitpid(thread, WALL)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            ptrace(PTRACE_DETACH, thread)


def test_a_loop_that_hangs_is_not_healthy_until_it_turns_again(own, protos):
    assert own.ingester.get("/healthy") == (200, b"ok\n")
    with stopped_thread(own.ingester.pid()):
        wait_until(lambda: own.ingester.get("/healthy")[0] == 503, what="not healthy")
        assert b"the consumer thread has hung for" in own.ingester.get("/healthy")[1]
    wait_until(lambda: own.ingester.get("/healthy")[0] == 200, what="healthy again")
    own.produce(cpu_message(protos, "after", {(1,): 1}), partition=0)
    wait_until(lambda: own.total('{comm="after"}') == PERIOD, what="a message after the hang")


def test_a_process_that_hangs_ends_at_sigterm(own, protos):
    pid = own.ingester.pid()
    with stopped_thread(pid):
        own.produce(cpu_message(protos, "held", {(1,): 1}), partition=0)
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not own.ingester.alive(), what="the end of the process")
    assert own.ingester.popen.returncode == STATUS_STUCK
    assert "did not end in time" in own.ingester.last_words(20)
    own.start_service(own.ingester)
    wait_until(lambda: own.total('{comm="held"}') == PERIOD, what="the message, once")


def test_while_postgresql_is_frozen_it_is_healthy_but_not_ready(own, protos):
    """A restart would not help: only /ready fails. It is ready again when the batch is stored."""
    store_a_batch(own, protos)
    with frozen(*backends(own, "decima-ingester")):
        buffer_a_batch(own, protos)
        wait_until(lambda: not own.ingester.ready(), what="not ready")
        assert own.ingester.get("/healthy") == (200, b"ok\n")
    wait_until(lambda: own.total('{comm="held"}') == PERIOD, what="the batch, once")
    wait_until(own.ingester.ready, what="ready again")


@pytest.mark.long
def test_the_end_of_a_transaction_is_no_message_that_waits(own, protos):
    """It has an offset of its own: stored is 1, and Kafka's end is 2."""
    producer = confluent_kafka.Producer(own.kafka_settings(**{"transactional.id": own.name}))
    producer.init_transactions(180)
    producer.begin_transaction()
    producer.produce(own.topic, cpu_message(protos, "whole", {(1,): 1}), partition=0)
    producer.commit_transaction(180)
    wait_until(lambda: own.total('{comm="whole"}') == PERIOD, what="the message")
    stays(own.ingester.ready, STALL_S + 10, "ready")


def test_a_topic_that_was_deleted_is_created_again(own, protos):
    admin = own.admin()
    admin.delete_topics([own.topic])[own.topic].result()
    wait_until(lambda: own.topic not in admin.list_topics(timeout=180).topics, what="deleted")

    wait_until(lambda: own.topic in admin.list_topics(timeout=180).topics, what="created")
    own.produce(cpu_message(protos, "again", {(1,): 1}), partition=0)
    wait_until(lambda: own.total('{comm="again"}') == PERIOD, what="a message of the new topic")
