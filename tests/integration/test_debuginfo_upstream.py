# SPDX-License-Identifier: Apache-2.0
"""The store fetches missing debug files from other debuginfod servers."""
import contextlib
import http.client
import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.request

import pytest

from debuginfo_store import (
    build, client, fleet, generation, stored_files, in_temp, put, start)
from harness import metrics, wait_until
from local.ports import any_free
from local.process import Process


class Upstream(Process):
    """A real debuginfod over a directory."""

    def __init__(self, fleet, name, directory, state):
        super().__init__(fleet.run_dir, name, "debuginfod")
        self.port = any_free()
        self.url = f"http://127.0.0.1:{self.port}"
        self.start(["debuginfod", "-F", "-v", f"--database={state / 'sqlite'}",
                    f"--port={self.port}", "--rescan-time=0", "--groom-time=0",
                    "--concurrency=2", directory],
                   environment={"HOME": str(state), "DEBUGINFOD_URLS": ""},
                   tied_signal=fleet.tied_signal)

    def requests(self, what):
        """The number of requests for a path in debuginfod's log."""
        log = self.log_file.read_text(errors="replace")
        return sum(f"GET /buildid/{what} " in line for line in log.splitlines())


@contextlib.contextmanager
def upstream_of(fleet, name, programs, place):
    """A debuginfod that has only these programs."""
    directory, state = place / "upstream", place / "debuginfod"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def indexed():
        for build_id in ids:
            with opener.open(f"{server.url}/buildid/{build_id}/debuginfo", timeout=180):
                pass
        return True

    directory.mkdir()
    state.mkdir()
    for number, program in enumerate(programs):
        shutil.copy(program, directory / f"prog{number}")
    ids = [build_id_of(program) for program in programs]
    server = Upstream(fleet, name, directory, state)
    try:
        wait_until(lambda: _false_on_error(indexed), what="debuginfod has read its directory")
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def upstream(fleet, build, tmp_path_factory):
    """A debuginfod that has only the programs 0 and 2."""
    with upstream_of(fleet, "upstream", [build(0).whole, build(2).whole],
                     tmp_path_factory.mktemp("upstream")) as server:
        yield server


