# SPDX-License-Identifier: Apache-2.0
"""An unprivileged user maps files that claim a lot. Needs root, to start the agent.

The files have a few kilobytes on disk and millions of headers: in section 0, where the ELF format
puts a count that is too large for the file header.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from harness import wait_until
from hostile_elf import HEADERS, sparse_elf
from local.services import http
from local_agent import LocalAgent

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))
NOBODY = 65534
FILES = 20
RSS_MAX = 40 << 20

# Maps each file, executable, and waits until its standard input is closed.
MAPPER = """
import mmap, sys
maps = []
for path in sys.argv[1:]:
    with open(path, "rb") as f:
        maps.append(mmap.mmap(f.fileno(), 8192, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
print("mapped", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def own(tmp_path):
    (tmp_path / "profiles").mkdir()
    agent = LocalAgent(BUILD / "services" / "agent" / "decima-agent", tmp_path / "profiles")
    yield agent
    if agent.process.poll() is None:
        agent.process.kill()
        agent.process.wait()


def read(agent):
    """How many files were read, by any outcome."""
    status, body = http(f"http://{agent.address}/metrics")
    assert status == 200
    return sum(map(int, re.findall(r"^decima_agent_files_read_total{.*} (\d+)$", body.decode(),
                                   re.MULTILINE)))


def peak(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        return int(re.search(r"^VmHWM:\s+(\d+) kB$", f.read(), re.MULTILINE)[1]) << 10


@pytest.fixture
def place():
    """A directory that every user can read; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(prefix="decima-hostile-") as path:
        os.chmod(path, 0o755)
        yield Path(path)


def test_millions_of_headers_take_no_memory(own, place, figure):
    files = [sparse_elf(place / str(i), bool(i % 2)) for i in range(FILES)]

    before = read(own)
    with subprocess.Popen([sys.executable, "-c", MAPPER, *files], user=NOBODY, group=NOBODY,
                          extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as mapper:
        assert mapper.stdout.readline() == "mapped\n"
        wait_until(lambda: read(own) >= before + FILES, what="the files read")
        most = peak(own.process.pid)
        children = [peak(pid) for pid in child_pids(own.process.pid)]
        mapper.stdin.close()
    own.stop()

    figure(f"{FILES} files of {HEADERS} headers: agent {most >> 20} MiB, its children "
           f"{[size >> 20 for size in children]}")
    assert most <= RSS_MAX
    assert children and max(children) <= RSS_MAX


def child_pids(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += (task / "children").read_text(encoding="ascii").split()
    return found
