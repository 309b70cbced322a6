# SPDX-License-Identifier: Apache-2.0
"""Clients that occupy connections: half-sent requests, and more of them than the querier has."""
import contextlib
import http.client
import re
import socket
import time

import pytest

from harness import metrics, wait_until
from otlp_messages import PERIOD, cpu_message

CONNECTIONS = 256  # HTTP_CONNECTIONS of the querier
QUERY = "/api/v1/query?query=%7B%7D&report=collapsed"
REQUESTS = 50  # on one connection: more bytes than the sockets hold


@pytest.fixture(scope="module")
def filled(cell, protos):
    """The cell with 3 samples of `one`."""
    cell.produce(cpu_message(protos, "one", {(0x1, 0x2): 3}))
    wait_until(lambda: cell.total("{}") == 3 * PERIOD, what="3 ticks")
    return cell


def connect_from(service, last):
    """A connected socket whose own address is 127.0.0.`last`: another client for the querier."""
    host, port = service.address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=60,
                                    source_address=(f"127.0.0.{last}", 0))


def status_of(service, path):
    """The status of a GET by Python's own client; None: closed, or no response in 30 s."""
    client = http.client.HTTPConnection(service.address, timeout=30)
    try:
        client.request("GET", path)
        return client.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        client.close()


def tries_of(service, path, count=20):
    """The statuses of `count` requests, one after the other, and the time of the slowest."""
    statuses, slowest = [], 0
    for _ in range(count):
        began = time.monotonic()
        statuses.append(status_of(service, path))
        slowest = max(slowest, time.monotonic() - began)
        if statuses[-2:] == [None, None]:
            break  # further ones would only take time
    return statuses, slowest


@contextlib.contextmanager
def half_sent(service, count, text, addresses=1):
    """Inside this context `count` requests that begin with `text` are never completed."""
    clients = []
    try:
        for i in range(count):
            client = connect_from(service, 2 + i % addresses)
            clients.append(client)
            with contextlib.suppress(OSError):  # closed already, because a newer one came
                client.sendall(text)
            time.sleep(0.01)  # the server has begun to read before the next one comes
        yield clients
    finally:
        for client in clients:
            client.close()


def answer_of(client):
    """What the server sent before it closed the connection; b"" if the system discarded it."""
    client.settimeout(60)
    with contextlib.suppress(OSError):
        return client.recv(4096)
    return b""


HEADERS = b"POST /api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"


@pytest.mark.parametrize("addresses", [1, 16], ids=["of_one_address", "of_16_addresses"])
@pytest.mark.parametrize("text", [HEADERS, HEADERS + b"\r\nhalf of "], ids=["headers", "body"])
def test_half_sent_requests_give_way_to_others(filled, figure, text, addresses):
    querier = filled.querier
    before = metrics(querier)
    with half_sent(querier, 2 * CONNECTIONS, text, addresses) as clients:
        statuses, slowest = tries_of(querier, "/healthy")
        assert statuses == [200] * 20
        assert tries_of(querier, QUERY)[0] == [200] * 20
        after = metrics(querier)
        told = answer_of(clients[0])
    name = "decima_http_evicted_requests_total"
    assert after[name] - before[name] > CONNECTIONS
    assert told.startswith(b"HTTP/1.1 503 ") and told.endswith(b"needed for another\n")
    figure(f"/healthy under {2 * CONNECTIONS} half-sent requests of {addresses} addresses:"
           f" {slowest * 1000:.1f} ms at worst of 20")


def connect_small(service, last):
    """As connect_from(), with a receive buffer so small that the server's sending stalls."""
    host, port = service.address.rsplit(":", 1)
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(60)
    client.bind((f"127.0.0.{last}", 0))
    client.connect((host, int(port)))
    return client


@contextlib.contextmanager
def clients_that_do_not_read(service, addresses, is_enough):
    """Start clients that ask for a large file and do not read it, until is_enough() is true."""
    client = http.client.HTTPConnection(service.address, timeout=60)
    client.request("GET", "/", headers={"Accept": "text/html", "Connection": "close"})
    page = client.getresponse().read().decode()
    script = re.search(r"/assets/[^\"]+\.js", page)[0]
    request = f"GET {script} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * REQUESTS
    clients = []
    try:
        while not is_enough():
            assert len(clients) < 4 * CONNECTIONS
            for _ in range(16):
                clients.append(connect_small(service, 2 + len(clients) % addresses))
                with contextlib.suppress(OSError):  # rejected, and closed already
                    clients[-1].sendall(request)
                time.sleep(0.01)  # the server has begun to send before the next one comes
        yield
    finally:
        for client in clients:
            client.close()


def test_health_has_connections_of_its_own(filled):
    querier = filled.querier
    refused = "decima_http_refused_connections_total"
    before = metrics(querier)[refused]
    with clients_that_do_not_read(querier, 4, lambda: status_of(querier, "/") == 503):
        for path in ("/healthy", "/ready", "/metrics"):
            assert tries_of(querier, path)[0] == [200] * 20
        with half_sent(querier, 200, b"GET /healthy HTTP/1.1\r\nHost:"):
            wait_until(lambda: status_of(querier, "/healthy") == 200, what="healthy")
        assert metrics(querier)[refused] > before
    wait_until(lambda: status_of(querier, QUERY) == 200, what="a query is answered")


def test_one_address_leaves_connections_to_others(filled):
    querier = filled.querier
    refused = "decima_http_address_share_refused_total"
    before = metrics(querier)[refused]
    with clients_that_do_not_read(querier, 1, lambda: metrics(querier)[refused] > before + 20):
        assert tries_of(querier, QUERY)[0] == [200] * 20  # from 127.0.0.1
    wait_until(lambda: status_of(querier, QUERY) == 200, what="a query is answered")
