# SPDX-License-Identifier: Apache-2.0
"""The options and the servers of tests/chaos.

The suite starts servers of its own, because its tests kill them.
"""
import random

import pytest

from harness import servers_of_a_run
from postgres_disk import postgres_on_its_own_disk
from totals import Totals

TOTALS = []


def pytest_addoption(parser):
    parser.addoption("--rounds", type=int, default=2, help="rounds of chaos (2)")
    parser.addoption("--rounds-of-a-cell", type=int, default=5,
                     help="then an event destroys data (5)")
    parser.addoption("--seed", type=int, help="of the random faults; the default is a new one")


def pytest_terminal_summary(terminalreporter):
    for totals in TOTALS:
        for line in totals.lines():
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def seed(request):
    given = request.config.getoption("--seed")
    seed_of_run = random.SystemRandom().randrange(1 << 31) if given is None else given
    print(f"seed {seed_of_run}")
    return seed_of_run


@pytest.fixture
def totals(seed):
    """The totals, which are printed at the end of the run."""
    TOTALS.append(Totals(seed))
    return TOTALS[-1]


@pytest.fixture(scope="module")
def killed_servers():
    """PostgreSQL and Kafka for this suite only; its tests kill them."""
    with servers_of_a_run("-chaos", without=("redis",)) as fleet:
        with postgres_on_its_own_disk(fleet) as disk:
            fleet.postgres_disk = disk
            yield fleet
