# SPDX-License-Identifier: Apache-2.0
"""uploads - agents that upload debug info, services that accept or reject it, and programs."""
import contextlib
import http.server
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from harness import DEADLINE, metrics, servers_of_a_run
from local.services import Service

UPLOADER = "decima-agent-uploader"

SOURCE = """
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void work_%s(void) { for (int i = 0; i < 1000; i++) sink += i; }
int main(int argc, char **argv) {
  struct timespec a, b;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
  do { work_%s(); clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b); }
  while ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 <
         (argc > 1 ? atoi(argv[1]) : 500));
  return 0;
}
"""

@pytest.fixture(scope="module")
def fleet():
    """A run directory without servers."""
    with servers_of_a_run("-upload", without=("postgres", "redis", "kafka")) as made:
        yield made


@pytest.fixture
def start(fleet, request):
    """start("debuginfo" | "agent", name, flag=value, ...): a service that is ready."""
    started = []

    def make(kind, name=None, **flags):
        name = "-".join(filter(None, (request.node.name[:30], kind, name)))
        own_flags = {k.replace("_", "-"): v for k, v in flags.items()}
        if kind == "agent":
            own_flags = {"local-store-directory": fleet.run_dir / f"{name}-profiles",
                         "profiling-duration": "1s", "log-level": "debug"} | own_flags
        service = Service(fleet, kind, name, own_flags)
        service.launch()
        started.append(service)
        service.wait_ready(service.ready)
        return service

    yield make
    for service in started:
        service.kill()
        shutil.rmtree(fleet.run_dir / service.name, ignore_errors=True)
    for path in fleet.run_dir.glob("*-profiles"):
        shutil.rmtree(path)


def run(*argv):
    return subprocess.run([str(a) for a in argv], check=True, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE).stdout


class Program:
    """A program that is built for the test, and its build id.

    It uses 500 ms of CPU time, or what its argument says: a program that is never sampled is
    not uploaded."""

    def __init__(self, where, mark, *flags):
        where.mkdir(parents=True, exist_ok=True)
        self.source, self.path = where / f"{mark}.c", where / mark
        self.mark = re.sub(r"\W", "_", mark)
        self.source.write_text(SOURCE % (self.mark, self.mark))
        run("cc", "-g", "-O1", "-Wl,--build-id=sha1", *flags, "-o", self.path, self.source)
        self.id = run("readelf", "-n", self.path).partition("Build ID:")[2].split()[0]
        self.whole = where / f"{mark}.whole"
        shutil.copy(self.path, self.whole)

    def run(self, *milliseconds):
        subprocess.run([self.path, *milliseconds], check=True, timeout=DEADLINE)

    def is_named_by(self, service, tmp_path):
        """Whether the service's debug info resolves the function to its file and line."""
        status, body = service.get(f"/buildid/{self.id}/debuginfo")
        if status != 200:
            return False
        stored = tmp_path / f"stored-{self.mark}"
        stored.write_bytes(body)
        by_stored = run("eu-addr2line", "-e", stored, f"work_{self.mark}")
        assert f"{self.source}:5" in by_stored, by_stored
        assert by_stored == run("eu-addr2line", "-e", self.whole, f"work_{self.mark}")
        return True


def outcomes(agent, metric="uploads"):
    """{outcome: count}, without zeros."""
    found = re.compile(rf'decima_agent_debuginfo_{metric}_total{{outcome="(\w+)"}}')
    return {found.fullmatch(k)[1]: int(v) for k, v in metrics(agent).items()
            if found.fullmatch(k) and v}


def told(agent, build_id):
    """The logged outcomes of a build id's uploads, in order, without those of its unwind table."""
    return re.findall(rf'msg="debug info offered" build_id={build_id} outcome=(\w+)',
                      agent.log_file.read_text())


def children_of(pid):
    children = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in children for child in file.read_text().split()]


def uploaders_of(agent):
    return [pid for pid in children_of(agent.pid())
            if UPLOADER in Path(f"/proc/{pid}/cmdline").read_text()]


@contextlib.contextmanager
def fake_service(answer):
    """The URL of a service that responds to each PUT with answer(handler)."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self):
            answer(self)

        def handle_expect_100(self):
            return True  # answer() decides whether to send 100 Continue

        def log_message(self, *_):
            pass

        def go_on(self):
            self.send_response_only(100)
            self.end_headers()

        def end(self, status, **headers):
            self.send_response(status)
            for name, value in ({"Content-Length": 0} | headers).items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.close_connection = True

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
