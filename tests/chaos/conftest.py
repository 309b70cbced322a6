# SPDX-License-Identifier: Apache-2.0
"""The options and the servers of tests/chaos; test_chaos.py says what is done with them.

The servers are this suite's own: they are killed, and nobody else's should be.
"""
import random

import pytest

from harness import servers_of_a_run
from postgres_disk import postgres_on_its_own_disk
from tally import Tally

TALLIES = []


def pytest_addoption(parser):
    parser.addoption("--rounds", type=int, default=2, help="rounds of chaos (2)")
    parser.addoption("--seed", type=int, help="of the chaos; without it a new one is taken")


def pytest_terminal_summary(terminalreporter):
    for tally in TALLIES:
        for line in tally.lines():
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def seed(request):
    given = request.config.getoption("--seed")
    seed_of_run = random.SystemRandom().randrange(1 << 31) if given is None else given
    print(f"seed {seed_of_run}")
    return seed_of_run


@pytest.fixture
def tally(seed):
    """Printed at the end of the run."""
    TALLIES.append(Tally(seed))
    return TALLIES[-1]


@pytest.fixture(scope="module")
def killed_servers():
    """PostgreSQL and Kafka of their own, to be killed."""
    with servers_of_a_run("-chaos", without=("redis",)) as fleet:
        with postgres_on_its_own_disk(fleet) as disk:
            fleet.postgres_disk = disk
            yield fleet
