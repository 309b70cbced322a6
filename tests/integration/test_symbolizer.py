# SPDX-License-Identifier: Apache-2.0
"""The symbolizer with real debuginfod servers: what it names, and what it says when it cannot."""
import contextlib
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import types
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from harness import metrics, servers_of_a_run, wait_until
from local.ports import any_free
from local.process import Process
from local.services import Service

# What is asked for must not move: lines are counted here.
SOURCE = """\
#include <cstdio>
#define INLINE inline __attribute__((always_inline))
namespace app { namespace { INLINE int hidden(int x) { asm volatile("nop"); return x; } }
INLINE int twice(int x)
{
	asm volatile("nop"); return x + x + NUMBER;
}
__attribute__((noinline)) int outer(const char *, int x)
{
	return twice(x) * 3 + hidden(x);
}
}
int main(int argc, char **argv) { std::printf("%d\\n", app::outer(*argv, argc)); }
"""
NO_FILE = "no debug info or executable of this build id is held"
PENDING = "the debug info is being fetched or read: ask again"
UNAVAILABLE = "the debuginfod server could not be asked just now"
MALFORMED = "the debug info cannot be read"


@pytest.fixture(scope="module")
def fleet():
    """A run directory with a Redis in it."""
    with servers_of_a_run("-symbolizer", without=("postgres", "kafka")) as made:
        yield made


@pytest.fixture
def start(fleet, request):
    """start(kind, flag=value, ...): a service with a directory of its own, ended with the test."""
    started = []

    def make(kind, **flags):
        name = f"{request.node.name[5:40]}-{kind}-{len(started)}".replace("[", "-").rstrip("]")
        service = Service(fleet, kind, name, {k.replace("_", "-"): v for k, v in flags.items()})
        service.directory = fleet.run_dir / name
        started.append(service)
        service.launch()
        service.wait_ready(service.ready, 30)
        return service

    yield make
    for service in started:
        service.kill()
        shutil.rmtree(service.directory, ignore_errors=True)


@pytest.fixture
def pair(start):
    """A debuginfo service, and a symbolizer that asks it."""
    debuginfo = start("debuginfo")
    return debuginfo, start("symbolizer", debuginfod_urls=debuginfo.url)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """program(n): the small program, another one for each n."""
    made = {}

    def make(number=0):
        if number in made:
            return made[number]
        where = tmp_path_factory.mktemp("program")
        files = types.SimpleNamespace(source=where / "small.cc", whole=where / "small",
                                      symbols=where / "small.symbols", debug=where / "small.debug")
        files.source.write_text(SOURCE)
        run("c++", "-g", "-O1", f"-DNUMBER={number}", "-Wl,--build-id=sha1", "-o", files.whole,
            files.source)
        run("objcopy", "--only-keep-debug", files.whole, files.debug)
        run("strip", "-g", "-o", files.symbols, files.whole)
        notes = run("readelf", "-n", files.whole)
        files.id = notes.partition("Build ID:")[2].split()[0]
        symbols = {line.split()[-1]: int(line.split()[0], 16)
                   for line in run("nm", files.whole).splitlines() if len(line.split()) == 3}
        files.outer = symbols["_ZN3app5outerEPKci"]
        made[number] = files
        return files

    return make


