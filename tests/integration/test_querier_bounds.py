# SPDX-License-Identifier: Apache-2.0
"""Untrusted input and time limits of the querier: the querier never dies, a slow client does not
delay other clients, and PostgreSQL runs no query of a client that has disconnected."""
import concurrent.futures
import contextlib
import json
import re
import socket
import time

import pytest

from harness import SLOW, metrics, open_socket, send, stays, wait_until
from otlp_messages import PERIOD, cpu_message

QUERY = "/api/v1/query?query=%7B%7D&report=collapsed"
RSS_MAX = 400 << 20


@pytest.fixture(scope="module")
def filled(cell, protos):
    """The cell with 3 samples of `one` and a node name that some expressions match slowly."""
    cell.produce(cpu_message(protos, "one", {(0x1, 0x2): 3}))
    cell.produce(cpu_message(protos, "hard", {(0x1,): 1}, node="a" * 200))
    wait_until(lambda: cell.total("{}") == 4 * PERIOD, what="4 ticks")
    return cell


@contextlib.contextmanager
def no_query_ends(cell):
    """Inside this context every query waits for a lock."""
    with cell.connect() as db:
        with db.transaction():
            db.execute("LOCK TABLE label_pair IN ACCESS EXCLUSIVE MODE")
            yield


def waiting_backends(cell):
    return cell.rows("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND"
                     " application_name = 'decima-querier' AND state = 'active'")[0][0]


def rejection(response):
    status, body = response
    values = json.loads(body)
    assert values["status"] == "error" and values["error"], values
    return status, values["errorType"], values["error"]


# clients that disconnect, and queries that time out

def test_if_a_client_disconnects_its_query_is_cancelled(filled):
    before = metrics(filled.querier)['decima_querier_errors_total{type="canceled"}']
    with no_query_ends(filled):
        clients = [send(filled.querier, QUERY) for _ in range(5)]
        wait_until(lambda: waiting_backends(filled) == 5, what="5 queries in PostgreSQL")
        for client in clients:
            client.close()
        wait_until(lambda: waiting_backends(filled) == 0, what="no query in PostgreSQL")

    wait_until(lambda: metrics(filled.querier)['decima_querier_errors_total{type="canceled"}']
               == before + 5, what="5 queries counted as canceled")
    assert filled.total("{}") == 4 * PERIOD


def test_a_queued_query_is_removed_if_its_client_disconnects(filled):
    one = filled.start_service(filled.service("querier", "one", {"query-concurrency": 1}))
    with no_query_ends(filled):
        first = send(one, QUERY)
        wait_until(lambda: waiting_backends(filled) == 1, what="a query in PostgreSQL")
        others = [send(one, QUERY) for _ in range(5)]
        wait_until(lambda: metrics(one)["decima_querier_queries_in_flight"] == 6, what="6 queries")
        for client in others:
            client.close()
        wait_until(lambda: metrics(one)["decima_querier_queries_in_flight"] == 1,
                   what="the queries of the closed connections removed")
    assert b" 200 " in first.recv(100)
    first.close()


def test_a_querier_that_dies_leaves_no_query_in_postgresql(filled):
    doomed = filled.start_service(filled.service("querier", "doomed"))
    with no_query_ends(filled):
        client = send(doomed, QUERY)
        wait_until(lambda: waiting_backends(filled) == 1, what="a query in PostgreSQL")
        doomed.kill()
        wait_until(lambda: waiting_backends(filled) == 0, what="no query in PostgreSQL")
    client.close()


def test_a_query_past_its_timeout_is_cancelled_in_postgresql_too(filled):
    quick = filled.start_service(filled.service("querier", "quick", {"query-timeout": "700ms"}))
    with no_query_ends(filled):
        for path in (QUERY, "/api/v1/labels?match[]=%7B%7D", "/api/v1/series",
                     "/api/v1/query_range?query=%7B%7D"):
            status, kind, error = rejection(quick.get(path))
            assert (status, kind) == (503, "timeout"), error
            assert "longer than 700 ms" in error and "--query-timeout" in error
        status, kind, error = rejection(filled.querier.get(QUERY + "&timeout=300ms"))
        assert (status, kind) == (503, "timeout") and "longer than 300 ms" in error
        wait_until(lambda: waiting_backends(filled) == 0, what="no query in PostgreSQL")
    assert quick.get(QUERY + "&timeout=1h")[0] == 200


