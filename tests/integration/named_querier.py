# SPDX-License-Identifier: Apache-2.0
"""named_querier - samples of two programs, and a querier that requests their symbols."""
import json
import urllib.parse
import urllib.request

import pytest

from fake_symbolizer import FakeSymbolizer
from harness import wait_until
from otlp_messages import PERIOD, cpu_message

ALPHA, BETA = "aa" * 20, "bb" * 20
TICKS = {(0x10, 0x1000): 3, (0x10, 0x1004): 2, (0x20, 0x2000): 1}
MAIN, WORK = ("main", "/src/m.c", 7), ("work(int)", "/src/w.c", 21)
STEP, LEAF = ("step", "/src/w.h", 3), ("leaf", "/src/w.h", 9)

# The `collapsed` reports of both programs without symbols, and of alpha with symbols.
PLAIN = {"alpha+0x10;alpha+0x1000": 3, "alpha+0x10;alpha+0x1004": 2, "alpha+0x20;alpha+0x2000": 1}
OF_BETA = {stack.replace("alpha", "beta"): n for stack, n in PLAIN.items()}
OF_ALPHA = {"main;work(int);step;leaf": 3, "main;work(int)": 2, "main;alpha+0x2000": 1}


@pytest.fixture(scope="module")
def filled(cell, protos):
    """The cell with alpha and beta, which have the same stacks, 6 ticks each."""
    for comm, build_id in (("alpha", ALPHA), ("beta", BETA)):
        cell.produce(cpu_message(protos, comm, TICKS, node="n1", path=f"/nowhere/{comm}",
                                 build_id=build_id))
    wait_until(lambda: cell.total("{}") == 12 * PERIOD, what="12 ticks")
    return cell


class Named:
    """A querier with its own fake symbolizer, which resolves most of alpha and nothing of beta."""

    def __init__(self, cell, protos, name, **flags):
        self.cell, self.protos = cell, protos
        self.fake = FakeSymbolizer(protos)
        for address, lines in ((0x10, [MAIN]), (0x1000, [LEAF, STEP, WORK]), (0x1004, [WORK]),
                               (0x20, [MAIN])):
            self.fake.name(ALPHA, address, *lines)
        flags = {"symbolizer-url": self.fake.url, "symbolizer-timeout": "20s"} | flags
        self.querier = cell.service("querier", name, flags)

    def __enter__(self):
        self.fake.__enter__()
        self.cell.start_service(self.querier)
        return self

    def __exit__(self, *_):
        self.querier.kill()
        self.fake.__exit__()

    def ask(self, query="{}", report="collapsed", wait=60, **params):
        """(body, headers) of a response that must be a success."""
        url = f"{self.querier.url}/api/v1/query?" + urllib.parse.urlencode(
            {"query": query, "report": report} | params)
        with urllib.request.urlopen(url, timeout=wait) as response:
            return response.read(), response.headers

    def json(self, report, **params):
        return json.loads(self.ask(report=report, **params)[0])

    def stacks(self, query="{}", **params):
        lines = self.ask(query, **params)[0].decode().splitlines()
        return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) // PERIOD for line in lines}

    def stats(self, **params):
        return json.loads(self.ask(**params)[1]["Decima-Stats"])["symbols"]

    def is_named(self):
        return "main;work(int)" in self.stacks()
