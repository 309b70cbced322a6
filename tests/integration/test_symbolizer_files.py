# SPDX-License-Identifier: Apache-2.0
"""The symbolizer's sources of debug files, and its responses if a file does not arrive."""
import contextlib
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import urllib.request
from pathlib import Path

import pytest

from harness import metrics, wait_until
from local.ports import any_free
from local.process import Process
from symbolizer_service import (
    MALFORMED, NO_FILE, OUTER, PENDING, UNAVAILABLE, ask, fleet, function, post, program, run,
    start, upload, works)


class Debuginfod(Process):
    """Debian's own debuginfod over a directory."""

    def __init__(self, fleet, directory, state):
        super().__init__(fleet.run_dir, f"debuginfod-{any_free()}", "debuginfod")
        self.port = any_free()
        self.url = f"http://127.0.0.1:{self.port}"
        self.start(["debuginfod", "-F", f"--database={state / 'sqlite'}", f"--port={self.port}",
                    "--rescan-time=0", "--groom-time=0", "--concurrency=1", directory],
                   environment={"HOME": str(state), "DEBUGINFOD_URLS": ""},
                   tied_signal=fleet.tied_signal)

    def has(self, build_id):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with contextlib.suppress(OSError):
            with opener.open(f"{self.url}/buildid/{build_id}/debuginfo", timeout=180):
                return True
        return False


def test_a_file_of_a_foreign_debuginfod_is_requested_once(fleet, start, program, tmp_path):
    small, other = program(), program(1)
    (tmp_path / "programs").mkdir()
    (tmp_path / "state").mkdir()
    shutil.copy(small.whole, tmp_path / "programs")
    debuginfod = Debuginfod(fleet, tmp_path / "programs", tmp_path / "state")
    try:
        wait_until(lambda: debuginfod.has(small.id), what="debuginfod's scan of its directory")
        ours = start("debuginfo")
        symbolizer = start("symbolizer", debuginfod_urls=f"{ours.url}, {debuginfod.url}/")

        alone = start("symbolizer", debuginfod_urls=debuginfod.url)

        assert function(alone, small.id, small.outer) == OUTER
        name, seen = "decima_symbolizer_generations_total", metrics(alone)
        assert seen[f'{name}{{outcome="foreign"}}'] >= 1
        assert seen[f'{name}{{outcome="failed"}}'] == seen[f'{name}{{outcome="reported"}}'] == 0
        first = ask(symbolizer, small.id, small.outer)
        second = ask(symbolizer, small.id, small.outer)
        absent = function(symbolizer, other.id, other.outer)
        upload(ours, other.id, other.debug)

        wait_until(lambda: function(symbolizer, other.id, other.outer) == OUTER,
                   what="late debug info in our service beside a foreign server")
        assert first == second and first["generation"] == 0
        assert first["locations"][0]["lines"][-1]["function"] == OUTER
        assert absent == NO_FILE
        assert works(symbolizer) == {"built": 2, "absent": 1}
    finally:
        debuginfod.kill()


class Server(http.server.ThreadingHTTPServer):
    """A server of files by their paths, which records the requested paths."""

    def __init__(self, files):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.requested = files, []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requested.append(self.path)
        body = self.server.files.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    """serve({path: bytes}): a foreign server."""
    started = []

    def make(files):
        started.append(Server(files))
        return started[-1]

    yield make
    for server in started:
        server.shutdown()
        server.server_close()


def test_the_common_file_of_dwz_is_fetched_too(start, serve, program, tmp_path):
    first, second = (shutil.copy(program(n).whole, tmp_path / f"{n}") for n in (0, 1))
    subprocess.run(["dwz", "-m", "common", "-M", "/nowhere/common", first, second], cwd=tmp_path,
                   check=True)
    common = tmp_path / "common"
    common_id = run("readelf", "-n", common).partition("Build ID:")[2].split()[0]
    small, files = program(), {}
    files[f"/buildid/{small.id}/debuginfo"] = first.read_bytes()
    files[f"/buildid/{common_id}/debuginfo"] = common.read_bytes()
    symbolizer = start("symbolizer", debuginfod_urls=serve(files).url)

    places = ask(symbolizer, small.id, *range(small.outer, small.outer + 16))["locations"]

    assert "app::twice(int)" in [line["function"] for p in places for line in p["lines"]]
    kept = [file.name for file in (symbolizer.directory / "tables").iterdir()]
    assert kept == [f"{small.id}-0.table"]