@pytest.mark.parametrize("timeout", ["0", "-1", "x", "5us"])
def test_an_invalid_timeout_is_400(filled, timeout):
    status, kind, error = rejection(
        filled.api("query", query="{}", report="table", timeout=timeout))
    assert (status, kind) == (400, "bad_data") and error.startswith("timeout: ")


def test_healthy_responds_under_50_slow_queries(filled, figure):
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        with no_query_ends(filled):
            pending = [pool.submit(filled.querier.get, QUERY, timeout=300) for _ in range(50)]
            wait_until(lambda: metrics(filled.querier)["decima_querier_queries_in_flight"] == 50,
                       what="50 queries")
            slowest = 0
            for _ in range(30):
                began = time.monotonic()
                assert filled.querier.get("/healthy")[0] == 200
                slowest = max(slowest, time.monotonic() - began)
            assert slowest < SLOW * 1
            # A query that gets no slot within 10 s is rejected.
            wait_until(lambda: sum(one.done() for one in pending) == 42, what="42 rejected queries")
        responses = [one.result() for one in pending]
    figure(f"/healthy under 50 slow queries: {slowest * 1000:.1f} ms at worst of 30")
    assert sum(status == 200 for status, _ in responses) == 8
    for response in responses:
        if response[0] != 200:
            status, kind, error = rejection(response)
            assert (status, kind) == (503, "unavailable")
            assert "8 queries are running already" in error


# stored rows that are damaged

def test_a_damaged_row_fails_only_the_queries_that_read_it(filled, protos):
    def rows():
        return {row[0] for row in filled.rows("SELECT ctid::text FROM chunk_raw")}

    def flip():
        with filled.connect() as db:
            db.execute("UPDATE chunk_raw SET payload = set_byte(payload, 40, 255 - get_byte("
                       "payload, 40)) WHERE bucket = %s AND samples = 7", [bucket])

    before, name = rows(), "decima_querier_unreadable_rows_total"
    filled.produce(cpu_message(protos, "damaged", {(0x1,): 7}))
    wait_until(lambda: filled.total('{comm="damaged"}') == 7 * PERIOD, what="7 ticks")
    (bucket,), = filled.rows("SELECT bucket FROM chunk_raw WHERE samples = 7")
    assert len(rows() - before) == 1
    unreadable = metrics(filled.querier)[name]

    flip()
    status, kind, error = rejection(filled.api("query", query='{comm="damaged"}', report="table"))
    assert (status, kind) == (500, "internal")
    assert re.search("a row in chunk_raw_[0-9]+: the checksum of .* is wrong$", error), error
    assert metrics(filled.querier)[name] == unreadable + 1
    assert filled.total('{comm="one"}') == 3 * PERIOD

    flip()
    assert filled.total('{comm="damaged"}') == 7 * PERIOD
    with filled.connect() as db:
        db.execute("DELETE FROM chunk_raw WHERE samples = 7")


# untrusted input

HARD = ["(a+)+[bc]", "(a|aa)+[bc]", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)[bc]",
        "(?:a?){200}a{200}b", "((a{1,9}){1,9}){1,9}b"]


@pytest.mark.parametrize("expression", HARD)
def test_an_expression_that_backtracks_exponentially_ends_within_10_s(filled, expression):
    selector = '{node=~"%s"}' % expression
    began = time.monotonic()
    status, body = filled.api("query", query=selector, report="table")
    took = time.monotonic() - began

    assert took < SLOW * 10
    if status != 200:  # the matcher can evaluate some of them in time
        assert rejection((status, body))[:2] == (422, "execution")


@pytest.mark.parametrize("selector", [
    "{", "{comm", '{comm="x"', '{comm="x', '{comm=~"("}', '{comm=~"[z-a]"}', '{comm=~"a{99999}"}',
    '{comm=~"(?R)"' + "}" * 3, "}" * 100, "{" * 10000, '{comm=~"' + "(" * 5000 + '"}',
    '{"\x00"="x"}', '{comm="x"} or {}', "process_cpu:cpu{}", "\N{GREEK SMALL LETTER ALPHA}" * 5000])
