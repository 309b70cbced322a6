# SPDX-License-Identifier: Apache-2.0
"""The store of debug files, asked by real clients: gdb, debuginfod-find, elfutils, debuginfod."""
import contextlib
import http.client
import json
import os
import resource
import shutil
import socket
import subprocess
import threading
import time
import types
import urllib.request

import pytest

from harness import metrics, servers_of_a_run, wait_until
from local.ports import any_free
from local.process import Process
from local.services import Service

SOURCE = """
#include <stdio.h>
static int twice(int x) { return x + x; }
int main(int argc, char **argv) { (void)argv; printf("%%d\\n", twice(argc)); return %d; }
"""


@pytest.fixture(scope="module")
def fleet():
    """A run directory without servers: this service needs none."""
    with servers_of_a_run("-debuginfo", without=("postgres", "redis", "kafka")) as made:
        yield made


@pytest.fixture
def start(fleet, request):
    """start(flag=value, ...): a decima-debuginfo with a store of its own; keep=True: the last's."""
    started = []

    def make(keep=False, **flags):
        name = f"{request.node.name[:40]}-{len(started) - keep}".replace("[", "-").rstrip("]")
        service = Service(fleet, "debuginfo", name,
                          {k.replace("_", "-"): v for k, v in flags.items()})
        service.store = fleet.run_dir / name
        service.launch()
        started.append(service)
        service.wait_ready(service.ready, 30)
        return service

    yield make
    for service in started:
        service.kill()
        shutil.rmtree(service.store, ignore_errors=True)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """build(n): files made of one small program, another one for each n."""
    made = {}

    def run(*argv):
        subprocess.run(argv, check=True, cwd="/", stdin=subprocess.DEVNULL)

    def make(number=0):
        if number in made:
            return made[number]
        where = tmp_path_factory.mktemp("program")
        files = types.SimpleNamespace(**{n: where / n for n in (
            "source", "whole", "debug", "symbols", "stripped")})
        files.source = where / "prog.c"
        files.source.write_text(SOURCE % number)
        run("cc", "-g", "-O0", "-Wl,--build-id=sha1", "-o", files.whole, files.source)
        run("objcopy", "--only-keep-debug", files.whole, files.debug)
        run("strip", "-g", "-o", files.symbols, files.whole)
        run("strip", "-o", files.stripped, files.whole)
        notes = subprocess.run(["readelf", "-n", files.whole], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        files.id = notes.partition("Build ID:")[2].split()[0]
        made[number] = files
        return files

    return make


def put(service, build_id, body, query="", **headers):
    """(status, answer) of an upload."""
    link = http.client.HTTPConnection(service.address, timeout=30)
    try:
        link.request("PUT", f"/buildid/{build_id}/debuginfo{query}", body, headers)
        answer = link.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        link.close()


class Offer:
    """An upload by hand: the headers, then as much of the body as one likes."""

    def __init__(self, service, build_id, length, query="", headers=""):
        host, port = service.address.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        self.send(f"PUT /buildid/{build_id}/debuginfo{query} HTTP/1.1\r\nHost: x\r\n"
                  f"Connection: close\r\nContent-Length: {length}\r\n"
                  f"Expect: 100-continue\r\n{headers}\r\n".encode())

    def send(self, data):
        self.socket.sendall(data)

    def hear(self):
        """What comes next, up to the end of headers; b"" when it was cut."""
        heard = b""
        with contextlib.suppress(ConnectionResetError):
            while b"\r\n\r\n" not in heard:
                piece = self.socket.recv(1)
                if not piece:
                    break
                heard += piece
        return heard

    def rest(self):
        with contextlib.suppress(ConnectionResetError):
            return b"".join(iter(lambda: self.socket.recv(65536), b""))
        return b""

    def close(self):
        self.socket.close()


GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"


def in_temp(service):
    return list((service.store / "temp").iterdir())


def held(service):
    """The files of the store, by build id's directory and name."""
    return sorted(str(f.relative_to(service.store / "files"))
                  for f in (service.store / "files").rglob("*") if f.is_file())


def generation(service, build_id):
    request = urllib.request.Request(f"{service.url}/api/v1/generations",
                                     json.dumps({"build_ids": [build_id]}).encode())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=30) as answer:
        return json.loads(answer.read())["data"]["generations"][build_id]


