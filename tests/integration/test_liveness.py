# SPDX-License-Identifier: Apache-2.0
"""An ingester or a querier with a thread that hangs says so at /healthy, and ends at SIGTERM all
the same. While a server is away, it is healthy.
"""
import os
import signal
import threading

import confluent_kafka
import pytest

from harness import SLOW, Cell, stays, wait_until
from otlp_messages import PERIOD, cpu_message
from stopped_threads import each_is_noticed, named_thread, stopped_thread, thread_ids
from test_stop import backends, buffer_a_batch, frozen, frozen_postgresql, store_a_batch

STATUS_STUCK = 3
STALL_S = 60
HUNG_S = 25


@pytest.fixture
def own(servers, request):
    name = "live_" + "".join(c for c in request.node.name.removeprefix("test_") if c.isalnum())[:40]
    with Cell(servers, name, partitions=2) as made:
        made.start()
        yield made


def ask(cell):
    """A query in a thread of its own."""
    query = threading.Thread(target=cell.api, args=["query"],
                             kwargs={"query": "{}", "report": "collapsed"})
    query.start()
    return query


def test_a_loop_that_hangs_is_not_healthy_until_it_turns_again(own, protos):
    assert own.ingester.get("/healthy") == (200, b"ok\n")
    with stopped_thread(own.ingester.pid()):
        wait_until(lambda: own.ingester.get("/healthy")[0] == 503, what="not healthy")
        assert b"the consumer thread has hung for" in own.ingester.get("/healthy")[1]
    wait_until(lambda: own.ingester.get("/healthy")[0] == 200, what="healthy again")
    own.produce(cpu_message(protos, "after", {(1,): 1}), partition=0)
    wait_until(lambda: own.total('{comm="after"}') == PERIOD, what="a message after the hang")


def test_each_thread_of_the_ingester_that_hangs_is_named(own, figure):
    pid = own.ingester.pid()
    took = each_is_noticed(own.ingester, {
        named_thread(pid, "compaction"): "compaction",
        named_thread(pid, "maintenance"): "maintenance",
        named_thread(pid, "http-watch"): "connection watch",
        pid: "consumer"})
    figure(f"a thread of the ingester that hangs: /healthy fails after {took:.1f} s")


def test_a_consumer_that_hangs_in_a_call_into_postgresql_is_named(own, protos, figure):
    """PostgreSQL responds again, and the thread does not."""
    store_a_batch(own, protos)
    with frozen(*backends(own, "decima-ingester")):
        buffer_a_batch(own, protos)
        # The metric is set just before the flush, which waits for PostgreSQL.
        took = each_is_noticed(own.ingester, {own.ingester.pid(): "consumer"})
    figure(f"a consumer that hangs in a call into PostgreSQL: /healthy fails after {took:.1f} s")
    wait_until(lambda: own.total('{comm="held"}') == PERIOD, what="the batch, once")


@pytest.mark.long
def test_while_postgresql_does_not_respond_all_are_healthy(own, protos):
    """Its processes are stopped: it accepts connections, and responds to nothing."""
    store_a_batch(own, protos)
    with frozen_postgresql(own):
        buffer_a_batch(own, protos)
        query = ask(own)
        for service in (own.ingester, own.querier):
            wait_until(lambda s=service: not s.ready(), what=f"the {service.kind} is not ready")
        stays(lambda: {s.get("/healthy") for s in (own.ingester, own.querier)} == {(200, b"ok\n")},
              HUNG_S + 10, "healthy")
    query.join()
    wait_until(lambda: own.total('{comm="held"}') == PERIOD, what="the batch, once")
    for service in (own.ingester, own.querier):
        wait_until(service.ready, what=f"the {service.kind} is ready again")


def test_each_thread_of_the_querier_that_hangs_is_named(own, protos, figure):
    """Also that of a query, whose deadline cannot end it: it does not run."""
    store_a_batch(own, protos)
    own.total("{}")
    before = thread_ids(own.querier.pid())
    with frozen(*backends(own, "decima-querier")):
        query = ask(own)
        wait_until(lambda: thread_ids(own.querier.pid()) - before, what="the thread of the query")
        request = max(thread_ids(own.querier.pid()) - before)
        took = each_is_noticed(own.querier, {
            request: "request", own.querier.pid(): "main",
            named_thread(own.querier.pid(), "http-watch"): "connection watch"})
    figure(f"a thread of the querier that hangs: /healthy fails after {took:.1f} s")
    query.join(SLOW * 120)
    assert own.total("{}") == PERIOD


def test_a_process_that_hangs_ends_at_sigterm(own, protos):
    pid = own.ingester.pid()
    with stopped_thread(pid):
        own.produce(cpu_message(protos, "held", {(1,): 1}), partition=0)
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not own.ingester.alive(), what="the end of the process")
    wait_until(lambda: own.ingester.exit_code() == STATUS_STUCK, what="its exit status")
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
