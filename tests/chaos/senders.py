# SPDX-License-Identifier: Apache-2.0
"""senders - hosts that send batches. Some use the agent's own spool, which is killed. Simulated
hosts send batches twice, late and to changing partitions, garbage, and messages without a sequence
number. Half of their messages are of past hours or days: these are rolled up while more arrive.

In every sample the pid is the batch's number, so that a wrong sum names the batch.
"""
import random
import signal
import threading
import time

import confluent_kafka

from local.process import Process
from otlp_messages import cpu_message, headers, heap_message

GARBAGE = b"\x0a\x7f\x01"  # a field that ends after the message
KEPT = 40                  # batches of a host that may be sent again
LATE_S = (2 * 3600, 5 * 3600)  # of past hours: they are rolled up as they arrive
OLD_S = (50 * 3600, 60 * 3600)  # of past days


class Feed(Process):
    """tests/spool_feed: the agent's spool and publisher."""

    def __init__(self, cell, name, pause_ms, node=None):
        super().__init__(cell.fleet.run_dir, f"{cell.name}-{name}", name)
        self.cell, self.node, self.pause_ms, self.last = cell, node or name, pause_ms, 0
        self.state = cell.fleet.run_dir / self.name
        self.flags = {"failpoints": None}

    def launch(self):
        self.state.mkdir(exist_ok=True)
        self.start([self.cell.fleet.build / "tests" / "spool_feed", self.state,
                    self.cell.fleet.kafka.address(), self.cell.topic, self.last, self.node,
                    self.pause_ms, self.flags["failpoints"] or ""], tied_signal=signal.SIGKILL)

    def feed(self, seconds):
        """Run for about that long, if it is not disturbed."""
        self.last += int(seconds * 1000 / (self.pause_ms + 2))
        self.launch()

    def close(self):
        self.kill()

    def finish(self, timeout):
        if not self.alive() and self.exit_code() != 0:
            self.launch()
        ends = time.monotonic() + timeout
        while self.alive():
            assert time.monotonic() < ends, f"{self.name} did not end:\n{self.last_words()}"
            time.sleep(0.05)
        assert self.exit_code() == 0, f"{self.name} failed:\n{self.last_words()}"


class Host:
    """A simulated host. If it `wanders`, its batches go to random partitions."""

    def __init__(self, name, wanders=False):
        self.name, self.wanders = name, wanders
        self.key = f"{name}/made-up".encode()
        self.sequence = self.sampled = 0
        self.sent, self.late = [], []


class Sender(threading.Thread):
    """Sends for all simulated hosts at a steady rate."""

    def __init__(self, cell, protos, seed, pause=0.02):
        super().__init__(daemon=True)
        self.cell, self.protos, self.pause = cell, protos, pause
        self.rng = random.Random(seed)
        self.hosts = [Host("calm"), Host("busy"), Host("wanderer", wanders=True)]
        self.partitions = 1
        self.plain = 0
        self.paused, self.idle, self.ended = (threading.Event() for _ in range(3))
        self.failure = None
        self.reconnect()

    def reconnect(self):
        """Create a client, which knows nothing of the topic's partitions. Only while paused."""
        self.producer = confluent_kafka.Producer(self.cell.kafka_settings(**{
            "linger.ms": 0, "acks": "all", "topic.metadata.refresh.interval.ms": 1000,
            "log_level": 2}))  # do not log that Kafka is away

    def run(self):
        try:
            while not self.ended.is_set():
                if self.paused.is_set():
                    self.idle.set()
                else:
                    self.idle.clear()
                    self._step()
                time.sleep(self.pause)
        except Exception as e:  # pylint: disable=broad-except
            self.failure = e
            self.idle.set()

    def _step(self):
        self.producer.poll(0)
        if self.rng.random() < 0.3:
            self._send_plain()
            return
        host = self.rng.choice(self.hosts)
        luck = self.rng.random()
        if luck < 0.08 and host.sent:
            self._produce(host, self.rng.choice(host.sent))
        elif luck < 0.15 and host.late:
            self._produce(host, host.late.pop(self.rng.randrange(len(host.late))))
        else:
            self._send_new(host, luck)

    def _ticks(self):
        return {(self.rng.randrange(16), self.rng.randrange(64)):
                self.rng.randint(1, 3) for _ in range(self.rng.randint(1, 4))}

    def _at_ms(self):
        """The current time, or a time of a past hour or day."""
        luck = self.rng.random()
        ago_s = 0 if luck < 0.5 else self.rng.uniform(*(LATE_S if luck < 0.85 else OLD_S))
        return int((time.time() - ago_s) * 1000)

    def _send_plain(self):
        self.plain += 1
        at_ms = self._at_ms()
        if self.rng.random() < 0.3:
            sizes = {stack: 1000 * ticks for stack, ticks in self._ticks().items()}
            self._put(heap_message(self.protos, "chaos", at_ms, sizes, node="plain",
                                   pid=self.plain % 3), anywhere=True)
            return
        self._put(cpu_message(self.protos, "chaos", self._ticks(), node="plain", pid=self.plain,
                              at_ms=at_ms), anywhere=True)

    def _send_new(self, host, luck):
        ticks = self._ticks()
        host.sequence += 1
        host.sampled += sum(ticks.values())
        status = self.protos.status.AgentStatus(
            node=host.name.encode(), sampled=host.sampled, batch_samples=sum(ticks.values()))
        value = GARBAGE if luck > 0.98 else cpu_message(
            self.protos, "chaos", ticks, node=host.name, pid=host.sequence,
            at_ms=self._at_ms())
        batch = host.sequence, value, status.SerializeToString()
        if luck < 0.25:
            host.late.append(batch)
        else:
            self._produce(host, batch)

    def _produce(self, host, batch):
        sequence, value, status = batch
        self._put(value, host.wanders, key=host.key, headers=headers(sequence, status=status))
        host.sent = (host.sent + [batch])[-KEPT:]

    def _put(self, value, anywhere, **more):
        if anywhere:
            partition = self.rng.randrange(self.partitions)
            try:
                self.producer.produce(self.cell.topic, value, partition=partition, **more)
                return
            except confluent_kafka.KafkaException:
                pass  # the client does not know a new partition yet
        self.producer.produce(self.cell.topic, value, **more)

    def finish(self, timeout):
        """Pause: send all deferred batches and wait until Kafka has acknowledged everything."""
        self.idle.clear()
        self.paused.set()
        ends = time.monotonic() + timeout
        while not self.idle.wait(0.1):
            assert time.monotonic() < ends and not self.failure, f"the sender: {self.failure!r}"
        assert not self.failure, f"the sender: {self.failure!r}"
        for host in self.hosts:
            for batch in host.late:
                self._produce(host, batch)
            host.late = []
        assert self.producer.flush(timeout) == 0, "Kafka did not acknowledge every message"

    def close(self):
        self.ended.set()
        self.join()
        self.producer.purge()
        self.producer = None

    def go_on(self):
        self.paused.clear()
