# SPDX-License-Identifier: Apache-2.0
"""The capabilities of an agent that is started with all. Needs root, to start the agent."""
import os
import re
import subprocess
from pathlib import Path

import pytest

from harness import wait_until
from local_agent import LocalAgent

pytestmark = pytest.mark.machine

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))
# Numbers of linux/capability.h. The agent's documentation has the same list.
NEEDED = {"KILL": 5, "SETGID": 6, "SETUID": 7, "SETPCAP": 8, "DAC_READ_SEARCH": 2, "IPC_LOCK": 14,
          "SYS_PTRACE": 19, "SYS_NICE": 23, "SYS_RESOURCE": 24, "SYSLOG": 34, "PERFMON": 38,
          "BPF": 39, "CHECKPOINT_RESTORE": 40}


def sets_of(status):
    """{"Eff": mask, ...} of a status file."""
    return {name: int(value, 16) for name, value in
            re.findall(r"^Cap(\w+):\t([0-9a-f]+)$", status.read_text(), re.MULTILINE)}


# The machine of a test may lack some itself.
MASK = sum(1 << bit for bit in NEEDED.values()) & sets_of(Path("/proc/self/status"))["Bnd"]


def children_of(pid):
    children = Path(f"/proc/{pid}/task").glob("*/children")
    return [child for file in children for child in file.read_text().split()]


def test_all_threads_have_the_documented_capabilities_only(tmp_path, protos):
    with subprocess.Popen([BUILD / "tests" / "programs" / "burn"]) as load:
        agent = LocalAgent(BUILD / "services" / "agent" / "decima-agent", tmp_path / "profiles")
        try:
            wait_until(lambda: children_of(agent.process.pid), what="a process that reads files")
            threads = {int(file.parent.name): sets_of(file) for file in
                       Path(f"/proc/{agent.process.pid}/task").glob("*/status")}
            children = [sets_of(Path(f"/proc/{pid}/status"))
                        for pid in children_of(agent.process.pid)]
            wait_until(lambda: any(labels["comm"] == "burn"
                                   for labels, _, _ in agent.samples(protos)), what="samples")
            agent.stop()
        finally:
            load.kill()
            if agent.process.poll() is None:
                agent.process.kill()
                agent.process.wait()

    assert len(threads) > 2 and children
    for sets in threads.values():
        assert sets["Eff"] == sets["Prm"] == sets["Bnd"] == MASK, hex(sets["Eff"])
        assert sets["Inh"] == sets["Amb"] == 0
    for sets in children:
        assert not sets["Prm"] & ~MASK and sets["Prm"] != MASK
