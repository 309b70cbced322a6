# SPDX-License-Identifier: Apache-2.0
"""spooled - an agent without servers: its batches stay in its spool, where a test reads them.

They hold the time of each sample, and the agent's own balance: sampled = spooled + lost.
"""
import signal
import struct

from harness import wait_until
from local.services import Service
from reference import samples_of


class SpoolingAgent:
    def __init__(self, fleet, name, directory, protos, **flags):
        self.directory, self.protos = directory, protos
        self.service = Service(fleet, "agent", name, {
            "kafka-brokers": "127.0.0.1:1", "state-directory": directory, "node": name,
            "profiling-duration": "2s"} | {k.replace("_", "-"): v for k, v in flags.items()})
        self.service.launch()
        self.service.wait_ready(self.service.ready)
        self.pid = self.service.pid()

    def stop(self):
        self.service.send(signal.SIGTERM)
        wait_until(lambda: not self.service.alive(), what="the agent ended")
        assert self.service.exit_code() == 0, self.service.last_words()

    def kill(self):
        self.service.kill()

    def batches(self):
        """[(AgentStatus, ProfilesData)], the oldest first."""
        found = []
        for path in sorted((self.directory / "spool").glob("*.batch")):
            head = path.read_bytes()
            key, status, value = struct.unpack_from("<III", head, 40)
            at = 64 + key
            found.append((self.protos.status.AgentStatus.FromString(head[at:at + status]),
                          self.protos.profiles.ProfilesData.FromString(
                              head[at + status:at + status + value])))
        return found


def samples_in(batches):
    return [sample for _, message in batches for sample in samples_of(message)]


def expect_balanced(batches):
    """Each status is balanced, and says what is in the batches. Returns (sampled, {reason: lost}).
    """
    spooled, status = 0, None
    for status, message in batches:
        spooled += sum(1 for _ in samples_of(message))
        lost = {count.reason.decode(): count.samples for count in status.lost}
        assert status.spooled == spooled, status
        assert status.sampled == spooled + sum(lost.values()), status
    return status.sampled, {reason: count for reason, count in lost.items() if count}