def client(service, tmp_path, *argv):
    """Run a program that fetches from the service by libdebuginfod."""
    environment = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    environment |= {"DEBUGINFOD_URLS": service.url,
                    "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache"),
                    "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    return subprocess.run([str(a) for a in argv], cwd=tmp_path, env=environment, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)


# what real clients get


def test_debuginfod_find_fetches_the_file_that_was_uploaded(start, build, tmp_path):
    service, files = start(), build()
    assert put(service, files.id, files.debug.read_bytes())[0] == 201

    found = client(service, tmp_path, "debuginfod-find", "debuginfo", files.id)

    assert found.returncode == 0, found.stderr
    with open(found.stdout.strip(), "rb") as file:
        assert file.read() == files.debug.read_bytes()


def test_an_unstripped_program_answers_for_its_executable_too(start, build, tmp_path):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())
    without_code = service.get(f"/buildid/{files.id}/executable")[0]
    other = start()
    put(other, files.id, files.whole.read_bytes())

    found = client(other, tmp_path, "debuginfod-find", "executable", files.id)

    assert without_code == 404
    assert found.returncode == 0, found.stderr
    with open(found.stdout.strip(), "rb") as file:
        assert file.read() == files.whole.read_bytes()


def test_sections_are_what_objcopy_dumps(start, build, tmp_path):
    service, files = start(), build()
    put(service, files.id, files.whole.read_bytes())

    for name in (".debug_info", ".text", ".note.gnu.build-id"):
        subprocess.run(["objcopy", "--dump-section", f"{name}={tmp_path / 'expected'}",
                        files.whole, "/dev/null"], check=True)
        found = client(service, tmp_path, "debuginfod-find", "section", files.id, name)
        assert found.returncode == 0, found.stderr
        with open(found.stdout.strip(), "rb") as file:
            assert file.read() == (tmp_path / "expected").read_bytes(), name
    assert service.get(f"/buildid/{files.id}/section/.bss")[0] == 404
    assert service.get(f"/buildid/{files.id}/section/.nowhere")[0] == 404


def test_a_section_that_was_left_out_of_a_debug_file_is_not_answered_from_it(start, build):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())

    assert service.get(f"/buildid/{files.id}/section/.text")[0] == 404
    assert service.get(f"/buildid/{files.id}/section/.debug_line")[0] == 200


def test_gdb_knows_the_lines_of_a_stripped_program(start, build, tmp_path):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())
    shutil.copy(files.stripped, tmp_path / "prog")

    said = client(service, tmp_path, "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled on",
                  "-ex", "info line twice", "./prog")

    assert f'Line 3 of "{files.source}"' in said.stdout, said.stdout + said.stderr


def test_elfutils_name_the_functions_of_a_stripped_program(start, build, tmp_path):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())
    shutil.copy(files.stripped, tmp_path / "prog")

    said = client(service, tmp_path, "eu-addr2line", "-f", "-e", "./prog", "twice")

    assert said.stdout.splitlines()[:1] == ["twice"], said.stdout + said.stderr
    assert f"{files.source}:3" in said.stdout


# what is taken, and what is not


