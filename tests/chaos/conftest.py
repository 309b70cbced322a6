"""The options and the servers of tests/chaos; test_chaos.py says what is done with them.

The servers are this suite's own: they are killed, and nobody else's should be.
"""
import random
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "chaos"), str(TESTS / "integration"), str(TESTS.parent / "tools")]

from harness import compile_protos, servers_of_a_run  # noqa: E402  (the path comes first)


def pytest_addoption(parser):
    parser.addoption("--rounds", type=int, default=3, help="rounds of chaos (3)")
    parser.addoption("--seed", type=int, help="of the chaos; without it a new one is taken")


@pytest.fixture(scope="session")
def seed(request):
    given = request.config.getoption("--seed")
    return random.SystemRandom().randrange(1 << 31) if given is None else given


@pytest.fixture(scope="module")
def killed_servers():
    """PostgreSQL and Kafka of their own, to be killed."""
    with servers_of_a_run("-chaos", without=("redis",)) as fleet:
        yield fleet


@pytest.fixture(scope="session")
def protos(tmp_path_factory):
    return compile_protos(tmp_path_factory.mktemp("protos"))
