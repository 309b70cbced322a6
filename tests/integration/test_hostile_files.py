# SPDX-License-Identifier: Apache-2.0
"""An unprivileged user maps files that claim a lot. Needs root, to start the agent.

The files have a few kilobytes on disk and millions of headers: in section 0, where the ELF format
puts a count that is too large for the file header.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from harness import wait_until
from local.services import http
from local_agent import LocalAgent

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))
NOBODY = 65534
HEADERS = 16_000_000
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


def sparse_elf(path, has_many_segments):
    """A file of 1 GB of headers, of which 8 KiB are on disk; each with contents of its own."""
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 64, 4096, 0, 64,
                         56, 0xffff if has_many_segments else 2, 64, 0, 0)
    segments = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 8192, 8192, 4096)
    segments += struct.pack("<IIQQQQQQ", 4, 4, 0, 0, 0, 8192, 8192, 4)
    section = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, HEADERS, 0,
                          HEADERS if has_many_segments else 0, 0, 0)
    with open(path, "wb") as f:
        f.write(header + segments + os.urandom(16))
        f.seek(4096)
        f.write(section)
        f.truncate(4096 + 64 * HEADERS)
    path.chmod(0o644)
    assert path.stat().st_blocks * 512 <= 8192
    return path


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
