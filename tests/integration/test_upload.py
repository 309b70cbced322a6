# SPDX-License-Identifier: Apache-2.0
"""The agent's uploads: what runs here for a moment has its names in the store for good."""
import contextlib
import http.server
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from harness import metrics, servers_of_a_run, wait_until
from local.services import Service

DEADLINE = 100
UPLOADER = "decima-agent-uploader"

SOURCE = """
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void work_%s(void) { for (int i = 0; i < 1000; i++) sink += i; }
int main(int argc, char **argv) {
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  do { work_%s(); clock_gettime(CLOCK_MONOTONIC, &b); }
  while ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 <
         (argc > 1 ? atoi(argv[1]) : 50));
  return 0;
}
"""

pytestmark = pytest.mark.machine


@pytest.fixture(scope="module")
def fleet():
    """A run directory without servers."""
    with servers_of_a_run("-upload", without=("postgres", "redis", "kafka")) as made:
        yield made


@pytest.fixture
def start(fleet, request):
    """start("debuginfo" | "agent", name, flag=value, ...): one that is ready."""
    started = []

    def make(kind, name=None, **flags):
        name = "-".join(filter(None, (request.node.name[:30], kind, name)))
        given = {k.replace("_", "-"): v for k, v in flags.items()}
        if kind == "agent":
            given = {"local-store-directory": fleet.run_dir / f"{name}-profiles",
                     "profiling-duration": "1s", "log-level": "debug"} | given
        service = Service(fleet, kind, name, given)
        service.launch()
        started.append(service)
        service.wait_ready(service.ready, 60)
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
    """A program that was built just now and runs for 50 ms, and its build id."""

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
        subprocess.run([self.path, *milliseconds], check=True, timeout=60)

    def is_named_by(self, service, tmp_path):
        """Whether what the service has names the function's file and line."""
        status, body = service.get(f"/buildid/{self.id}/debuginfo")
        if status != 200:
            return False
        held = tmp_path / f"held-{self.mark}"
        held.write_bytes(body)
        said = run("eu-addr2line", "-e", held, f"work_{self.mark}")
        assert f"{self.source}:5" in said, said
        assert said == run("eu-addr2line", "-e", self.whole, f"work_{self.mark}")
        return True


def outcomes(agent, metric="uploads"):
    """{outcome: count}, without zeros."""
    found = re.compile(rf'decima_agent_debuginfo_{metric}_total{{outcome="(\w+)"}}')
    return {found.fullmatch(k)[1]: int(v) for k, v in metrics(agent).items()
            if found.fullmatch(k) and v}


def told(agent, build_id):
    """What became of a build's upload, in order; its unwind table has outcomes too."""
    return re.findall(rf'msg="debug info offered" build_id={build_id} outcome=(\w+)',
                      agent.log_file.read_text())


def uploaders_of(agent):
    children = Path(f"/proc/{agent.pid()}/task").glob("*/children")
    pids = [int(pid) for file in children for pid in file.read_text().split()]
    return [pid for pid in pids if UPLOADER in Path(f"/proc/{pid}/cmdline").read_text()]


