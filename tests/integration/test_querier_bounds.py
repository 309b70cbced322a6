# SPDX-License-Identifier: Apache-2.0
"""What strangers send to the querier, and how long it works for those who ask: nothing dies, nobody
else is kept waiting, and PostgreSQL works for nobody who has left."""
import concurrent.futures
import contextlib
import json
import re
import socket
import time

import pytest

from harness import metrics, open_socket, send, stays, wait_until
from otlp_messages import PERIOD, cpu_message

QUERY = "/api/v1/query?query=%7B%7D&report=collapsed"
RSS_MAX = 400 << 20


@pytest.fixture(scope="module")
def filled(cell, protos):
    """The cell with 3 samples of `one` and a node whose name is hard for some expressions."""
    cell.produce(cpu_message(protos, "one", {(0x1, 0x2): 3}))
    cell.produce(cpu_message(protos, "hard", {(0x1,): 1}, node="a" * 200))
    wait_until(lambda: cell.total("{}") == 4 * PERIOD, what="4 ticks")
    return cell


@contextlib.contextmanager
def no_query_ends(cell):
    """Every query waits for a lock inside."""
    with cell.connect() as db:
        with db.transaction():
            db.execute("LOCK TABLE label_pair IN ACCESS EXCLUSIVE MODE")
            yield


def waiting_backends(cell):
    return cell.rows("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND"
                     " application_name = 'decima-querier' AND state = 'active'")[0][0]


def refused(answer):
    status, body = answer
    told = json.loads(body)
    assert told["status"] == "error" and told["error"], told
    return status, told["errorType"], told["error"]


# who leaves, and who waits for too long

def test_a_client_that_leaves_takes_its_query_along(filled):
    before = metrics(filled.querier)['decima_querier_errors_total{type="canceled"}']
    with no_query_ends(filled):
        askers = [send(filled.querier, QUERY) for _ in range(5)]
        wait_until(lambda: waiting_backends(filled) == 5, what="5 queries in PostgreSQL")
        for asker in askers:
            asker.close()
        wait_until(lambda: waiting_backends(filled) == 0, what="no query in PostgreSQL")

    wait_until(lambda: metrics(filled.querier)['decima_querier_errors_total{type="canceled"}']
               == before + 5, what="5 queries counted as canceled")
    assert filled.total("{}") == 4 * PERIOD


def test_who_leaves_while_waiting_for_a_turn_is_forgotten(filled):
    one = filled.start_service(filled.service("querier", "one", {"query-concurrency": 1}))
    with no_query_ends(filled):
        first = send(one, QUERY)
        wait_until(lambda: waiting_backends(filled) == 1, what="a query in PostgreSQL")
        others = [send(one, QUERY) for _ in range(5)]
        wait_until(lambda: metrics(one)["decima_querier_queries_in_flight"] == 6, what="6 waiting")
        for asker in others:
            asker.close()
        wait_until(lambda: metrics(one)["decima_querier_queries_in_flight"] == 1,
                   what="those who left are forgotten")
    assert b" 200 " in first.recv(100)
    first.close()


def test_a_querier_that_dies_leaves_no_query_in_postgresql(filled):
    doomed = filled.start_service(filled.service("querier", "doomed"))
    with no_query_ends(filled):
        asker = send(doomed, QUERY)
        wait_until(lambda: waiting_backends(filled) == 1, what="a query in PostgreSQL")
        doomed.kill()
        wait_until(lambda: waiting_backends(filled) == 0, what="no query in PostgreSQL")
    asker.close()


