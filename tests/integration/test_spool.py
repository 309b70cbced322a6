# SPDX-License-Identifier: Apache-2.0
"""From the spool on, no batch is lost and no batch is counted twice if a process is killed.

spool_feed puts batches into a real spool and publishes them, like the agent. Each batch has one
sample whose pid is the batch's sequence number, so the result must have each number once.
"""
import random
import subprocess
import time

import pytest

from harness import wait_until

PERIOD = 1000


class Feed:
    def __init__(self, cell, directory):
        self.cell, self.directory = cell, directory
        self.program = cell.fleet.build / "tests" / "spool_feed"
        self.began = time.time() - 0.01  # the previous test stored samples of the same comm
        self.log = directory / "feed.log"

    def start(self, last):
        with open(self.log, "ab") as log:
            return subprocess.Popen(
                [self.program, self.directory / "state", self.cell.fleet.kafka.address(),
                 self.cell.topic, str(last)], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def finish(self, last, timeout=90):
        """Run spool_feed to its end."""
        running = self.start(last)
        try:
            assert running.wait(timeout) == 0, self.log.read_text()[-2000:]
        finally:
            running.kill()
            running.wait()

    def numbers(self):
        """{pid: value} of all stored samples."""
        stacks = self.cell.collapsed('{comm="spool_feed"}', group_by="pid",
                                     start=f"{self.began:.3f}", end=f"{time.time() + 1:.3f}")
        return {int(stack[0].removeprefix("pid=")): value for stack, value in stacks.items()}

    def expect_each_once(self, last):
        wanted = {number: PERIOD for number in range(1, last + 1)}

        def each_once():
            found = self.numbers()
            assert set(found) == set(wanted), f"missing: {sorted(set(wanted) - set(found))}"
            return True

        wait_until(each_once, what=f"{last} batches")
        assert self.numbers() == wanted


@pytest.fixture
def feed(cell, tmp_path):
    return Feed(cell, tmp_path)


def test_each_batch_is_counted_once_if_its_sender_is_killed_repeatedly(feed):
    chance = random.Random(20)
    last = 300
    for _ in range(12):
        running = feed.start(last)
        time.sleep(chance.uniform(0.02, 0.5))
        running.kill()
        running.wait()

    feed.finish(last)

    feed.expect_each_once(last)


def test_batches_wait_until_a_killed_kafka_is_back(feed, servers):
    last = 200
    running = feed.start(last)
    try:
        time.sleep(0.4)
        servers.kafka.kill()
        time.sleep(1)
        servers.start_servers()
        assert running.wait(90) == 0, feed.log.read_text()[-2000:]
    finally:
        running.kill()
        running.wait()
        servers.start_servers()

    feed.expect_each_once(last)
