# SPDX-License-Identifier: Apache-2.0
"""faults_agent - a real agent on this machine with its spool on a small disk of its own, and their
faults: the agent is killed, stopped, terminated and restarted; its disk fills and is freed again.
"""
import os
import signal
import subprocess
import time
from pathlib import Path

from pinned import counted

DISK_BYTES = 1 << 20
ROOM_BYTES = 8192      # upper bound of the free bytes of the full disk
LEAVING_S = 180
SPOOLED_S = 180


def can_sample():
    return os.geteuid() == 0 and Path("/sys/kernel/btf/vmlinux").exists()


class SmallDisk:
    """A small file system that can be filled."""

    def __init__(self, place):
        self.place = place
        self.ballast = place / "ballast"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0755", "tmpfs",
                        place], check=True)

    def fill(self, room):
        """Leave `room` free bytes."""
        space = os.statvfs(self.place)
        size = max(0, space.f_bavail * space.f_frsize - room)
        with open(self.ballast, "wb") as file:
            file.write(bytes(size))

    def is_full(self):
        return self.ballast.exists()

    def make_room(self):
        self.ballast.unlink(missing_ok=True)

    def close(self):
        subprocess.run(["umount", "--lazy", self.place], check=True)


class RealAgent:
    """decima-agent; the samples depend on what this machine does meanwhile."""

    node = "real"

    def __init__(self, cell):
        self.disk = SmallDisk(cell.fleet.run_dir / f"{cell.name}-disk")
        self.state = self.disk.place / "state"
        self.service = cell.service("agent", flags={
            "node": self.node, "profiling-duration": "1s", "state-directory": self.state})
        self.leaving_until = None
        self.is_stopped = False

    def has_begun(self):
        """Whether it has a spool: it cannot create one on a full disk."""
        return (self.state / "spool" / "meta").exists()

    def has_run(self):
        return self.service.popen is not None

    def waiting(self):
        """Batches in its spool."""
        return len(list(self.state.glob("spool/*.batch")))

    def counted(self):
        """The samples that the kernel side has counted, read from the pinned map: it outlives the
        agent."""
        return counted(self.service.fleet.bpffs, self.state)

    def end(self):
        self.leaving_until = time.monotonic() + LEAVING_S
        os.close(self.service.send(signal.SIGTERM))

    def check(self):
        """Fail if it has exited without a fault, or has not exited after SIGTERM."""
        code = self.service.exit_code()
        if self.leaving_until and code is not None:
            self.leaving_until = None
        elif self.leaving_until:
            assert time.monotonic() < self.leaving_until, (
                f"the agent did not exit after SIGTERM:\n{self.service.last_words(30)}")
        # SIGTERM kills a program that has not installed its signal handler yet.
        assert code in (None, 0, -signal.SIGKILL, -signal.SIGTERM), (
            f"the agent exited by itself, with status {code}:\n{self.service.last_words(30)}")

    def close(self):
        self.service.kill()
        self.disk.close()


class AgentFaults:
    def launch_agent(self):
        """Start it once it has exited. If it was killed after SIGTERM, two starts are scheduled;
        the second one finds it running."""
        if not self.agent.service.alive():
            self.agent.leaving_until = None
            self.launch(self.agent.service, self.agent.service.launch)
        elif self.agent.leaving_until:
            self.schedule(0.2, 0.2, None, self.launch_agent)

    def _runs(self):
        agent = self.agent
        return (agent and agent.service.alive() and not agent.is_stopped
                and not agent.leaving_until)

    def kill_agent(self):
        if not self._runs():
            return False
        self.log("kill -9 the agent")
        self.agent.service.kill()
        self.schedule(0, 2, "start the agent", self.launch_agent)
        return True

    def stop_agent(self):
        if not self._runs():
            return False
        self.log("SIGSTOP the agent")
        self.agent.service.send(signal.SIGSTOP)
        self.agent_is_stopped()
        return True

    def agent_is_stopped(self):
        """Schedule its SIGCONT."""
        self.agent.is_stopped = True
        self.schedule(1, 4, "SIGCONT the agent", self._wake_agent)

    def _wake_agent(self):
        self.agent.service.send(signal.SIGCONT)
        self.agent.is_stopped = False

    def end_agent(self):
        if not self._runs():
            return False
        self.log("terminate the agent (SIGTERM)")
        self.agent.end()
        self.schedule(0, 2, "start the agent", self.launch_agent)
        return True

    def fill_disk(self):
        if not self.agent or self.agent.disk.is_full() or not self.agent.has_begun():
            return False
        room = self.rng.randrange(ROOM_BYTES)
        self.log(f"the agent's disk fills, {room} bytes are left")
        self.agent.disk.fill(room)
        self.schedule(2, 5, "free the agent's disk", self.agent.disk.make_room)
        return True

    def settle_agent(self, let_pass):
        """End the agent and wait until Kafka has all batches of its spool."""
        ends = time.monotonic() + SPOOLED_S
        agent = self.agent
        while True:
            while agent.service.alive() and time.monotonic() < ends:
                if not agent.leaving_until:
                    agent.end()
                let_pass(0.1)
            if not agent.waiting():
                return
            self.launch(agent.service, agent.service.launch)
            while agent.waiting() and time.monotonic() < ends:
                let_pass(0.1)
            assert time.monotonic() < ends, f"{agent.waiting()} batches are still in the spool"