def test_whether_it_is_wanted_is_said_before_the_body(start, build):
    service, files = start(), build()
    body = files.debug.read_bytes()
    first = Offer(service, files.id, len(body))
    assert first.hear() == GO_ON
    first.send(body[:1000])

    second = Offer(service, files.id, len(body))
    head, said = second.hear(), second.rest()

    assert head.startswith(b"HTTP/1.1 409 ") and b"\r\nRetry-After: " in head
    assert json.loads(said)["errorType"] == "in_progress"
    first.send(body[1000:])
    assert first.hear().startswith(b"HTTP/1.1 201 ")
    third = Offer(service, files.id, len(body))
    assert third.hear().startswith(b"HTTP/1.1 409 ")
    assert json.loads(third.rest())["errorType"] == "have_it"
    assert metrics(service)["decima_debuginfo_upload_bytes_total"] == len(body)


def test_of_ten_uploads_at_once_one_is_stored(start, build):
    service, files = start(), build()
    answers = []

    def upload():
        answers.append(put(service, files.id, files.debug.read_bytes()))

    threads = [threading.Thread(target=upload) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(status for status, _ in answers) == [201] + 9 * [409]
    assert {a["errorType"] for s, a in answers if s == 409} <= {"have_it", "in_progress"}
    assert len(held(service)) == 1 and not in_temp(service)


def test_of_a_thousand_that_offer_the_same_build_one_is_told_to_go_on(start, build, figure):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2000 and (hard == resource.RLIM_INFINITY or hard >= 2000):
        resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    service, files = start(), build()
    body = files.debug.read_bytes()

    began = time.monotonic()
    offers = [Offer(service, files.id, len(body)) for _ in range(1000)]
    heard = [offer.hear() for offer in offers]
    took = time.monotonic() - began

    assert heard.count(GO_ON) == 1
    assert sum(h.startswith(b"HTTP/1.1 409 ") for h in heard) == 999
    assert service.get("/healthy")[0] == 200
    winner = offers[heard.index(GO_ON)]
    winner.send(body)
    assert winner.hear().startswith(b"HTTP/1.1 201 ")
    for offer in offers:
        offer.close()
    figure(f"1,000 offers of one build: answered in {took:.2f} s")
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_better_file_takes_the_place_of_a_worse_one_and_never_the_other_way(start, build):
    service, files = start(), build()
    ways = [(files.stripped, 201, "dynsym"), (files.symbols, 200, "symtab"),
            (files.stripped, 409, None), (files.debug, 200, "dwarf"), (files.symbols, 409, None),
            (files.whole, 409, None)]
    generations = [generation(service, files.id)]

    for file, status, rank in ways:
        got, answer = put(service, files.id, file.read_bytes())
        assert got == status, (file, answer)
        generations.append(generation(service, files.id))
        if rank:
            assert answer["data"]["rank"] == rank
            assert answer["data"]["generation"] == generations[-1] > generations[-2]
        else:
            assert answer["errorType"] == "have_it" and generations[-1] == generations[-2]

    assert generations[0] == 0
    assert service.get(f"/buildid/{files.id}/debuginfo")[1] == files.debug.read_bytes()
    assert len(held(service)) == 1


def test_who_says_how_good_its_file_is_learns_before_the_body_that_it_is_not_wanted(start, build):
    service, files = start(), build()
    put(service, files.id, files.symbols.read_bytes())

    same = Offer(service, files.id, 10_000, "?rank=symtab")
    better = Offer(service, files.id, 10_000, "?rank=dwarf")

    assert same.hear().startswith(b"HTTP/1.1 409 ")
    assert better.hear() == GO_ON
    assert put(service, files.id, b"", "?rank=great")[0] == 400


def test_a_generation_does_not_come_back_after_an_eviction(start, build):
    service, files = start(), build()
    put(service, files.id, files.symbols.read_bytes())
    before = generation(service, files.id)
    for file in held(service):
        (service.store / "files" / file).unlink()

    gone = generation(service, files.id)
    put(service, files.id, files.symbols.read_bytes())

    assert gone == 0 and generation(service, files.id) > before


def test_what_is_not_a_whole_file_of_that_build_is_refused_and_leaves_nothing(start, build,
                                                                              tmp_path):
    service, files, other = start(), build(), build(1)
    whole = files.debug.read_bytes()
    big_endian = whole[:5] + b"\2" + whole[6:]
    without = tmp_path / "no_id"
    subprocess.run(["objcopy", "-R", ".note.gnu.build-id", files.whole, without], check=True)
    for what, body in {"of another build": other.debug.read_bytes(),
                       "of none": without.read_bytes(),
                       "cut short": whole[:-100], "cut to its head": whole[:64],
                       "no ELF file": b"#!/bin/sh\n" * 100, "empty": b"",
                       "big-endian": big_endian}.items():
        status, answer = put(service, files.id, body)
        assert status == 400 and answer["errorType"] == "bad_data", what
        assert len(answer["error"]) > 10, what
    assert held(service) == [] and in_temp(service) == []


@pytest.mark.parametrize("path", [
    "../../etc/passwd", "..%2f..%2fetc%2fpasswd/debuginfo", "%2e%2e/debuginfo", "./debuginfo",
    "/debuginfo", "zz/debuginfo", "abc/debuginfo", "a" * 130 + "/debuginfo",
    "01234567%00/debuginfo",
    "0123456789abcdef/source/", "0123456789abcdef/section/"])
def test_a_malformed_question_is_a_sentence(start, path):
    service = start()

    link = http.client.HTTPConnection(service.address, timeout=30)
    link.request("GET", f"/buildid/{path}")
    answer = link.getresponse()

    assert answer.status == 400
    assert json.loads(answer.read())["errorType"] == "bad_data"


def test_what_is_not_there_is_404_and_other_methods_are_405(start):
    service = start()
    link = http.client.HTTPConnection(service.address, timeout=30)
    for kind in ("debuginfo", "executable", "section/.text", "source/etc/passwd", "dwp",
                 "debuginfo/x", ""):
        assert service.get(f"/buildid/0123456789abcdef/{kind}")[0] == 404, kind
    link.request("DELETE", "/buildid/0123456789abcdef/debuginfo")
    assert link.getresponse().status == 405


def test_a_file_that_is_too_long_is_refused(start, build):
    service, files = start(upload_max_bytes="100KB"), build()
    told = Offer(service, files.id, 1 << 30)
    assert told.hear().startswith(b"HTTP/1.1 413 ")

    head = b"\x7fELF" + bytes(65532)
    status, _ = put(service, files.id, iter([head] * 3))  # without a length: in chunks
    assert status == 413
    with contextlib.suppress(OSError, http.client.HTTPException):  # it is cut while it sends
        put(service, files.id, iter([head] * 1000))

    wait_until(lambda: not in_temp(service), what="nothing is left of it")
    taken = metrics(service)["decima_debuginfo_upload_bytes_total"]
    assert taken <= 2 * (100 << 10)
    assert put(service, files.id, files.debug.read_bytes())[0] == 201


def test_an_upload_that_stalls_lets_the_next_one_in(start, build):
    service, files = start(upload_timeout="1s"), build()
    body = files.debug.read_bytes()
    stalls = Offer(service, files.id, len(body))
    assert stalls.hear() == GO_ON
    stalls.send(body[:1000])

    assert stalls.hear() == b""  # cut
    wait_until(lambda: not in_temp(service), what="nothing is left of it")
    assert put(service, files.id, body)[0] == 201
    assert metrics(service)['decima_debuginfo_uploads_total{outcome="broken_off"}'] == 1


def test_more_uploads_at_once_than_allowed_are_told_to_come_back(start, build):
    service = start()
    offers = [Offer(service, f"{n:016x}", 1000) for n in range(9)]
    heard = [offer.hear() for offer in offers]

    assert heard.count(GO_ON) == 8
    last = next(h for h in heard if h != GO_ON)
    assert last.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: " in last
    for offer in offers:
        offer.close()
    files = build()
    wait_until(lambda: put(service, files.id, files.debug.read_bytes())[0] == 201,
               what="the places are free again")


def test_a_kill_in_the_middle_of_an_upload_leaves_nothing_half(start, build):
    service, files = start(), build()
    body = files.debug.read_bytes()
    put(service, files.id, files.symbols.read_bytes())
    offer = Offer(service, files.id, len(body))
    assert offer.hear() == GO_ON
    offer.send(body[:len(body) - 10])
    wait_until(lambda: in_temp(service)[0].stat().st_size > 1000, what="most of it is on the disk")

    service.kill()
    again = start(keep=True)

    assert in_temp(again) == []
    assert metrics(again)["decima_debuginfo_leftovers_total"] == 1
    assert again.get(f"/buildid/{files.id}/debuginfo")[1] == files.symbols.read_bytes()
    assert put(again, files.id, body)[0] == 200
    assert again.get(f"/buildid/{files.id}/debuginfo")[1] == body


def test_the_least_recently_read_file_goes_first(start, build, tmp_path):
    service = start(store_max_bytes="1MB", upload_max_bytes="1MB")
    ballast = tmp_path / "ballast"
    ballast.write_bytes(os.urandom(400_000))
    bodies = []
    for number in range(3):
        files = build(number)
        subprocess.run(["objcopy", "--add-section", f".ballast={ballast}", files.whole,
                        tmp_path / "heavy"], check=True)
        bodies.append((files.id, (tmp_path / "heavy").read_bytes()))

    for build_id, body in bodies[:2]:
        assert put(service, build_id, body)[0] == 201
    assert service.get(f"/buildid/{bodies[0][0]}/debuginfo")[0] == 200
    assert put(service, *bodies[2])[0] == 201

    there = [service.get(f"/buildid/{build_id}/debuginfo")[0] for build_id, _ in bodies]
    assert there == [200, 404, 200]
    seen = metrics(service)
    assert seen["decima_debuginfo_evicted_files_total"] == 1
    assert seen["decima_debuginfo_store_bytes"] == sum(len(bodies[n][1]) for n in (0, 2))
    assert seen["decima_debuginfo_store_files"] == 2


def test_a_store_that_cannot_be_written_to_serves_and_says_so(start, build):
    service, files = start(), build()
    put(service, files.id, files.symbols.read_bytes())
    os.rename(service.store / "temp", service.store / "temp.away")

    status, answer = put(service, files.id, files.debug.read_bytes())
    ready, why = service.get("/ready")

    assert status == 503 and answer["errorType"] == "unavailable"
    assert ready == 503 and b"cannot be written" in why
    assert service.get(f"/buildid/{files.id}/debuginfo")[1] == files.symbols.read_bytes()
    os.rename(service.store / "temp.away", service.store / "temp")
    assert service.ready()


def test_only_who_has_the_token_may_upload_and_may_say_more(start, build, tmp_path):
    token = tmp_path / "token"
    token.write_text("correct horse battery staple\n")
    service, files = start(upload_token_file=token), build()
    right = {"Authorization": "Bearer correct horse battery staple"}
    no_id = tmp_path / "no_id"
    subprocess.run(["objcopy", "-R", ".note.gnu.build-id", files.whole, no_id], check=True)

    for wrong in ({}, {"Authorization": "Bearer correct horse battery stapl"},
                  {"Authorization": "Basic correct horse battery staple"}):
        assert put(service, files.id, files.debug.read_bytes(), **wrong)[0] == 401, wrong
    assert put(service, files.id, build(1).debug.read_bytes(), **right)[0] == 400
    assert put(service, "0123456789abcdef", no_id.read_bytes(), **right)[0] == 201
    assert put(service, files.id, files.debug.read_bytes(), **right)[0] == 201
    assert put(service, files.id, files.symbols.read_bytes(), **right)[0] == 409
    assert put(service, files.id, files.symbols.read_bytes(), "?force=true", **right)[0] == 200
    assert service.get(f"/buildid/{files.id}/debuginfo")[1] == files.symbols.read_bytes()


def test_a_file_without_a_build_id_is_known_by_its_hash(start, build, tmp_path):
    service, files = start(), build()
    subprocess.run(["objcopy", "-R", ".note.gnu.build-id", files.whole, tmp_path / "no_id"],
                   check=True)
    body = (tmp_path / "no_id").read_bytes()
    digest = subprocess.run(
        ["sha256sum"], check=True, stdout=subprocess.PIPE,
        input=body[:4096] + body[-4096:] + len(body).to_bytes(8, "big")).stdout[:32].decode()

    assert put(service, f"htlhash:{digest}", body)[0] == 201
    assert put(service, "htlhash:" + 32 * "0", body)[0] == 400
    assert put(service, f"htlhash:{digest}", files.whole.read_bytes(), "?rank=dwarf")[0] == 409
    assert service.get(f"/buildid/htlhash:{digest}/debuginfo")[1] == body
    assert generation(service, f"htlhash:{digest}") > 0


# generations


@pytest.mark.parametrize("body, status, kind", [
    (b'{"build_ids":[]}', 200, None),
    (b"", 400, "bad_data"),
    (b'{"build_ids":', 400, "bad_data"),
    (b"[]", 400, "bad_data"),
    (b'{"build_ids":"0123456789"}', 400, "bad_data"),
    (b'{"build_ids":[17]}', 400, "bad_data"),
    (b'{"build_ids":["../../etc/passwd"]}', 400, "bad_data"),
    (b'{"build_ids":["01234567\\u0000"]}', 400, "bad_data"),
    (json.dumps({"build_ids": [f"{n:08x}" for n in range(10_001)]}).encode(), 422, "execution"),
], ids=["none", "empty", "half", "list", "text", "number", "path", "nul", "many"])
def test_generations_answer_or_say_what_is_wrong(start, body, status, kind):
    service = start()
    link = http.client.HTTPConnection(service.address, timeout=30)
    link.request("POST", "/api/v1/generations", body)
    answer = link.getresponse()

    assert answer.status == status
    said = json.loads(answer.read())
    assert said.get("errorType") == kind
    assert kind or said == {"status": "success", "data": {"generations": {}}}


def test_a_question_for_generations_that_is_too_long_is_refused(start):
    service = start()
    link = http.client.HTTPConnection(service.address, timeout=30)
    link.request("POST", "/api/v1/generations", None,
                 {"Content-Length": str(3 << 20), "Expect": "100-continue"})
    answer = link.getresponse()

    assert answer.status == 413 and json.loads(answer.read())["errorType"] == "bad_data"


def test_generations_of_ten_thousand_builds_are_one_answer(start, build, figure):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())
    asked = [f"{n:040x}" for n in range(9_998)] + [files.id, files.id.upper()]
    link = http.client.HTTPConnection(service.address, timeout=30)

    began = time.monotonic()
    link.request("POST", "/api/v1/generations", json.dumps({"build_ids": asked}))
    answer = json.loads(link.getresponse().read())["data"]["generations"]
    figure(f"10,000 generations: {1000 * (time.monotonic() - began):.0f} ms")

    assert len(answer) == 9_999
    assert {i for i, g in answer.items() if g} == {files.id}


# upstream


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
    assert seen['decima_debuginfo_upstream_total{outcome="remembered"}'] == 4
    assert put(service, files.id, files.debug.read_bytes())[0] == 201
    assert service.get(f"/buildid/{files.id}/debuginfo")[0] == 200


def test_a_miss_is_forgotten_in_time(start, build, upstream):
    service = start(debuginfod_upstream_servers=upstream.url, upstream_missing_for="0s")
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
    assert metrics(here)['decima_debuginfo_upstream_total{outcome="in_circles"}'] == 1
    assert metrics(there)['decima_debuginfo_upstream_total{outcome="absent"}'] == 1
    assert metrics(here)['decima_debuginfo_upstream_total{outcome="remembered"}'] == 1


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
