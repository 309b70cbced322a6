# SPDX-License-Identifier: Apache-2.0
"""An outage of a server delays samples and loses no sample. Each server is killed by SIGKILL."""
import contextlib
import json
import subprocess
import time
from collections import Counter

import confluent_kafka
import pytest

import shares
from harness import Cell, metrics, stays, wait_until
from test_fleet import look
from test_way_of_a_sample import HERTZ, program

pytestmark = pytest.mark.machine

ENOUGH_S = 8  # of CPU time: the bounds of its samples and of twice as many do not overlap


@pytest.fixture(scope="module")
def agent(cell):
    return cell.start_service(cell.service("agent", flags={"profiling-duration": "1s"}))


def burn(agent, seconds):
    """Burn CPU time; returns the program's pid and its CPU time."""
    done = subprocess.run([program(agent, "burn"), str(seconds)], stdout=subprocess.PIPE, text=True,
                          check=True, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout)


def found(cell, burnt):
    return cell.total('{pid="%d"}' % burnt["pid"]) * HERTZ / 1e9


def assert_all_found_once(cell, burnt):
    low, high = shares.ticks(burnt["cpu_seconds"], HERTZ)
    wait_until(lambda: found(cell, burnt) >= low, what=f"{low} samples")
    stays(lambda: found(cell, burnt) <= high, 3, "no sample counted twice")


def test_while_kafka_is_down_the_agent_keeps_its_samples(cell, agent, servers):
    servers.kafka.kill()
    burnt = burn(agent, ENOUGH_S)
    agent_lived = agent.alive()

    servers.kafka.launch()
    servers.kafka.wait_ready(servers.kafka.ready)

    assert agent_lived and cell.ingester.alive()
    assert_all_found_once(cell, burnt)


def test_while_postgresql_is_down_kafka_keeps_the_samples(cell, agent, servers):
    servers.postgres.kill()
    burnt = burn(agent, ENOUGH_S)
    wait_until(lambda: cell.querier.get("/ready")[0] == 503, what="the querier not ready")
    healthy = cell.querier.get("/healthy")[0]

    servers.postgres.launch()
    servers.postgres.wait_ready(servers.postgres.ready)

    assert healthy == 200 and cell.ingester.alive()
    wait_until(lambda: cell.querier.ready() and cell.ingester.ready(), what="both services ready")
    assert_all_found_once(cell, burnt)


def test_while_the_ingester_is_down_kafka_keeps_the_samples(cell, agent):
    cell.ingester.kill()
    burnt = burn(agent, ENOUGH_S)

    cell.start_service(cell.ingester)

    assert_all_found_once(cell, burnt)


def test_the_next_agent_sends_the_batches_of_a_killed_agent(cell, agent, servers):
    servers.kafka.kill()
    burnt = burn(agent, ENOUGH_S)
    settled = burn(agent, 2)  # the earlier samples are in the spool by now
    agent.kill()
    servers.kafka.launch()
    servers.kafka.wait_ready(servers.kafka.ready)

    cell.start_service(agent)

    assert settled["pid"] != burnt["pid"]
    assert_all_found_once(cell, burnt)


# a long outage of Kafka, and the agent killed meanwhile

RATE = 32 << 10  # bytes per second that may leave the spool


