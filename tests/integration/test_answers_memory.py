# SPDX-License-Identifier: Apache-2.0
"""Clients that ask for large responses and do not read them: the querier's memory stays bounded."""
import contextlib
import json
import random
import subprocess
import threading
import urllib.parse

import pytest

from harness import metrics, wait_until
from otlp_messages import PERIOD, cpu_message
from test_garbage import MB, resident
from test_hostile_clients import connect_small, status_of

STACKS, DEPTH, MESSAGES = 8_000, 20, 20
CLIENTS = 60
LIMIT, QUERY_LIMIT = 900, 300  # MB
COUNTED = "decima_querier_memory_counted_bytes"
NO_MEMORY = 'decima_querier_pool_rejections_total{reason="memory"}'


@pytest.fixture(scope="module")
def querier(cell, protos):
    """A querier with small limits, and 160,000 stacks of 20 frames in its database."""
    choice = random.Random(1)
    for _ in range(MESSAGES):
        cell.produce(cpu_message(protos, "large", {
            tuple(choice.randrange(1 << 12) for _ in range(DEPTH)): 1 for _ in range(STACKS)}))
    wait_until(lambda: cell.total("{}") == MESSAGES * STACKS * PERIOD, what="all stacks")
    return cell.start_service(cell.service("querier", "tight", {
        "memory-limit": f"{LIMIT}MB", "query-memory-limit": f"{QUERY_LIMIT}MB",
        "query-timeout": "5m"}))


def path_of(report):
    return "/api/v1/query?" + urllib.parse.urlencode({"query": "{}", "report": report})


class Reader(threading.Thread):
    """Asks for a large response, reads its beginning and keeps the connection."""

    def __init__(self, service, number):
        super().__init__(daemon=True)
        self.client, self.head = connect_small(service, 2 + number % 16), b""
        self.client.settimeout(300)
        self.client.sendall(f"GET {path_of('collapsed')} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            self.head = self.client.recv(2048)


def test_responses_that_are_not_read_do_not_exceed_the_memory_limit(querier, figure):
    status, body = querier.get(path_of("collapsed"))
    assert status == 200, body[:300]
    wait_until(lambda: metrics(querier)[COUNTED] == 0, what="the response is freed")
    idle = resident(querier.pid())
    readers = [Reader(querier, i) for i in range(CLIENTS)]
    try:
        for reader in readers:
            reader.join(300)
        during = metrics(querier)
        busy = resident(querier.pid())
    finally:
        for reader in readers:
            reader.client.close()
    statuses = [reader.head.split(b" ", 2)[1] for reader in readers]
    told = next(reader.head for reader in readers if b" 503 " in reader.head)
    wait_until(lambda: metrics(querier)[COUNTED] == 0, what="all responses are freed")
    # What connections to PostgreSQL keep for rows.
    wait_until(lambda: resident(querier.pid()) < idle + 100 * MB, what="the memory is returned")
    after, peak = resident(querier.pid()), resident(querier.pid(), "VmHWM")

    figure(f"{CLIENTS} clients, {statuses.count(b'200')} answered: {during[COUNTED] / MB:.0f} MB "
           f"counted; resident {idle / MB:.0f} MB before, {busy / MB:.0f} during, "
           f"{peak / MB:.0f} at most, {after / MB:.0f} afterwards")
    assert set(statuses) == {b"200", b"503"}
    assert during[COUNTED] <= LIMIT * MB and during[NO_MEMORY] == statuses.count(b"503")
    assert peak < idle + 1.2 * LIMIT * MB
    assert b"\r\nRetry-After: 1\r\n" in told
    body = json.loads(told.partition(b"\r\n\r\n")[2])
    assert body["errorType"] == "unavailable" and "--memory-limit" in body["error"]
    assert status_of(querier, path_of("pprof")) == 200


def test_a_limit_of_all_queries_below_that_of_one_is_an_error(cell):
    done = subprocess.run([cell.fleet.build / "services" / "querier" / "decima-querier",
                           "--memory-limit=100MB", "--query-memory-limit=200MB"],
                          capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1
    assert "--query-memory-limit is more than --memory-limit" in done.stderr
