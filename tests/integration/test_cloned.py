# SPDX-License-Identifier: Apache-2.0
"""Two machines are clones: their agents have the same node and machine id, and one began with a
copy of the other's spool. The samples of both are stored, and the fleet shows two agents.

spool_feed stands for the agent (test_spool.py). The pid of each sample is the batch's number.
"""
import shutil
import subprocess

import pytest

from harness import Cell, metrics, wait_until

PERIOD = 1000
COPIED, LAST = 20, 120   # batches of the spool when it was copied, and of each agent in the end
PAUSE_MS = 20
NODE = "cloned"


@pytest.fixture
def own(servers):
    with Cell(servers, "cloned") as made:
        made.start()
        yield made


def start(cell, state, last):
    return subprocess.Popen(
        [cell.fleet.build / "tests" / "spool_feed", state, cell.fleet.kafka.address(), cell.topic,
         str(last), NODE, str(PAUSE_MS)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def finish(*feeds):
    try:
        assert [feed.wait(180) for feed in feeds] == [0] * len(feeds)
    finally:
        for feed in feeds:
            feed.kill()
            feed.wait()


def stored(cell):
    """{pid: samples}"""
    stacks = cell.collapsed('{comm="spool_feed"}', group_by="pid")
    return {int(stack[0].removeprefix("pid=")): value // PERIOD for stack, value in stacks.items()}


def test_the_samples_of_both_are_kept_and_the_fleet_says_that_there_are_two(own, tmp_path):
    state, copy = tmp_path / "state", tmp_path / "copy"
    finish(start(own, state, COPIED))
    shutil.copytree(state, copy)
    finish(start(own, state, LAST), start(own, copy, LAST))

    # The copy numbers its batches from 1 again, in an epoch of its own.
    twice = dict.fromkeys(range(1, LAST + 1), 2)
    wait_until(lambda: stored(own) == twice, what="each number twice")
    host, = own.data("fleet")
    assert (host["agents"], host["stored"], host["duplicate"]) == (2, 2 * LAST, 0), host
    assert host["sampled"] == 2 * LAST and host["in_flight"] == 0, host
    wait_until(lambda: metrics(own.ingester)["decima_ingester_shared_hosts"] == 1,
               what="the ingester has found the host")
    assert 'msg="several agents send under one host id' in own.ingester.last_words(50)