class Arrivals:
    """The messages of a topic, read by a consumer of the test in the order of each partition."""

    def __init__(self, cell, partitions):
        self.consumer = confluent_kafka.Consumer(cell.kafka_settings(**{
            "group.id": "arrivals", "enable.auto.commit": False}))
        self.assigned = [confluent_kafka.TopicPartition(cell.topic, partition, 0)
                         for partition in range(partitions)]
        self.consumer.assign(self.assigned)
        self.partitions, self.found = set(), []  # (sequence, bytes, sent at)
        self.status = None                       # of the last message
        self.next = Counter()                    # {partition: offset that is read next}

    def end_of(self, partition):
        """The offset after its last message, as the broker says: a consumer that has not connected
        again yet gets no messages either."""
        with contextlib.suppress(confluent_kafka.KafkaException):
            return self.consumer.get_watermark_offsets(partition, timeout=10)[1]
        raise AssertionError(f"the broker does not say where {partition} ends")

    def read(self):
        """Read all messages that are there."""
        ends = {at.partition: self.end_of(at) for at in self.assigned}
        while any(self.next[partition] < end for partition, end in ends.items()):
            message = self.consumer.poll(1)
            if not message or message.error():
                continue
            self.next[message.partition()] = message.offset() + 1
            fields = dict(message.headers())
            self.partitions.add(message.partition())
            self.status = fields["decima-status"]
            self.found.append((int(fields["decima-seq"]), len(message.value()),
                               message.timestamp()[1] / 1000))
        return self.found

    def once(self):
        """Without duplicates, which a killed agent had sent before the acknowledgement."""
        seen = set()
        return [each for each in self.found if not (each[0] in seen or seen.add(each[0]))]

    def fastest(self, since):
        """Most bytes per second in any time of 2 s or more after `since`."""
        sent = [(at, size) for _, size, at in self.found if at >= since]
        return max((sum(size for _, size in sent[first + 1:last + 1]) / (sent[last][0] - at)
                    for first, (at, _) in enumerate(sent) for last in range(first, len(sent))
                    if sent[last][0] - at >= 2), default=0)


def keep_busy(agent, seconds):
    """Use a tenth of a CPU for `seconds`."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        burn(agent, 0.1)
        time.sleep(max(0, min(0.9, ends - time.monotonic())))


@pytest.mark.parametrize("away", [20, pytest.param(600, marks=pytest.mark.long)])
def test_after_an_outage_batches_arrive_in_order_at_a_bounded_rate(servers, protos, figure, away):
    with Cell(servers, f"outage_{away}") as cell:
        cell.start()
        agent = cell.start_service(cell.service("agent", flags={
            "profiling-duration": "1s", "node": "long", "spool-max-rate": RATE}))
        arrivals = Arrivals(cell, partitions=4)
        wait_until(arrivals.read, what="the first batch")

        servers.kafka.kill()
        try:
            keep_busy(agent, away / 2)
            agent.kill()
            cell.start_service(agent)
            keep_busy(agent, away / 2)
            waiting = metrics(agent)
        finally:
            servers.kafka.launch()
            back = time.time()
            servers.kafka.wait_ready(servers.kafka.ready)
        backlog = waiting["decima_agent_spool_batches"]
        assert backlog >= away / 2  # a batch for most seconds

        bound = RATE

        def all_arrived():
            nonlocal bound
            now = metrics(agent)
            bound = max(bound, now["decima_agent_spool_max_rate_bytes"])
            return now["decima_agent_spool_batches"] <= 1
        wait_until(all_arrived, 60 + 2 * waiting["decima_agent_spool_bytes"] / RATE, "all sent")
        drained = time.time() - back
        agent.stop()
        wait_until(arrivals.read, what="all messages")

        once = arrivals.once()
        assert [sequence for sequence, _, _ in once] == list(range(1, len(once) + 1))
        assert len(arrivals.partitions) == 1
        largest, fastest = max(size for _, size, _ in once), arrivals.fastest(back)
        assert fastest <= bound + (bound + largest) / 2  # a burst, over 2 s or more

        def balanced():
            host, = look(cell)
            assert host["sampled"] == protos.status.AgentStatus.FromString(arrivals.status).sampled
            assert host["in_flight"] == 0 and host["missing"] == 0
            assert host["stored"] + sum(host["lost"].values()) == host["sampled"]
            assert set(host["lost"]) <= {"agent_killed"}
            return host
        host = wait_until(balanced, what="a balanced host")
        figure(f"Kafka away for {away} s, the agent killed meanwhile: {backlog:.0f} batches of "
               f"{waiting['decima_agent_spool_bytes'] / 1e3:.0f} KB waited and arrived "
               f"{drained:.1f} s after Kafka began to start, in order, at {fastest / 1e3:.0f} KB/s "
               f"at most (bound {bound / 1e3:.0f}); {host['stored']} samples stored, lost "
               f"{host['lost']}, {host['duplicate']} arrived twice")
