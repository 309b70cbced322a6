# SPDX-License-Identifier: Apache-2.0
"""A symbolizer or a debuginfo service with a thread that hangs says so at /healthy. While a peer or
a child process does not respond, it is healthy."""
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from harness import SLOW, stays, wait_until
from stopped_threads import NOTICED_S, each_is_noticed, named, named_thread
from symbolizer_service import PENDING, ask, fleet, program, start  # fleet: start() uses it
from test_stop import frozen

HUNG_S = 25


def test_each_thread_of_the_symbolizer_that_hangs_is_named(fleet, start, figure):
    symbolizer = start("symbolizer", debuginfod_urls="http://127.0.0.1:9",
                       redis=fleet.redis.address())
    pid = symbolizer.pid()
    took = each_is_noticed(symbolizer, {
        named_thread(pid, "build"): "build", named_thread(pid, "publisher"): "publisher",
        named_thread(pid, "http-watch"): "connection watch", pid: "main"})
    figure(f"a thread of the symbolizer that hangs: /healthy fails after {took:.1f} s")


@pytest.mark.long
def test_while_peers_do_not_respond_the_symbolizer_is_healthy(fleet, start, program):
    """Redis is stopped, and the server of debug files accepts connections and is silent."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        symbolizer = start("symbolizer", redis=fleet.redis.address(),
                           debuginfod_urls=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with frozen(fleet.redis.pid()):
            location, = ask(symbolizer, program().id, program().outer)["locations"]
            assert not location["lines"] and location["reason"] == PENDING
            ends = time.monotonic() + HUNG_S + 10
            while time.monotonic() < ends:
                assert symbolizer.get("/healthy") == (200, b"ok\n")
                ask(symbolizer, program().id, program().outer)


def test_each_thread_of_the_debuginfo_service_that_hangs_is_named(start, figure):
    debuginfo = start("debuginfo")
    took = each_is_noticed(debuginfo, {
        named_thread(debuginfo.pid(), "http-watch"): "connection watch", debuginfo.pid(): "main"})
    figure(f"a thread of the debuginfo service that hangs: /healthy fails after {took:.1f} s")


@pytest.mark.long
def test_while_upstream_does_not_respond_the_debuginfo_service_is_healthy(start, program):
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        debuginfo = start(
            "debuginfo",
            debuginfod_upstream_servers=f"http://127.0.0.1:{silent.getsockname()[1]}")
        path = f"/buildid/{program().id}/debuginfo"
        client = threading.Thread(target=debuginfo.get, args=[path], daemon=True)
        client.start()
        connection = silent.accept()[0]
        stays(lambda: debuginfo.get("/healthy") == (200, b"ok\n"), HUNG_S + 10, "healthy")
        connection.close()
    client.join(SLOW * 60)


@pytest.fixture
def disk(tmp_path):
    """A file system that hangs when a line is written to its standard input."""
    (tmp_path / "source").mkdir()
    (tmp_path / "mount").mkdir()
    server = subprocess.Popen(
        ["/usr/bin/python3", Path(__file__).with_name("hung_disk.py"), tmp_path / "source",
         tmp_path / "mount"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout.readline() == "mounted\n"
    server.place = tmp_path / "mount"
    yield server
    server.stdin.close()
    subprocess.run(["umount", "-l", server.place], check=True)
    server.wait(SLOW * 30)


def test_a_disk_that_hangs_is_noticed_without_requests(disk, start, figure):
    """/ready responds meanwhile: it does not touch the disk."""
    debuginfo = start("debuginfo", state_directory=disk.place)
    assert debuginfo.get("/ready")[0] == debuginfo.get("/healthy")[0] == 200
    disk.stdin.write("hang\n")
    disk.stdin.flush()
    assert disk.stdout.readline() == "hangs\n"
    began = time.monotonic()
    wait_until(lambda: debuginfo.get("/ready")[0] == 503, what="not ready")
    not_ready = time.monotonic() - began
    assert b"the disk of the store has not responded for" in debuginfo.get("/ready")[1]
    wait_until(lambda: named(debuginfo) == "main", what="not healthy")
    took = time.monotonic() - began
    assert debuginfo.get("/healthy")[1].endswith(b" s: checking the disk of the store\n")
    figure(f"a disk that hangs: /ready fails after {not_ready:.1f} s, /healthy after {took:.1f} s")
    disk.stdin.close()
    wait_until(lambda: debuginfo.get("/healthy")[0] == 200, what="healthy again")
    wait_until(debuginfo.ready, what="ready again")
    assert took < SLOW * (NOTICED_S + 5)
