"""A server that is gone costs time, never samples. Each is killed as a crash would kill it."""
import json
import math
import os
import subprocess
from pathlib import Path

import pytest

from harness import stays, wait_until
from test_way_of_a_sample import HERTZ, program

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not Path("/sys/kernel/btf/vmlinux").exists(),
                                reason="the agent needs root and BTF")


@pytest.fixture(scope="module")
def agent(cell):
    return cell.start_service(cell.service("agent", flags={"profiling-duration": "1s"}))


def burn(agent, seconds):
    """Burn CPU time; the program's pid and what it took."""
    done = subprocess.run([program(agent, "burn"), str(seconds)], stdout=subprocess.PIPE, text=True,
                          check=True, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout)


def found(cell, burnt):
    return cell.total('{pid="%d"}' % burnt["pid"]) * HERTZ / 1e9


def assert_all_found_once(cell, burnt):
    expected = burnt["cpu_seconds"] * HERTZ
    allowed = 3 * math.sqrt(expected)
    wait_until(lambda: found(cell, burnt) >= expected - allowed, 60, f"{expected:.0f} samples")
    stays(lambda: found(cell, burnt) <= expected + allowed, 3, "none is counted twice")


def test_while_kafka_is_gone_the_agent_keeps_what_it_takes(cell, agent, servers):
    servers.kafka.kill()
    burnt = burn(agent, 4)
    agent_lived = agent.alive()

    servers.kafka.launch()
    servers.kafka.wait_ready(servers.kafka.ready, 60)

    assert agent_lived and cell.ingester.alive()
    assert_all_found_once(cell, burnt)


def test_while_postgresql_is_gone_kafka_keeps_it(cell, agent, servers):
    servers.postgres.kill()
    burnt = burn(agent, 4)
    wait_until(lambda: cell.querier.get("/ready")[0] == 503, 30, "the querier says it is not ready")
    healthy = cell.querier.get("/healthy")[0]

    servers.postgres.launch()
    servers.postgres.wait_ready(servers.postgres.ready, 60)

    assert healthy == 200 and cell.ingester.alive()
    wait_until(lambda: cell.querier.ready() and cell.ingester.ready(), 60, "both are ready again")
    assert_all_found_once(cell, burnt)


def test_while_the_ingester_is_gone_kafka_keeps_it(cell, agent):
    cell.ingester.kill()
    burnt = burn(agent, 4)

    cell.start_service(cell.ingester, 60)

    assert_all_found_once(cell, burnt)


def test_an_agent_that_is_killed_leaves_its_batches_to_the_next(cell, agent, servers):
    servers.kafka.kill()
    burnt = burn(agent, 4)
    settled = burn(agent, 2)  # what came before it is in the spool by now
    agent.kill()
    servers.kafka.launch()
    servers.kafka.wait_ready(servers.kafka.ready, 60)

    cell.start_service(agent)

    assert settled["pid"] != burnt["pid"]
    assert_all_found_once(cell, burnt)