def test_a_query_that_takes_too_long_is_ended_in_postgresql_too(filled):
    quick = filled.start_service(filled.service("querier", "quick", {"query-timeout": "700ms"}))
    with no_query_ends(filled):
        for path in (QUERY, "/api/v1/labels?match[]=%7B%7D", "/api/v1/series",
                     "/api/v1/query_range?query=%7B%7D"):
            status, kind, error = refused(quick.get(path, timeout=30))
            assert (status, kind) == (503, "timeout"), error
            assert "longer than 700 ms" in error and "--query-timeout" in error
        status, kind, error = refused(filled.querier.get(QUERY + "&timeout=300ms", timeout=30))
        assert (status, kind) == (503, "timeout") and "longer than 300 ms" in error
        wait_until(lambda: waiting_backends(filled) == 0, what="no query in PostgreSQL")
    assert quick.get(QUERY + "&timeout=1h")[0] == 200


@pytest.mark.parametrize("timeout", ["0", "-1", "x", "5us"])
def test_a_timeout_that_is_none_is_400(filled, timeout):
    status, kind, error = refused(filled.api("query", query="{}", report="table", timeout=timeout))
    assert (status, kind) == (400, "bad_data") and error.startswith("timeout: ")


def test_healthy_answers_under_50_slow_queries(filled, figure):
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        with no_query_ends(filled):
            asked = [pool.submit(filled.querier.get, QUERY, timeout=90) for _ in range(50)]
            wait_until(lambda: metrics(filled.querier)["decima_querier_queries_in_flight"] == 50,
                       what="50 queries")
            slowest = 0
            for _ in range(30):
                began = time.monotonic()
                assert filled.querier.get("/healthy", timeout=30)[0] == 200
                slowest = max(slowest, time.monotonic() - began)
            assert slowest < 1
            # Those for whom there is no turn within 10 s are told so.
            wait_until(lambda: sum(one.done() for one in asked) == 42, deadline=60,
                       what="42 refused")
        answers = [one.result() for one in asked]
    figure(f"/healthy under 50 slow queries: {slowest * 1000:.1f} ms at worst of 30")
    assert sum(status == 200 for status, _ in answers) == 8
    for answer in answers:
        if answer[0] != 200:
            status, kind, error = refused(answer)
            assert (status, kind) == (503, "unavailable")
            assert "8 queries are running already" in error


# what is stored, and is not what was written

def test_a_damaged_row_fails_the_queries_that_meet_it_and_no_other(filled, protos):
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
    status, kind, error = refused(filled.api("query", query='{comm="damaged"}', report="table"))
    assert (status, kind) == (500, "internal")
    assert re.search("a row in chunk_raw_[0-9]+: the checksum of .* is wrong$", error), error
    assert metrics(filled.querier)[name] == unreadable + 1
    assert filled.total('{comm="one"}') == 3 * PERIOD

    flip()
    assert filled.total('{comm="damaged"}') == 7 * PERIOD
    with filled.connect() as db:
        db.execute("DELETE FROM chunk_raw WHERE samples = 7")


# what strangers send

HARD = ["(a+)+[bc]", "(a|aa)+[bc]", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)[bc]",
        "(?:a?){200}a{200}b", "((a{1,9}){1,9}){1,9}b"]


@pytest.mark.parametrize("expression", HARD)
def test_an_expression_that_explodes_is_ended_soon(filled, expression):
    selector = '{node=~"%s"}' % expression
    began = time.monotonic()
    status, body = filled.api("query", query=selector, report="table")
    took = time.monotonic() - began

    assert took < 10
    if status != 200:  # some are seen through
        assert refused((status, body))[:2] == (422, "execution")


@pytest.mark.parametrize("selector", [
    "{", "{comm", '{comm="x"', '{comm="x', '{comm=~"("}', '{comm=~"[z-a]"}', '{comm=~"a{99999}"}',
    '{comm=~"(?R)"' + "}" * 3, "}" * 100, "{" * 10000, '{comm=~"' + "(" * 5000 + '"}',
    '{"\x00"="x"}', '{comm="x"} or {}', "process_cpu:cpu{}", "\N{GREEK SMALL LETTER ALPHA}" * 5000])
def test_a_selector_that_is_none_is_400(filled, selector):
    for path, name in (("query_range", "query"), ("series", "match[]"), ("labels", "match[]")):
        status, kind, _ = refused(filled.api(path, **{name: selector}))
        assert (status, kind) == (400, "bad_data")


