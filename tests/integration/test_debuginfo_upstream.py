# SPDX-License-Identifier: Apache-2.0
"""What the store of debug files does not hold, it has from other servers: debuginfod."""
import contextlib
import http.client
import json
import shutil
import socket
import threading
import time
import urllib.request

import pytest

from debuginfo_store import (
    build, client, fleet, generation, held, in_temp, put, start)
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

    def asked(self, what):
        """How often it was asked for a path, by its own log."""
        log = self.log_file.read_text(errors="replace")
        return sum(f"GET /buildid/{what} " in line for line in log.splitlines())


@pytest.fixture(scope="module")
def upstream(fleet, build, tmp_path_factory):
    """A debuginfod that has the programs 0 and 2, and no other."""
    directory, state = tmp_path_factory.mktemp("upstream"), tmp_path_factory.mktemp("debuginfod")
    for number in (0, 2):
        shutil.copy(build(number).whole, directory / f"prog{number}")
    server = Upstream(fleet, "upstream", directory, state)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def indexed():
        for number in (0, 2):
            with opener.open(f"{server.url}/buildid/{build(number).id}/debuginfo", timeout=10):
                pass
        return True

    try:
        wait_until(lambda: _quietly(indexed), 60, "debuginfod has read its directory")
        yield server
    finally:
        server.kill()


def _quietly(ask):
    with contextlib.suppress(OSError):
        return ask()
    return False


def test_what_is_not_held_comes_from_upstream_and_stays(start, build, upstream, tmp_path):
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


def test_many_that_miss_one_file_are_one_download(start, build, upstream):
    service, files = start(debuginfod_upstream_servers=upstream.url), build(2)
    before = upstream.asked(f"{files.id}/debuginfo")
    answers = []

    def ask():
        answers.append(service.get(f"/buildid/{files.id}/debuginfo"))

    threads = [threading.Thread(target=ask) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [(200, files.whole.read_bytes())] * 30
    assert upstream.asked(f"{files.id}/debuginfo") == before + 1
    assert metrics(service)['decima_debuginfo_upstream_total{outcome="fetched"}'] == 1


def test_what_upstream_does_not_have_is_asked_for_once(start, build, upstream):
    service, files = start(debuginfod_upstream_servers=upstream.url), build(1)

    answers = [service.get(f"/buildid/{files.id}/debuginfo")[0] for _ in range(5)]

    assert answers == [404] * 5
    seen = metrics(service)
    assert seen['decima_debuginfo_upstream_total{outcome="absent"}'] == 1
    assert seen['decima_debuginfo_upstream_total{outcome="cached"}'] == 4
    assert put(service, files.id, files.debug.read_bytes())[0] == 201
    assert service.get(f"/buildid/{files.id}/debuginfo")[0] == 200


def test_a_miss_is_forgotten_in_time(start, build, upstream):
    service = start(debuginfod_upstream_servers=upstream.url, upstream_miss_ttl="0s")
    path = f"/buildid/{build(1).id}/debuginfo"

    assert [service.get(path)[0] for _ in range(2)] == [404, 404]
    assert metrics(service)['decima_debuginfo_upstream_total{outcome="absent"}'] == 2


def test_a_held_file_without_dwarf_is_replaced_by_upstreams(start, build, upstream):
    service, files = start(debuginfod_upstream_servers=upstream.url), build(2)
    put(service, files.id, files.symbols.read_bytes())
    before = generation(service, files.id)

    assert service.get(f"/buildid/{files.id}/debuginfo")[1] == files.whole.read_bytes()
    assert generation(service, files.id) > before


def test_an_upstream_that_is_away_is_no_miss_and_hides_nothing_held(start, build):
    service, files = start(debuginfod_upstream_servers=f"http://127.0.0.1:{any_free()}"), build()
    put(service, files.id, files.symbols.read_bytes())

    answers = [service.get(f"/buildid/{build(1).id}/debuginfo") for _ in range(3)]

    assert [status for status, _ in answers] == [503] * 3
    assert json.loads(answers[0][1])["errorType"] == "unavailable"
    assert service.get(f"/buildid/{files.id}/debuginfo")[1] == files.symbols.read_bytes()
    seen = metrics(service)
    assert seen['decima_debuginfo_upstream_total{outcome="failed"}'] == 2  # one per build id


class Impostor(threading.Thread):
    """An upstream server that gives everybody one file, however little it is asked for."""

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


def test_an_upstream_that_gives_another_file_is_not_believed(start, build):
    impostor = Impostor(build(1).whole.read_bytes())
    service, files = start(debuginfod_upstream_servers=impostor.url), build()

    answer = service.get(f"/buildid/{files.id}/debuginfo")[0]
    impostor.close()

    assert answer == 404 and held(service) == [] and in_temp(service) == []
    assert metrics(service)['decima_debuginfo_upstream_total{outcome="wrong"}'] == 1


def test_servers_that_name_each_other_do_not_ask_for_ever(start, build):
    there = start()
    there.kill()
    here = start(debuginfod_upstream_servers=f"{there.url}/")
    there.flags["debuginfod-upstream-servers"] = here.url
    there.launch()
    there.wait_ready(there.ready, 30)

    answers = [here.get(f"/buildid/{build().id}/executable")[0] for _ in range(2)]

    assert answers == [404, 404]
    assert metrics(here)['decima_debuginfo_upstream_total{outcome="forwarding_loop"}'] == 1
    assert metrics(there)['decima_debuginfo_upstream_total{outcome="absent"}'] == 1
    assert metrics(here)['decima_debuginfo_upstream_total{outcome="cached"}'] == 1


def test_a_question_that_passed_too_many_servers_goes_no_further(start, build, upstream):
    service, files = start(debuginfod_upstream_servers=upstream.url), build()
    passed = ", ".join(f"10.0.0.{n}" for n in range(8))
    link = http.client.HTTPConnection(service.address, timeout=30)

    link.request("GET", f"/buildid/{files.id}/debuginfo", headers={"X-Forwarded-For": passed})

    assert link.getresponse().status == 404
    assert service.get(f"/buildid/{files.id}/debuginfo")[0] == 200


def test_who_goes_away_waits_no_longer(start, build):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        service = start(debuginfod_upstream_servers="http://127.0.0.1:%d" % silent.getsockname()[1])
        host, port = service.address.split(":")
        asking = [socket.create_connection((host, int(port)), timeout=30) for _ in range(5)]
        for link in asking:
            link.sendall(b"GET /buildid/%s/debuginfo HTTP/1.1\r\nHost: x\r\n\r\n"
                         % build().id.encode())
        waiting = "decima_debuginfo_upstream_waiters"
        wait_until(lambda: metrics(service)[waiting] == 5, what="all wait for one download")

        for link in asking:
            link.close()

        wait_until(lambda: metrics(service)[waiting] == 1, what="only the download itself goes on")
        assert metrics(service)["decima_debuginfo_upstream_fetches"] == 1


def test_a_stop_does_not_wait_for_a_slow_upstream(start, build):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        service = start(debuginfod_upstream_servers="http://127.0.0.1:%d" % silent.getsockname()[1])
        asker = threading.Thread(target=service.get, args=(f"/buildid/{build().id}/debuginfo",))
        asker.start()
        wait_until(lambda: metrics(service)["decima_debuginfo_upstream_fetches"] == 1)

        began = time.monotonic()
        went = service.stop(timeout=20)

        asker.join()
        assert went and time.monotonic() - began < 15
        assert service.exit_code() == 0
