# SPDX-License-Identifier: Apache-2.0
"""Clients that send large bodies and do not end them: the memory for bodies stays bounded."""
import contextlib

from harness import metrics, wait_until
from test_garbage import MB, resident
from test_hostile_clients import answer_of, connect_from, status_of

CLIENTS, BODY = 60, 15 * MB  # of at most 16 MiB
BOUND = 256 * MB
HEAD = b"POST /api/v1/symbolz HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (BODY + 1)


def test_bodies_that_do_not_end_do_not_exceed_their_memory(cell, figure):
    querier = cell.querier
    refused = "decima_http_bodies_refused_total"
    idle, before, clients = resident(querier.pid()), metrics(querier)[refused], []
    try:
        for i in range(CLIENTS):
            client = connect_from(querier, 2 + i % 16)
            clients.append(client)
            with contextlib.suppress(OSError):  # rejected, and closed already
                client.sendall(HEAD + b"0" * BODY)
        wait_until(lambda: metrics(querier)[refused] >= before + 20, what="bodies rejected")
        most, seen = resident(querier.pid()), metrics(querier)
        assert status_of(querier, "/api/v1/labels") == 200
        with contextlib.suppress(OSError):
            clients[-1].sendall(b"0")
        told = answer_of(clients[-1])
    finally:
        for client in clients:
            client.close()
    wait_until(lambda: metrics(querier)["decima_http_bodies_bytes"] == 0, what="bodies freed")
    left = resident(querier.pid())

    figure(f"{CLIENTS} bodies of {BODY // MB} MB: {(most - idle) / MB:.0f} MB, of which "
           f"{seen['decima_http_bodies_bytes'] / MB:.0f} MB are counted; afterwards "
           f"{(left - idle) / MB:.0f} MB")
    assert told.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: 1\r\n" in told
    assert seen["decima_http_bodies_bytes"] <= BOUND
    assert most - idle <= BOUND + 100 * MB
    assert left - idle <= 100 * MB
