# SPDX-License-Identifier: Apache-2.0
"""faults_failpoints - a process is killed or stopped at a failpoint (docs/failpoints.md).

Each round arms one failpoint, in an ingester, in the real agent or in a feed, before the process
starts. If the process is killed before it meets the failpoint, it is restarted with it.
"""
import itertools
import re
import signal
from collections import namedtuple

from failpoint_cases import is_stopped
from local.servers import ROOT

ACTIONS = ("kill", "stop")
VISITS = 3

Failpoint = namedtuple("Failpoint", "name program action")


def all_failpoints():
    """The failpoints of the documentation, which is generated from the table in the source."""
    page = (ROOT / "docs" / "failpoints.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| (\w+) \|", page, re.MULTILINE)
    assert rows, "docs/failpoints.md has no failpoints"
    return [Failpoint(*row, action) for row, action in itertools.product(rows, ACTIONS)]


class FailpointFaults:
    def __init__(self):
        self.armed = None   # (failpoint, process)
        self.met = []       # failpoints that were met

    def arm(self, failpoint):
        """Arm it. To be called before the feeds and the agent start."""
        if failpoint.program == "ingester":
            process = self._ingester_to_start()
        else:
            process = self.rng.choice(self.feeds + [self.agent.service] * bool(self.agent))
        visit = 1 if failpoint.name == "in-revoke" else self.rng.randint(1, VISITS)
        process.flags["failpoints"] = f"{failpoint.name}={failpoint.action}:{visit}"
        self.log(f"failpoint in {process.name}: {process.flags['failpoints']}")
        self.armed = failpoint, process
        if failpoint.program == "ingester":
            self.launch_ingester(process)

    def _ingester_to_start(self):
        """A new ingester, or a running one that is killed first."""
        ingester = self.pick()
        if self.has_room() or not ingester:
            return self.new_ingester()
        self.log(f"kill -9 {ingester.name}")
        ingester.kill()
        return ingester

    def is_armed(self, process):
        return self.armed and self.armed[1] is process

    def check_failpoint(self):
        """If the armed process has met its failpoint, schedule its restart or SIGCONT."""
        if not self.armed or not is_met(*self.armed):
            return
        failpoint, process = self.armed
        self.armed = None
        process.flags["failpoints"] = None
        self.log(f"{process.name} is at {failpoint.name}: {failpoint.action}")
        self.met.append(failpoint)
        self.counts[f"failpoint {failpoint.name} {failpoint.action}"] += 1
        if failpoint.program == "ingester":
            self._ingester_met(failpoint, process)
        elif self.agent and process is self.agent.service:
            self._agent_met(failpoint)
        else:
            self._feed_met(failpoint, process)

    def _ingester_met(self, failpoint, ingester):
        if failpoint.action == "kill":
            self.schedule(0, 2, f"start {ingester.name}", lambda: self.launch_ingester(ingester))
        elif ingester not in self.stopped:
            self.is_stopped(ingester)

    def _agent_met(self, failpoint):
        if failpoint.action == "kill":
            self.schedule(0, 2, "start the agent", self.launch_agent)
        elif not self.agent.is_stopped:
            self.agent_is_stopped()

    def _feed_met(self, failpoint, feed):
        if failpoint.action == "kill":
            self.schedule(0, 1, f"start {feed.name}", lambda: self.launch(feed, feed.launch))
        else:
            self.schedule(0, 3, f"SIGCONT {feed.name}", lambda: feed.send(signal.SIGCONT))

    def provoke(self):
        """Cause the event that the armed process waits for, if nothing else causes it."""
        if self.armed and self.armed[0].name == "in-revoke":
            others = [i for i in self.running() if not self.is_armed(i)]
            if self.has_room():
                self.add_ingester()
            elif others:
                self.kill_ingester(others[0])


def is_met(failpoint, process):
    """Whether it has logged the failpoint and is killed or stopped there."""
    if f'msg="failpoint" name={failpoint.name} ' not in process.last_words(20):
        return False
    if failpoint.action == "kill":
        return process.exit_code() == -signal.SIGKILL
    return is_stopped(process)