@pytest.mark.parametrize("at", [
    "yesterday", "-1", "1e9", "NaN", "Inf", "2026-13-01T00:00:00Z", "1" * 400, "0x10", "2026-08-22",
    "\N{DIGIT SEVEN}\u0660", "253402300801"])
def test_a_time_that_is_none_is_400(filled, at):
    for path in ("query", "query_range", "series", "labels", "label/comm/values", "profile_types"):
        for name in ("start", "end"):
            status, kind, error = refused(filled.api(
                path, **{"query": "{}", "report": "table", "match[]": "{}", name: at}))
            assert (status, kind) == (400, "bad_data") and error.startswith(f"{name}: ")


def test_windows_that_hold_nothing_are_empty_answers(filled):
    for window in ({"start": 0, "end": 1}, {"start": "2099-01-01T00:00:00Z",
                                            "end": "9999-12-31T23:59:59Z"}):
        assert filled.collapsed("{}", **window) == {}
        assert filled.data("series", **window) == []
        assert filled.data("query_range", query="{}", step="10000d", **window)["result"] == []


def test_a_url_of_100_kb_is_414(filled):
    for path in ("/api/v1/query?query=" + "x" * 100_000, "/" + "y" * 100_000):
        with open_socket(filled.querier) as asker:
            asker.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            heard = b""
            while piece := asker.recv(65536):
                heard += piece
        assert b" 414 " in heard.splitlines()[0]
    many = "&".join(f"a{i}=1" for i in range(300))
    assert refused(filled.querier.get(f"/api/v1/labels?{many}"))[:2] == (400, "bad_data")


@pytest.mark.parametrize("request_", [
    b"\x00" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00" * 50,
    b"GET /api/v1/query?query=%zz HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /api/v1/label/%ff%fe/values HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
    b"POST /api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n"])
def test_what_is_no_request_is_refused_or_cut(filled, request_):
    with open_socket(filled.querier) as asker:
        with contextlib.suppress(OSError):  # it may have been cut already
            asker.sendall(request_)
            asker.shutdown(socket.SHUT_WR)
            answer = asker.recv(4096)
            assert not answer or b" 4" in answer.splitlines()[0] or b" 5" in answer.splitlines()[0]
    assert filled.total("{}") == 4 * PERIOD


def test_a_thousand_idle_connections_and_slow_clients_keep_nobody_out(filled, figure):
    held = []
    try:
        for i in range(1000):
            with contextlib.suppress(OSError):
                held.append(open_socket(filled.querier))
                if i % 10 == 0:
                    held[-1].sendall(b"GET /api/v1/query?query=%7B%7D")  # and never more
        wait_until(lambda: filled.querier.get("/healthy", timeout=30)[0] == 200, what="healthy")
        slowest = 0
        for _ in range(20):
            began = time.monotonic()
            assert filled.querier.get("/healthy", timeout=30)[0] == 200
            slowest = max(slowest, time.monotonic() - began)
            assert filled.total("{}") == 4 * PERIOD
        assert slowest < 1
        told = metrics(filled.querier)
        assert told["decima_http_evictions_total"] > 500
        assert told["decima_http_connections"] <= 256
    finally:
        for one in held:
            one.close()
    figure(f"/healthy under 1,000 idle connections: {slowest * 1000:.1f} ms at worst of 20,"
           f" RSS {told['process_resident_memory_bytes'] / 1e6:.0f} MB")
    assert told["process_resident_memory_bytes"] < RSS_MAX


def test_it_lives_and_is_small_after_all_that(filled):
    assert filled.querier.ready() and filled.total("{}") == 4 * PERIOD
    told = metrics(filled.querier)
    assert told["process_resident_memory_bytes"] < RSS_MAX
    assert told["decima_querier_queries_in_flight"] == 0
    assert told["decima_querier_connections_busy"] == 0
    stays(filled.querier.alive, 1, "the querier lives")