def test_without_a_debug_file_the_executables_symbols_are_used(start, serve, program):
    small = program()
    server = serve({f"/buildid/{small.id}/executable": small.symbols.read_bytes()})
    symbolizer = start("symbolizer", debuginfod_urls=server.url)

    assert function(symbolizer, small.id, small.outer) == OUTER
    assert server.requested == [f"/buildid/{small.id}/debuginfo", f"/buildid/{small.id}/executable"]
    kept = [file.name for file in (symbolizer.directory / "tables").iterdir()]
    assert kept == [f"{small.id}-0.second"]


def test_a_truncated_file_affects_only_its_own_addresses(start, serve, program):
    small, whole = program(), program(1)
    image = small.whole.read_bytes()
    server = serve({f"/buildid/{small.id}/debuginfo": image[:len(image) // 2],
                    f"/buildid/{whole.id}/debuginfo": whole.whole.read_bytes()})
    symbolizer = start("symbolizer", debuginfod_urls=server.url)

    assert function(symbolizer, small.id, small.outer) == MALFORMED
    assert function(symbolizer, whole.id, whole.outer) == OUTER
    assert works(symbolizer) == {"malformed": 1, "built": 1}


@pytest.fixture
def silent():
    """The URL of a server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield "http://127.0.0.1:%d" % server.getsockname()[1]


def test_if_debuginfod_hangs_addresses_are_pending(start, silent):
    symbolizer = start("symbolizer", debuginfod_urls=silent, symbolize_timeout="1s")

    assert function(symbolizer, "c0ffee00", 1) == PENDING
    assert function(symbolizer, "c0ffee01", 1) == PENDING
    symbolizer.send(signal.SIGTERM)
    # Without the stop, the worker's request would end after 20 s without a byte.
    wait_until(lambda: not symbolizer.alive(), 19, "the end while a worker hangs")
    assert symbolizer.exit_code() == 0, symbolizer.last_words()


def test_a_request_with_a_shorter_timeout_gets_its_response_in_time(start, silent):
    symbolizer = start("symbolizer", debuginfod_urls=silent, symbolize_timeout="4m")
    body = b'{"requests":[{"build_id":"c0ffee00","addresses":[1]}]}'

    status, response = post(symbolizer, body, path="/symbolize?timeout=300ms")
    assert status == 200
    assert json.loads(response)["responses"][0]["locations"][0]["reason"] == PENDING
    status, response = post(symbolizer, body, path="/symbolize?timeout=soon")
    assert status == 400 and "not a duration" in json.loads(response)["error"]


@pytest.mark.long  # libdebuginfod waits for 40 s
def test_a_foreign_server_that_hangs_does_not_delay_files_of_ours(start, silent, program):
    ours, small = start("debuginfo"), program()
    upload(ours, small.id, small.debug)
    symbolizer = start("symbolizer", debuginfod_urls=f"{ours.url} {silent}",
                       symbolize_timeout="1s")
    absent = [f"{number:040x}" for number in range(20)]
    for build_id in absent:
        assert function(symbolizer, build_id, 1) == PENDING
    wait_until(lambda: works(symbolizer).get("unavailable", 0) >= 20, what="20 unavailable files")

    assert function(symbolizer, small.id, small.outer) == OUTER
    assert [function(symbolizer, build_id, 1) for build_id in absent] == [UNAVAILABLE] * 20


def children(pid):
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()]


def test_a_worker_that_dies_is_replaced(start, silent, serve, program):
    small = program()
    symbolizer = start("symbolizer", debuginfod_urls=silent, symbolize_timeout="30s")
    results = []
    client = threading.Thread(
        target=lambda: results.append(function(symbolizer, small.id, small.outer)))
    client.start()
    worker, = wait_until(lambda: children(symbolizer.pid()), what="a worker at work")

    os.kill(worker, signal.SIGKILL)

    client.join()
    assert results == [UNAVAILABLE]
    assert works(symbolizer) == {"crashed": 1}
    wait_until(lambda: metrics(symbolizer), what="metrics after the crash")


def test_if_a_server_refuses_connections_files_are_unavailable(start, program):
    small = program()
    symbolizer = start("symbolizer", debuginfod_urls=f"http://127.0.0.1:{any_free()}")

    assert function(symbolizer, small.id, small.outer) == UNAVAILABLE