def test_an_invalid_selector_is_400(filled, selector):
    for path, name in (("query_range", "query"), ("series", "match[]"), ("labels", "match[]")):
        status, kind, _ = rejection(filled.api(path, **{name: selector}))
        assert (status, kind) == (400, "bad_data")


@pytest.mark.parametrize("at", [
    "yesterday", "-1", "1e9", "NaN", "Inf", "2026-13-01T00:00:00Z", "1" * 400, "0x10", "2026-08-22",
    "\N{DIGIT SEVEN}\u0660", "253402300801"])
def test_an_invalid_time_is_400(filled, at):
    for path in ("query", "query_range", "series", "labels", "label/comm/values", "profile_types"):
        for name in ("start", "end"):
            status, kind, error = rejection(filled.api(
                path, **{"query": "{}", "report": "table", "match[]": "{}", name: at}))
            assert (status, kind) == (400, "bad_data") and error.startswith(f"{name}: ")


def test_a_window_without_samples_is_an_empty_result(filled):
    for window in ({"start": 0, "end": 1}, {"start": "2099-01-01T00:00:00Z",
                                            "end": "9999-12-31T23:59:59Z"}):
        assert filled.collapsed("{}", **window) == {}
        assert filled.data("series", **window) == []
        assert filled.data("query_range", query="{}", step="10000d", **window)["result"] == []


def test_a_url_of_100_kb_is_414(filled):
    for path in ("/api/v1/query?query=" + "x" * 100_000, "/" + "y" * 100_000):
        with open_socket(filled.querier) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            received = b""
            while piece := client.recv(65536):
                received += piece
        assert b" 414 " in received.splitlines()[0]
    many = "&".join(f"a{i}=1" for i in range(300))
    assert rejection(filled.querier.get(f"/api/v1/labels?{many}"))[:2] == (400, "bad_data")


@pytest.mark.parametrize("request_", [
    b"\x00" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00" * 50,
    b"GET /api/v1/query?query=%zz HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /api/v1/label/%ff%fe/values HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
    b"POST /api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n"])
def test_a_malformed_request_is_rejected_or_its_connection_is_closed(filled, request_):
    with open_socket(filled.querier) as client:
        with contextlib.suppress(OSError):  # the server may have closed the connection already
            client.sendall(request_)
            client.shutdown(socket.SHUT_WR)
            reply = client.recv(4096)
            assert not reply or b" 4" in reply.splitlines()[0] or b" 5" in reply.splitlines()[0]
    assert filled.total("{}") == 4 * PERIOD


def test_a_thousand_idle_connections_and_slow_clients_do_not_block_other_clients(filled, figure):
    connections = []
    try:
        for i in range(1000):
            with contextlib.suppress(OSError):
                connections.append(open_socket(filled.querier))
                if i % 10 == 0:
                    connections[-1].sendall(b"GET /api/v1/query?query=%7B%7D")  # cut short
        wait_until(lambda: filled.querier.get("/healthy")[0] == 200, what="healthy")
        slowest = 0
        for _ in range(20):
            began = time.monotonic()
            assert filled.querier.get("/healthy")[0] == 200
            slowest = max(slowest, time.monotonic() - began)
            assert filled.total("{}") == 4 * PERIOD
        assert slowest < SLOW * 1
        values = metrics(filled.querier)
        assert values["decima_http_evictions_total"] > 500
        assert values["decima_http_connections"] <= 256
    finally:
        for one in connections:
            one.close()
    figure(f"/healthy under 1,000 idle connections: {slowest * 1000:.1f} ms at worst of 20,"
           f" RSS {values['process_resident_memory_bytes'] / 1e6:.0f} MB")
    assert values["process_resident_memory_bytes"] < RSS_MAX


def test_the_querier_lives_and_is_small_after_all_of_these_requests(filled):
    assert filled.querier.ready() and filled.total("{}") == 4 * PERIOD
    values = metrics(filled.querier)
    assert values["process_resident_memory_bytes"] < RSS_MAX
    assert values["decima_querier_queries_in_flight"] == 0
    assert values["decima_querier_connections_busy"] == 0
    stays(filled.querier.alive, 1, "the querier lives")