@contextlib.contextmanager
def fake_service(answer):
    """A service whose answers to a PUT are answer(handler); a URL."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self):
            answer(self)

        def handle_expect_100(self):
            return True  # whether to go on is answer()'s to say

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


# what gets into the store


def test_a_program_that_ran_for_50_ms_is_named_by_its_lines(start, tmp_path):
    service = start("debuginfo")
    agent = start("agent", debuginfo_url=service.url)
    program = Program(tmp_path / "a", "shortlived")

    program.run()

    wait_until(lambda: program.is_named_by(service, tmp_path), DEADLINE, "its lines")
    assert f"build_id={program.id}" in service.log_file.read_text()
    assert service.get(f"/buildid/{program.id}/executable")[0] == 404  # not the code
    wait_until(lambda: told(agent, program.id) == ["stored"], DEADLINE, "the agent knows")
    assert outcomes(agent)["stored"] >= 1


def test_a_program_deleted_at_once_after_its_exec_is_named(start, tmp_path):
    service = start("debuginfo")
    start("agent", debuginfo_url=service.url)
    program = Program(tmp_path / "a", "deleted")

    # long enough for the agent to look once, four times a second: nobody else has the file
    running = subprocess.Popen([program.path, "1500"])
    program.path.unlink()
    assert running.wait(60) == 0

    wait_until(lambda: program.is_named_by(service, tmp_path), DEADLINE, "its lines")


def test_gdb_has_the_lines_of_a_stripped_program_from_what_was_uploaded(start, tmp_path):
    service = start("debuginfo")
    agent = start("agent", debuginfo_url=service.url)
    program = Program(tmp_path / "a", "forgdb")
    program.run()
    wait_until(lambda: told(agent, program.id) == ["stored"], DEADLINE, "it is stored")
    stripped = tmp_path / "stripped"
    run("strip", "--strip-all", "-o", stripped, program.path)
    environment = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}

    said = subprocess.run(
        ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled on", "-ex",
         f"info line work_{program.mark}", "-ex", f"break work_{program.mark}", "-ex", "run",
         "-ex", "backtrace", stripped], text=True, capture_output=True, check=False, timeout=100,
        stdin=subprocess.DEVNULL, env=environment | {
            "DEBUGINFOD_URLS": service.url, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache"),
            "HOME": str(tmp_path)})

    assert f'Line 5 of "{program.source}"' in said.stdout, said.stdout + said.stderr
    assert re.search(rf"#0 +work_forgdb .*{program.source}:5", said.stdout), said.stdout


@pytest.mark.parametrize("place", ["beside", ".debug", "global", "build-id"])
def test_a_stripped_programs_debug_file_is_found(start, tmp_path, place):
    service = start("debuginfo")
    program = Program(tmp_path / "a", f"stripped-{place}")
    debug = tmp_path / "a" / f"{program.mark}.debug"
    run("objcopy", "--only-keep-debug", program.path, debug)
    run("strip", "--strip-all", program.path)
    there = {
        "beside": tmp_path / "a",
        ".debug": tmp_path / "a" / ".debug",
        "global": Path(f"/usr/lib/debug{tmp_path / 'a'}"),
        "build-id": Path(f"/usr/lib/debug/.build-id/{program.id[:2]}"),
    }[place]
    link = there / debug.name
    if place == "build-id":
        link = there / f"{program.id[2:]}.debug"
    else:
        run("objcopy", f"--add-gnu-debuglink={debug}", program.path)
    there.mkdir(parents=True, exist_ok=True)
    if link != debug:
        debug.rename(link)
    try:
        start("agent", debuginfo_url=service.url)
        program.run()
        wait_until(lambda: program.is_named_by(service, tmp_path), DEADLINE, "its lines")
    finally:
        link.unlink()
        if place == "global":
            shutil.rmtree(there)


def test_a_debug_file_of_another_build_is_not_taken(start, tmp_path):
    service = start("debuginfo")
    program, other = Program(tmp_path / "a", "mine"), Program(tmp_path / "b", "other")
    debug = tmp_path / "a" / "mine.debug"
    run("objcopy", "--only-keep-debug", other.path, debug)
    run("strip", "--strip-all", program.path)
    run("objcopy", f"--add-gnu-debuglink={debug}", program.path)
    (tmp_path / "a" / ".debug").mkdir()
    os.mkfifo(tmp_path / "a" / ".debug" / "mine.debug")  # nor is a pipe waited for
    start("agent", debuginfo_url=service.url)

    program.run()

    wait_until(lambda: service.get(f"/buildid/{program.id}/debuginfo")[0] == 200, DEADLINE,
               "what it has itself")
    assert service.get(f"/buildid/{program.id}/section/.dynsym")[0] == 200
    assert service.get(f"/buildid/{program.id}/section/.debug_info")[0] == 404


def test_in_another_root_its_own_debug_files_count(start, tmp_path):
    service = start("debuginfo")
    program = Program(tmp_path / "root", "inside", "-static")
    place = tmp_path / "root" / "usr" / "lib" / "debug" / ".build-id" / program.id[:2]
    place.mkdir(parents=True)
    run("objcopy", "--only-keep-debug", program.path, place / f"{program.id[2:]}.debug")
    run("strip", "--strip-all", program.path)
    start("agent", debuginfo_url=service.url)

    subprocess.run(["chroot", tmp_path / "root", "/inside", "1500"], check=True)

    wait_until(lambda: program.is_named_by(service, tmp_path), DEADLINE, "its lines")


def test_what_dwz_moved_into_a_common_file_comes_too(start, tmp_path):
    if not shutil.which("dwz"):
        pytest.skip("there is no dwz")
    service = start("debuginfo")
    programs = [Program(tmp_path / "a", f"common{n}") for n in range(2)]
    for program in programs:
        run("objcopy", "--only-keep-debug", program.path, f"{program.path}.debug")
        run("objcopy", "--strip-all", f"--add-gnu-debuglink={program.path}.debug", program.path)
    run("dwz", "-m", tmp_path / "a" / "common.dwz", "-M", tmp_path / "a" / "common.dwz",
        *[f"{p.path}.debug" for p in programs])
    if not (tmp_path / "a" / "common.dwz").exists():
        pytest.skip("dwz found nothing in common")
    common = run("readelf", "-n", tmp_path / "a" / "common.dwz")
    for program in programs:  # the CRC is of what dwz wrote
        run("objcopy", "--remove-section=.gnu_debuglink", program.path)
        run("objcopy", f"--add-gnu-debuglink={program.path}.debug", program.path)
    start("agent", debuginfo_url=service.url)

    programs[0].run()

    build_id = common.partition("Build ID:")[2].split()[0]
    wait_until(lambda: service.get(f"/buildid/{build_id}/debuginfo")[0] == 200, DEADLINE,
               "the common file")


# when the service does not, or not yet


def test_a_service_that_comes_later_gets_what_ran_before(start, fleet, tmp_path):
    away = Service(fleet, "debuginfo", "later-debuginfo")
    program = Program(tmp_path / "a", "early")
    agent = start("agent", debuginfo_url=away.url)

    program.run("1500")
    program.path.unlink()
    wait_until(lambda: outcomes(agent, "retries").get("unreachable"), DEADLINE, "it was tried")
    away.launch()
    try:
        wait_until(lambda: program.is_named_by(away, tmp_path), DEADLINE, "its lines")
    finally:
        away.kill()
    assert told(agent, program.id)[-1] == "stored"


def test_two_agents_upload_a_build_once(start, tmp_path):
    service = start("debuginfo")
    agents = [start("agent", str(n), debuginfo_url=service.url) for n in range(2)]
    program = Program(tmp_path / "a", "both")

    program.run()

    wait_until(lambda: program.is_named_by(service, tmp_path), DEADLINE, "its lines")
    wait_until(lambda: all(told(a, program.id) for a in agents), DEADLINE, "both have asked")
    assert service.log_file.read_text().count(f'"file stored" build_id={program.id}') == 1
    first = sorted(told(a, program.id)[0] for a in agents)
    assert first in (["have_it", "stored"], ["in_progress", "stored"])


def test_after_a_restart_what_is_held_is_not_sent_again(start, tmp_path):
    service = start("debuginfo")
    program = Program(tmp_path / "a", "again")
    first = start("agent", "first", debuginfo_url=service.url)
    program.run()
    wait_until(lambda: program.is_named_by(service, tmp_path), DEADLINE, "its lines")
    first.stop()

    second = start("agent", "second", debuginfo_url=service.url)
    program.run()

    wait_until(lambda: told(second, program.id) == ["have_it"], DEADLINE, "it need not be sent")
    assert re.search(rf"build_id={program.id} .* bytes=0 ", second.log_file.read_text())


@pytest.mark.parametrize("status, headers, metric, outcome", [
    (400, {}, "uploads", "refused"),
    (404, {}, "uploads", "refused"),
    (409, {}, "uploads", "have_it"),
    (409, {"Retry_After": 1}, "retries", "in_progress"),
    (413, {}, "uploads", "too_large"),
    (401, {}, "retries", "unauthorized"),
    (503, {"Retry_After": 1}, "retries", "busy"),
    (500, {}, "retries", "busy"),
])
def test_each_answer_has_its_outcome_and_costs_no_body(start, tmp_path, status, headers, metric,
                                                       outcome):
    with fake_service(lambda put: put.end(status, **headers)) as url:
        agent = start("agent", debuginfo_url=url)
        Program(tmp_path / "a", "answered").run()

        wait_until(lambda: outcomes(agent, metric).get(outcome), DEADLINE, outcome)

        assert metrics(agent)["decima_agent_debuginfo_bytes_total"] == 0


def test_who_is_told_to_come_back_does(start, tmp_path):
    asked, program = [], Program(tmp_path / "a", "patient")

    def answer(put):
        if program.id not in put.path:
            return put.end(409)
        asked.append(time.monotonic())
        if len(asked) < 2:
            return put.end(503, Retry_After=3)
        put.go_on()
        put.rfile.read(int(put.headers["Content-Length"]))
        return put.end(201)

    with fake_service(answer) as url:
        agent = start("agent", debuginfo_url=url)
        program.run()
        wait_until(lambda: outcomes(agent).get("stored"), DEADLINE, "it came back")

    assert asked[1] - asked[0] >= 3


def test_sampling_goes_on_while_a_service_never_answers(start, tmp_path, protos):
    with fake_service(lambda put: time.sleep(DEADLINE)) as url:
        agent = start("agent", debuginfo_url=url)
        wait_until(lambda: uploaders_of(agent), DEADLINE, "an upload hangs")
        program = Program(tmp_path / "a", "sampled")
        profiles = Path(agent.flags["local-store-directory"])
        before = metrics(agent)["decima_agent_samples_taken_total"]

        program.run()

        wait_until(lambda: metrics(agent)["decima_agent_samples_taken_total"] > before and
                   len(list(profiles.glob("*.pb.gz"))) > 2, DEADLINE, "samples are taken")
        agent.send(signal.SIGTERM)
        wait_until(lambda: not agent.alive(), DEADLINE, "the agent stops")


# what may go wrong on the way


def test_what_kills_the_uploader_costs_one_file(start, tmp_path):
    hangs = threading.Event()
    bad, good = Program(tmp_path / "a", "bad"), Program(tmp_path / "b", "good")
    taken = []

    def answer(put):
        if bad.id in put.path:
            hangs.set()
            time.sleep(DEADLINE)
        if good.id in put.path:
            taken.append(put.path)
        return put.end(409)

    with fake_service(answer) as url:
        agent = start("agent", debuginfo_url=url)
        bad.run()
        assert hangs.wait(DEADLINE)
        good.run()
        for pid in uploaders_of(agent):
            os.kill(pid, signal.SIGSEGV)

        wait_until(lambda: taken, DEADLINE, "the next one is asked for")

        assert told(agent, bad.id) == ["crashed"]
        assert outcomes(agent)["crashed"] == 1
        assert metrics(agent)["decima_agent_debuginfo_peak_bytes"] > 0


def test_an_agent_killed_in_the_middle_leaves_nothing_behind(start, fleet, tmp_path):
    middle = threading.Event()
    program = Program(tmp_path / "a", "interrupted")

    def answer(put):
        if program.id not in put.path:
            return put.end(409)
        put.go_on()
        middle.set()
        return time.sleep(DEADLINE)

    with fake_service(answer) as url:
        agent = start("agent", "killed", debuginfo_url=url)
        program.run()
        assert middle.wait(DEADLINE)
        pids = uploaders_of(agent)
        agent.kill()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), DEADLINE,
                   "its uploader ends with it")
    state = Path(agent.flags["state-directory"])
    assert not state.exists() or not [f for f in state.rglob("*") if "debug" in f.name]

    service = start("debuginfo")
    start("agent", "next", debuginfo_url=service.url)
    program.run()
    wait_until(lambda: program.is_named_by(service, tmp_path), DEADLINE, "its lines")


def test_deleted_programs_take_no_more_room_than_they_may(start, fleet, tmp_path):
    away = Service(fleet, "debuginfo", "full-debuginfo")
    programs = [Program(tmp_path / "a", f"build{n}") for n in range(30)]
    room = programs[0].path.stat().st_blocks * 512 * 2
    agent = start("agent", debuginfo_url=away.url, debuginfo_held_max_bytes=room)

    for running in [subprocess.Popen([p.path, "1500"]) for p in programs]:
        assert running.wait(60) == 0
    for program in programs:
        program.path.unlink()

    wait_until(lambda: outcomes(agent).get("disk_full", 0) >= 27, DEADLINE, "the others go")
    assert metrics(agent)["decima_agent_debuginfo_deleted_bytes"] <= room
    away.launch()
    try:
        wait_until(lambda: all("disk_full" in told(agent, p.id) or "stored" in told(agent, p.id)
                               for p in programs), DEADLINE, "the rest is uploaded")
        named = [p for p in programs if p.is_named_by(away, tmp_path)]
    finally:
        away.kill()
    assert 1 <= len(named) <= 3  # one may be with the uploader meanwhile


@pytest.mark.parametrize("what", ["no-sections", "sections-past-the-end", "many-sections"])
def test_a_program_with_mad_headers_is_told_apart(start, tmp_path, what):
    service = start("debuginfo")
    program, sound = Program(tmp_path / "a", what), Program(tmp_path / "b", "sound")
    image = bytearray(program.path.read_bytes())
    if what == "no-sections":
        image[40:48], image[60:64] = bytes(8), bytes(4)  # e_shoff; e_shnum, e_shstrndx
    if what == "sections-past-the-end":
        image[40:48] = (1 << 40).to_bytes(8, "little")
    if what == "many-sections":
        image[60:62] = (65535).to_bytes(2, "little")
    program.path.write_bytes(image)
    agent = start("agent", debuginfo_url=service.url)

    program.run()
    sound.run()

    wait_until(lambda: sound.is_named_by(service, tmp_path), DEADLINE, "the next one")
    assert told(agent, program.id) == ["nothing" if what == "no-sections" else "malformed"]
    assert service.get(f"/buildid/{program.id}/debuginfo")[0] == 404


def test_with_a_token_what_has_no_build_id_comes_too(start, tmp_path):
    token = tmp_path / "token"
    token.write_text("0123456789abcdef0123\n")
    service = start("debuginfo", upload_token_file=token)
    source, path = tmp_path / "a.c", tmp_path / "nameless"
    source.write_text(SOURCE % ("nameless", "nameless"))
    run("cc", "-g", "-O1", "-Wl,--build-id=none", "-o", path, source)
    agent = start("agent", "without", debuginfo_url=service.url)
    subprocess.run([path], check=True)
    wait_until(lambda: outcomes(agent).get("no_build_id") and
               outcomes(agent, "retries").get("unauthorized"), DEADLINE, "it is not let in")
    agent.stop()

    start("agent", "with", debuginfo_url=service.url, debuginfo_token_file=token)
    subprocess.run([path], check=True)

    wait_until(lambda: "build_id=htlhash:" in service.log_file.read_text(), DEADLINE,
               "a file that is known by its hash")