def run(*argv):
    return subprocess.run([str(a) for a in argv], check=True, cwd="/", text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout


def post(service, body, content_type="application/json", path="/symbolize"):
    """(status, body) of a POST."""
    request = urllib.request.Request(service.url + path, body, {"Content-Type": content_type})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as e:
        return e.code, e.read()


def ask(service, build_id, *addresses):
    """The one response to the one question."""
    status, body = post(service, json.dumps(
        {"requests": [{"build_id": build_id, "addresses": list(addresses)}]}).encode())
    assert status == 200, body
    return json.loads(body)["responses"][0]


def function(service, build_id, address):
    """The innermost function there, or the reason why none is known."""
    location, = ask(service, build_id, address)["locations"]
    return location["lines"][-1]["function"] if location["lines"] else location["reason"]


def upload(service, build_id, file, query=""):
    request = urllib.request.Request(f"{service.url}/buildid/{build_id}/debuginfo{query}",
                                     file.read_bytes(), method="PUT")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as answer:
        return json.loads(answer.read())["data"]["generation"]


def works(service):
    """{outcome: how many files came to that}, without zeros."""
    name = 'decima_symbolizer_works_total{outcome="'
    return {k.removeprefix(name).rstrip('"}'): int(v) for k, v in metrics(service).items()
            if k.startswith(name) and v}


def counted(service, name):
    return int(metrics(service)[f"decima_symbolizer_{name}"])


OUTER = "app::outer(char const*, int)"


@pytest.fixture
def known(pair, program):
    """(a symbolizer, the program whose names it will find)."""
    small = program()
    upload(pair[0], small.id, small.debug)
    return pair[1], small


def test_names_are_full_and_demangled(pair, program):
    debuginfo, symbolizer = pair
    small = program()
    generation = upload(debuginfo, small.id, small.debug)

    answer = ask(symbolizer, small.id, small.outer, 1)

    assert answer["generation"] == generation
    assert answer["locations"][0]["lines"][-1]["function"] == OUTER
    assert answer["locations"][0]["lines"][-1]["system_name"] == "_ZN3app5outerEPKci"
    assert answer["locations"][1] == {
        "lines": [], "reason": "the debug info says nothing of this address"}


def test_inlined_calls_have_lines_of_their_own(known):
    symbolizer, small = known

    places = ask(symbolizer, small.id, *range(small.outer, small.outer + 16))["locations"]

    chains = [[(line["function"], line["line"], line["start_line"]) for line in place["lines"]]
              for place in places]
    assert [("app::twice(int)", 6, 4), (OUTER, 10, 8)] in chains
    assert [("app::(anonymous namespace)::hidden", 3, 3), (OUTER, 10, 8)] in chains
    assert "hidden" in {line["system_name"] for place in places for line in place["lines"]}
    assert {line["file"] for place in places for line in place["lines"]} == {str(small.source)}


def test_what_dwz_moved_to_another_file_is_fetched_too(start, serve, program, tmp_path):
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


def test_replicas_share_a_directory_and_a_later_one_goes_on_with_a_part(pair, start, program):
    debuginfo, first = pair
    small = program()
    upload(debuginfo, small.id, small.symbols, "?rank=symtab")

    second = start("symbolizer", debuginfod_urls=debuginfo.url, state_directory=first.directory)
    assert function(second, small.id, small.outer) == OUTER
    part = first.directory / "replica-2" / "tables"
    assert len(list(part.iterdir())) == 1 and not list((first.directory / "tables").iterdir())
    second.kill()
    debuginfo.kill()
    third = start("symbolizer", debuginfod_urls=debuginfo.url, state_directory=first.directory)

    assert function(third, small.id, small.outer) == OUTER
    assert not (first.directory / "replica-3").exists()


def test_a_file_that_comes_late_is_seen_within_ten_seconds(pair, program):
    debuginfo, symbolizer = pair
    small = program()
    assert function(symbolizer, small.id, small.outer) == NO_FILE

    upload(debuginfo, small.id, small.symbols, "?rank=symtab")
    wait_until(lambda: function(symbolizer, small.id, small.outer) == OUTER, 10, "late symbols")
    better = upload(debuginfo, small.id, small.debug)

    wait_until(lambda: ask(symbolizer, small.id, 1)["generation"] == better, 10, "a better file")
    assert works(symbolizer) == {"absent": 1, "built": 2}


@pytest.mark.parametrize("build_id", ["../../etc/passwd", "", "c0ffee", "XYZ", "a" * 1000,
                                      "htlhash:../../x", "é"])
def test_what_is_no_build_id_is_said_to_be_none(pair, build_id):
    answer = ask(pair[1], build_id, 1)

    assert answer["reason"] == "not a build id that anything is kept under"
    assert works(pair[1]) == {}


# how it is asked


def test_protobuf_says_the_same_as_json(known, protos):
    symbolizer, small = known
    question = protos.symbolize.SymbolizeRequest()
    question.requests.add(build_id=small.id.encode(), addresses=[small.outer, 1])
    question.requests.add(build_id=b"../x", addresses=[7])
    question.requests.add(build_id=small.id.encode())
    plain = ask(symbolizer, small.id, small.outer, 1)

    status, body = post(symbolizer, question.SerializeToString(), "application/x-protobuf")

    answer = protos.symbolize.SymbolizeResponse.FromString(body)
    assert status == 200 and answer.strings[0] == b""
    told = answer.responses[0]
    assert told.generation == plain["generation"] == answer.responses[2].generation
    assert [[{"function": answer.strings[line.function].decode(),
              "system_name": answer.strings[line.system_name].decode(),
              "file": answer.strings[line.file].decode(), "line": line.line,
              "start_line": line.start_line} for line in place.lines]
            for place in told.locations] == [place["lines"] for place in plain["locations"]]
    assert [place.reason for place in told.locations] == [0, 2]
    assert [place.reason for place in answer.responses[1].locations] == [7]
    assert len(answer.responses[2].locations) == 0


@pytest.mark.parametrize("content_type, body, status, sentence", [
    ("text/plain", b"x", 415, "Content-Type is application/x-protobuf or application/json"),
    ("application/json", b"{", 400, "not JSON"),
    ("application/json", b"{}", 400, 'an object with a list "requests" is needed'),
    ("application/x-protobuf", b"\x0a\x05", 400, "not a request for names"),
])
def test_what_is_no_request_is_refused_with_a_sentence(start, content_type, body, status, sentence):
    symbolizer = start("symbolizer")

    said, answer = post(symbolizer, body, content_type)

    assert said == status
    assert sentence in json.loads(answer)["error"]


def test_a_million_addresses_are_refused_with_the_limit(start, protos):
    symbolizer = start("symbolizer")
    many = list(range(2_000_000, 3_000_000))
    question = protos.symbolize.SymbolizeRequest()
    question.requests.add(build_id=b"c0ffee00", addresses=many)

    packed = post(symbolizer, question.SerializeToString(), "application/x-protobuf")
    text = post(symbolizer, json.dumps(
        {"requests": [{"build_id": "c0ffee00", "addresses": many}]}).encode())

    assert packed[0] == text[0] == 422
    assert json.loads(packed[1])["error"] == "more than 100000 addresses in one request"
    assert "in protobuf there may be 100000 addresses" in json.loads(text[1])["error"]


# where the files come from


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
            with opener.open(f"{self.url}/buildid/{build_id}/debuginfo", timeout=10):
                return True
        return False


def test_a_foreign_debuginfod_is_asked_once_for_what_it_has(fleet, start, program, tmp_path):
    small, other = program(), program(1)
    (tmp_path / "programs").mkdir()
    (tmp_path / "state").mkdir()
    shutil.copy(small.whole, tmp_path / "programs")
    debuginfod = Debuginfod(fleet, tmp_path / "programs", tmp_path / "state")
    try:
        wait_until(lambda: debuginfod.has(small.id), 60, "debuginfod has read its directory")
        ours = start("debuginfo")
        symbolizer = start("symbolizer", debuginfod_urls=f"{ours.url}, {debuginfod.url}/")

        alone = start("symbolizer", debuginfod_urls=debuginfod.url)

        assert function(alone, small.id, small.outer) == OUTER
        name, seen = "decima_symbolizer_generations_total", metrics(alone)
        assert seen[f'{name}{{outcome="foreign"}}'] >= 1
        assert seen[f'{name}{{outcome="failed"}}'] == seen[f'{name}{{outcome="told"}}'] == 0
        first = ask(symbolizer, small.id, small.outer)
        second = ask(symbolizer, small.id, small.outer)
        absent = function(symbolizer, other.id, other.outer)
        upload(ours, other.id, other.debug)

        wait_until(lambda: function(symbolizer, other.id, other.outer) == OUTER, 10,
                   "late debug info of ours beside a foreign server")
        assert first == second and first["generation"] == 0
        assert first["locations"][0]["lines"][-1]["function"] == OUTER
        assert absent == NO_FILE
        assert works(symbolizer) == {"built": 2, "absent": 1}
    finally:
        debuginfod.kill()


class Server(http.server.ThreadingHTTPServer):
    """A server of files by their paths, which remembers what it was asked for."""

    def __init__(self, files):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.asked = files, []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
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


def test_without_a_debug_file_the_executable_names_what_it_can(start, serve, program):
    small = program()
    server = serve({f"/buildid/{small.id}/executable": small.symbols.read_bytes()})
    symbolizer = start("symbolizer", debuginfod_urls=server.url)

    assert function(symbolizer, small.id, small.outer) == OUTER
    assert server.asked == [f"/buildid/{small.id}/debuginfo", f"/buildid/{small.id}/executable"]
    kept = [file.name for file in (symbolizer.directory / "tables").iterdir()]
    assert kept == [f"{small.id}-0.second"]


def test_a_truncated_file_costs_its_names_alone(start, serve, program):
    small, whole = program(), program(1)
    cut = small.whole.read_bytes()
    server = serve({f"/buildid/{small.id}/debuginfo": cut[:len(cut) // 2],
                    f"/buildid/{whole.id}/debuginfo": whole.whole.read_bytes()})
    symbolizer = start("symbolizer", debuginfod_urls=server.url)

    assert function(symbolizer, small.id, small.outer) == MALFORMED
    assert function(symbolizer, whole.id, whole.outer) == OUTER
    assert works(symbolizer) == {"malformed": 1, "built": 1}


@pytest.fixture
def silent():
    """The URL of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield "http://127.0.0.1:%d" % server.getsockname()[1]


def test_a_debuginfod_that_hangs_leaves_names_pending(start, silent):
    symbolizer = start("symbolizer", debuginfod_urls=silent, symbolize_timeout="1s")

    assert function(symbolizer, "c0ffee00", 1) == PENDING
    assert function(symbolizer, "c0ffee01", 1) == PENDING
    symbolizer.send(signal.SIGTERM)
    wait_until(lambda: not symbolizer.alive(), 20, "it ends while a worker hangs")
    assert symbolizer.exit_code() == 0, symbolizer.last_words()


def test_who_has_less_time_is_answered_in_it(start, silent):
    symbolizer = start("symbolizer", debuginfod_urls=silent, symbolize_timeout="4m")
    body = b'{"requests":[{"build_id":"c0ffee00","addresses":[1]}]}'

    status, answer = post(symbolizer, body, path="/symbolize?timeout=300ms")
    assert status == 200
    assert json.loads(answer)["responses"][0]["locations"][0]["reason"] == PENDING
    status, answer = post(symbolizer, body, path="/symbolize?timeout=soon")
    assert status == 400 and "not a duration" in json.loads(answer)["error"]


@pytest.mark.long  # libdebuginfod waits for 40 s
def test_a_foreign_server_that_hangs_does_not_hold_up_what_ours_has(start, silent, program):
    ours, small = start("debuginfo"), program()
    upload(ours, small.id, small.debug)
    symbolizer = start("symbolizer", debuginfod_urls=f"{ours.url} {silent}",
                       symbolize_timeout="1s")
    absent = [f"{number:040x}" for number in range(20)]
    for build_id in absent:
        assert function(symbolizer, build_id, 1) == PENDING
    wait_until(lambda: works(symbolizer).get("unavailable", 0) >= 20, 150, "they are given up")

    assert function(symbolizer, small.id, small.outer) == OUTER
    assert [function(symbolizer, build_id, 1) for build_id in absent] == [UNAVAILABLE] * 20


def children(pid):
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()]


def test_a_worker_that_dies_is_replaced(start, silent, serve, program):
    small = program()
    symbolizer = start("symbolizer", debuginfod_urls=silent, symbolize_timeout="30s")
    answers = []
    asker = threading.Thread(
        target=lambda: answers.append(function(symbolizer, small.id, small.outer)))
    asker.start()
    worker, = wait_until(lambda: children(symbolizer.pid()), 30, "a worker at work")

    os.kill(worker, signal.SIGKILL)

    asker.join()
    assert answers == [UNAVAILABLE]
    assert works(symbolizer) == {"crashed": 1}
    wait_until(lambda: metrics(symbolizer), 10, "it answers still")


def test_a_server_that_refuses_leaves_open_whether_there_is_a_file(start, program):
    small = program()
    symbolizer = start("symbolizer", debuginfod_urls=f"http://127.0.0.1:{any_free()}")

    assert function(symbolizer, small.id, small.outer) == UNAVAILABLE


# many at once


def test_fifty_who_ask_at_once_are_one_download_and_one_table(known):
    symbolizer, small = known
    answers = []
    askers = [threading.Thread(
        target=lambda: answers.append(function(symbolizer, small.id, small.outer)))
        for _ in range(50)]

    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()

    assert answers == [OUTER] * 50
    assert works(symbolizer) == {"built": 1}
    assert counted(symbolizer, "fetched_files_total") == 1


# what is kept


@pytest.mark.parametrize("place", [8, None], ids=["of another version", "spoiled"])
def test_a_table_that_cannot_be_used_is_built_again(known, place):
    symbolizer, small = known
    before = ask(symbolizer, small.id, small.outer)
    symbolizer.stop()
    table, = (symbolizer.directory / "tables").iterdir()
    image = bytearray(table.read_bytes())
    image[place or len(image) // 2] ^= 0x55
    table.write_bytes(image)

    symbolizer.launch()
    symbolizer.wait_ready(symbolizer.ready, 30)

    assert ask(symbolizer, small.id, small.outer) == before
    assert works(symbolizer) == {"built": 1}
    assert metrics(symbolizer)['decima_symbolizer_tables_dropped_total{why="spoiled"}'] == 1


def test_a_table_outlives_its_process_and_needs_no_server(known, pair):
    symbolizer, small = known
    before = ask(symbolizer, small.id, small.outer)
    symbolizer.kill()
    pair[0].kill()

    symbolizer.launch()
    symbolizer.wait_ready(symbolizer.ready, 30)

    assert ask(symbolizer, small.id, small.outer) == before
    assert works(symbolizer) == {}


def test_tables_stay_within_their_bytes(start, program):
    small = program()
    image = small.whole.read_bytes()
    debuginfo = start("debuginfo")
    symbolizer = start("symbolizer", debuginfod_urls=debuginfo.url, cache_max_bytes="64KB",
                       symbolize_timeout="200s")
    ids = [f"{number:040x}" for number in range(200)]
    twin = small.whole.with_name("twin")
    for build_id in ids:
        twin.write_bytes(image.replace(bytes.fromhex(small.id), bytes.fromhex(build_id)))
        upload(debuginfo, build_id, twin)

    status, body = post(symbolizer, json.dumps({"requests": [
        {"build_id": build_id, "addresses": [small.outer]} for build_id in ids]}).encode())

    named = [r["locations"][0]["lines"] for r in json.loads(body)["responses"]]
    assert status == 200 and all(lines[-1]["function"] == OUTER for lines in named)
    kept = sum(file.stat().st_size for file in (symbolizer.directory / "tables").iterdir())
    seen = metrics(symbolizer)
    assert 0 < kept <= 64 << 10
    assert seen["decima_symbolizer_table_bytes"] == kept
    assert seen['decima_symbolizer_tables_dropped_total{why="evicted"}'] > 10


# several replicas, and Redis


def shared(service):
    return int(metrics(service)['decima_symbolizer_binaries_total{found="shared"}'])


@pytest.fixture
def replicas(fleet, start, program):
    """Two symbolizers on one debuginfo service and one Redis, and the program it holds."""
    if not fleet.redis.alive():
        fleet.redis.launch()
    fleet.redis.wait_ready(fleet.redis.ready, 30)
    debuginfo, small = start("debuginfo"), program()
    upload(debuginfo, small.id, small.debug)
    made = [start("symbolizer", debuginfod_urls=debuginfo.url, redis=fleet.redis.address())
            for _ in range(2)]
    return *made, small


def put_in_redis(service):
    return int(metrics(service)['decima_symbolizer_redis_put_total{outcome="put"}'])


def test_what_one_replica_found_the_other_need_not_build(replicas):
    one, other, small = replicas
    places = [small.outer, 1, small.outer + 1]
    first = ask(one, small.id, *places)
    wait_until(lambda: put_in_redis(one) >= 3, 60, "the answers are in Redis")

    assert ask(other, small.id, *places) == first
    assert shared(other) == 1 and works(other) == {} and works(one) == {"built": 1}
    assert ask(other, small.id, small.outer + 2)["locations"][0]["lines"]
    assert works(other) == {"built": 1}  # that address nobody had asked for


def test_replicas_take_turns_at_one_file(replicas):
    one, other, small = replicas
    answers = []
    askers = [threading.Thread(target=lambda s=s: answers.append(ask(s, small.id, small.outer)))
              for s in (one, other) * 10]

    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()

    assert all(answer == answers[0] for answer in answers)
    assert sum(works(s).get("built", 0) for s in (one, other)) == 1


def test_a_better_file_is_seen_by_all_replicas_though_every_cache_is_warm(replicas, program):
    one, other, _ = replicas
    late = program(1)
    debuginfo = types.SimpleNamespace(url=one.flags["debuginfod-urls"])
    upload(debuginfo, late.id, late.symbols, "?rank=symtab")
    plain = ask(one, late.id, late.outer)
    wait_until(lambda: put_in_redis(one) >= 3, 60, "the answer is in Redis")
    assert ask(other, late.id, late.outer) == plain and shared(other) == 1
    assert plain["locations"][0]["lines"][-1]["line"] == 0

    generation = upload(debuginfo, late.id, late.debug)

    for service in (one, other):
        better = wait_until(lambda s=service: (answer := ask(s, late.id, late.outer))["generation"]
                            == generation and answer, 10, "names of the better file")
        assert better["locations"][0]["lines"][-1]["line"] in (8, 9, 10)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_without_redis_names_are_found_all_the_same(fleet, replicas, program, number):
    one, other, small = replicas
    ask(one, small.id, small.outer)
    wait_until(lambda: put_in_redis(one) >= 1, 60, "an answer is in Redis")

    fleet.redis.send(number)
    try:
        assert function(other, small.id, small.outer) == OUTER
        assert function(one, small.id, small.outer) == OUTER
        assert works(other) == {"built": 1}
        assert metrics(other)['decima_symbolizer_redis_asked_total{outcome="failed"}'] == 1
    finally:
        fleet.redis.send(signal.SIGCONT)
    wait_until(fleet.redis.launch if number == signal.SIGKILL else fleet.redis.ready, 30, "Redis")
    fleet.redis.wait_ready(fleet.redis.ready, 30)
    before = put_in_redis(other)
    addresses = iter(range(small.outer, small.outer + 10_000))
    wait_until(lambda: ask(other, small.id, next(addresses)) and put_in_redis(other) > before, 60,
               "Redis is used again")
