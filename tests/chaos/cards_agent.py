# SPDX-License-Identifier: Apache-2.0
"""cards_agent - a real agent on this machine, its spool on a small disk of its own, and what is
done to both: it is killed, stopped, ended and started again; its disk fills and is made room on.
"""
import os
import signal
import subprocess
import time
from pathlib import Path

from pinned import counted

DISK_BYTES = 1 << 20
ROOM_BYTES = 8192      # at most so many are left free when it is filled
LEAVING_S = 30
SPOOLED_S = 60


def can_sample():
    return os.geteuid() == 0 and Path("/sys/kernel/btf/vmlinux").exists()


class SmallDisk:
    """A file system of its own that can be filled."""

    def __init__(self, place):
        self.place = place
        self.ballast = place / "ballast"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0755", "tmpfs",
                        place], check=True)

    def fill(self, room):
        """All but `room` bytes."""
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
    """decima-agent; what it takes depends on what this machine does meanwhile."""

    node = "real"

    def __init__(self, cell):
        self.disk = SmallDisk(cell.fleet.run_dir / f"{cell.name}-disk")
        self.state = self.disk.place / "state"
        self.service = cell.service("agent", flags={
            "node": self.node, "profiling-duration": "1s", "state-directory": self.state})
        self.leaving_until = None
        self.is_stopped = False

    def has_begun(self):
        """It has a spool: on a full disk none can begin."""
        return (self.state / "spool" / "meta").exists()

    def has_run(self):
        return self.service.popen is not None

    def waiting(self):
        """Batches in its spool."""
        return len(list(self.state.glob("spool/*.batch")))

    def counted(self):
        """What the kernel has taken for it, by the pinned map alone, which outlives it."""
        return counted(self.service.fleet.bpffs, self.state)

    def end(self):
        self.leaving_until = time.monotonic() + LEAVING_S
        os.close(self.service.send(signal.SIGTERM))

    def check(self):
        """It ends by our hand only."""
        code = self.service.exit_code()
        if self.leaving_until and code is not None:
            self.leaving_until = None
        elif self.leaving_until:
            assert time.monotonic() < self.leaving_until, (
                f"the agent did not stop:\n{self.service.last_words(30)}")
        # SIGTERM ends a program that has only just been started, and has done nothing yet.
        assert code in (None, 0, -signal.SIGKILL, -signal.SIGTERM), (
            f"the agent ended by itself, with status {code}:\n{self.service.last_words(30)}")

    def close(self):
        self.service.kill()
        self.disk.close()


class AgentCards:
    def launch_agent(self):
        """Once it has ended. One that was told to, and was killed on its way, is owed two starts:
        the second finds it running."""
        if not self.agent.service.alive():
            self.agent.leaving_until = None
            self.launch(self.agent.service, self.agent.service.launch)
        elif self.agent.leaving_until:
            self.later(0.2, 0.2, None, self.launch_agent)

    def _runs(self):
        agent = self.agent
        return (agent and agent.service.alive() and not agent.is_stopped
                and not agent.leaving_until)

    def kill_agent(self):
        if not self._runs():
            return False
        self.say("kill -9 the agent")
        self.agent.service.kill()
        self.later(0, 2, "start the agent", self.launch_agent)
        return True

    def stop_agent(self):
        if not self._runs():
            return False
        self.say("SIGSTOP the agent")
        self.agent.service.send(signal.SIGSTOP)
        self.agent_is_stopped()
        return True

    def agent_is_stopped(self):
        """Until it is woken."""
        self.agent.is_stopped = True
        self.later(1, 4, "SIGCONT the agent", self._wake_agent)

    def _wake_agent(self):
        self.agent.service.send(signal.SIGCONT)
        self.agent.is_stopped = False

    def end_agent(self):
        if not self._runs():
            return False
        self.say("end the agent (SIGTERM)")
        self.agent.end()
        self.later(0, 2, "start the agent", self.launch_agent)
        return True

    def fill_disk(self):
        if not self.agent or self.agent.disk.is_full() or not self.agent.has_begun():
            return False
        room = self.chance.randrange(ROOM_BYTES)
        self.say(f"the agent's disk fills, {room} bytes are left")
        self.agent.disk.fill(room)
        self.later(2, 5, "room on the agent's disk", self.agent.disk.make_room)
        return True

    def settle_agent(self, let_pass):
        """The agent ends, and Kafka has all that it spooled."""
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