def build_id_of(program):
    notes = subprocess.run(["readelf", "-n", program], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    return notes.partition("Build ID:")[2].split()[0]


def _false_on_error(request):
    with contextlib.suppress(OSError):
        return request()
    return False


def test_a_missing_file_is_fetched_from_upstream_and_stored(start, build, upstream, tmp_path):
    service, files = start(debuginfod_upstream_servers=upstream.url), build()

    for kind, expected in (("debuginfo", files.whole), ("executable", files.whole)):
        found = client(service, tmp_path, "debuginfod-find", kind, files.id)
        assert found.returncode == 0, found.stderr
        with open(found.stdout.strip(), "rb") as file:
            assert file.read() == expected.read_bytes()
    found = client(service, tmp_path, "debuginfod-find", "source", files.id, files.source)
    assert found.returncode == 0, found.stderr
    with open(found.stdout.strip(), encoding="utf-8") as file:
        assert file.read() == files.source.read_text()

    service.kill()
    alone = start(keep=True)
    for path in ("debuginfo", "executable", f"source{files.source}", "section/.text"):
        assert alone.get(f"/buildid/{files.id}/{path}")[0] == 200, path
    assert generation(alone, files.id) > 0


def test_many_requests_for_a_missing_file_are_one_download(start, build, upstream):
    service, files = start(debuginfod_upstream_servers=upstream.url), build(2)
    before = upstream.requests(f"{files.id}/debuginfo")
    responses = []

    def request():
        responses.append(service.get(f"/buildid/{files.id}/debuginfo"))

    threads = [threading.Thread(target=request) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert responses == [(200, files.whole.read_bytes())] * 30
    assert upstream.requests(f"{files.id}/debuginfo") == before + 1
    assert metrics(service)['decima_debuginfo_upstream_total{outcome="fetched"}'] == 1


def test_a_file_that_upstream_lacks_is_requested_once(start, build, upstream):
    service, files = start(debuginfod_upstream_servers=upstream.url), build(1)

    responses = [service.get(f"/buildid/{files.id}/debuginfo")[0] for _ in range(5)]

    assert responses == [404] * 5
    seen = metrics(service)
    assert seen['decima_debuginfo_upstream_total{outcome="absent"}'] == 1
    assert seen['decima_debuginfo_upstream_total{outcome="cached"}'] == 4
    assert put(service, files.id, files.debug.read_bytes())[0] == 201
    assert service.get(f"/buildid/{files.id}/debuginfo")[0] == 200


def test_a_cached_miss_expires(start, build, upstream):
    service = start(debuginfod_upstream_servers=upstream.url, upstream_miss_ttl="0s")
    path = f"/buildid/{build(1).id}/debuginfo"

    assert [service.get(path)[0] for _ in range(2)] == [404, 404]
    assert metrics(service)['decima_debuginfo_upstream_total{outcome="absent"}'] == 2


def test_a_stored_file_without_dwarf_is_replaced_by_upstreams(start, build, upstream):
    service, files = start(debuginfod_upstream_servers=upstream.url), build(2)
    put(service, files.id, files.symbols.read_bytes())
    before = generation(service, files.id)

    assert service.get(f"/buildid/{files.id}/debuginfo")[1] == files.whole.read_bytes()
    assert generation(service, files.id) > before


def test_an_unavailable_upstream_is_an_error_and_hides_no_stored_file(start, build):
    service, files = start(debuginfod_upstream_servers=f"http://127.0.0.1:{any_free()}"), build()
    put(service, files.id, files.symbols.read_bytes())

    responses = [service.get(f"/buildid/{build(1).id}/debuginfo") for _ in range(3)]

    assert [status for status, _ in responses] == [503] * 3
    assert json.loads(responses[0][1])["errorType"] == "unavailable"
    assert service.get(f"/buildid/{files.id}/debuginfo")[1] == files.symbols.read_bytes()
    seen = metrics(service)
    assert seen['decima_debuginfo_upstream_total{outcome="failed"}'] == 2  # one per build id


class Impostor(threading.Thread):
    """An upstream server that responds to each request with the same file."""

    def __init__(self, body):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.body, self.heads = body, []
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                link, _ = self.listener.accept()
                with link:
                    self.heads.append(link.recv(65536))
                    link.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
                                 b"Content-Length: %d\r\n\r\n" % len(self.body) + self.body)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def test_a_file_of_another_build_from_upstream_is_rejected(start, build):
    impostor = Impostor(build(1).whole.read_bytes())
    service, files = start(debuginfod_upstream_servers=impostor.url), build()

    status_of_response = service.get(f"/buildid/{files.id}/debuginfo")[0]
    impostor.close()

    assert status_of_response == 404 and stored_files(service) == [] and in_temp(service) == []
    assert metrics(service)['decima_debuginfo_upstream_total{outcome="wrong"}'] == 1


def test_servers_that_are_each_others_upstream_detect_the_loop(start, build):
    there = start()
    there.kill()
    here = start(debuginfod_upstream_servers=f"{there.url}/")
    there.flags["debuginfod-upstream-servers"] = here.url
    there.launch()
    there.wait_ready(there.ready)

    responses = [here.get(f"/buildid/{build().id}/executable")[0] for _ in range(2)]

    assert responses == [404, 404]
    assert metrics(here)['decima_debuginfo_upstream_total{outcome="forwarding_loop"}'] == 1
    assert metrics(there)['decima_debuginfo_upstream_total{outcome="absent"}'] == 1
    assert metrics(here)['decima_debuginfo_upstream_total{outcome="cached"}'] == 1


def test_a_request_that_passed_too_many_servers_is_not_forwarded(start, build, upstream):
    service, files = start(debuginfod_upstream_servers=upstream.url), build()
    passed = ", ".join(f"10.0.0.{n}" for n in range(8))
    link = http.client.HTTPConnection(service.address, timeout=180)

    link.request("GET", f"/buildid/{files.id}/debuginfo", headers={"X-Forwarded-For": passed})

    assert link.getresponse().status == 404
    assert service.get(f"/buildid/{files.id}/debuginfo")[0] == 200


def test_a_client_that_disconnects_no_longer_waits(start, build):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        service = start(debuginfod_upstream_servers="http://127.0.0.1:%d" % silent.getsockname()[1])
        host, port = service.address.split(":")
        clients = [socket.create_connection((host, int(port)), timeout=30) for _ in range(5)]
        for link in clients:
            link.sendall(b"GET /buildid/%s/debuginfo HTTP/1.1\r\nHost: x\r\n\r\n"
                         % build().id.encode())
        waiting = "decima_debuginfo_upstream_waiters"
        wait_until(lambda: metrics(service)[waiting] == 5, what="all clients wait for one download")

        for link in clients:
            link.close()

        wait_until(lambda: metrics(service)[waiting] == 1, what="only the download continues")
        assert metrics(service)["decima_debuginfo_upstream_fetches"] == 1


def test_a_service_stops_without_waiting_for_a_slow_upstream(start, build):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        service = start(debuginfod_upstream_servers="http://127.0.0.1:%d" % silent.getsockname()[1])
        request = threading.Thread(target=service.get, args=(f"/buildid/{build().id}/debuginfo",))
        request.start()
        wait_until(lambda: metrics(service)["decima_debuginfo_upstream_fetches"] == 1)

        began = time.monotonic()
        stopped = service.stop()

        request.join()
        assert stopped and time.monotonic() - began < 45
        assert service.exit_code() == 0
