# SPDX-License-Identifier: Apache-2.0
"""What the store of debug files takes, and what it does not."""
import contextlib
import http.client
import json
import os
import resource
import subprocess
import threading
import time

import pytest

from debuginfo_store import (  # fleet: what start() asks for
    GO_ON, Offer, build, fleet, generation, held, in_temp, put, start)
from harness import metrics, wait_until


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
    assert json.loads(third.rest())["errorType"] == "already_stored"
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
    assert {a["errorType"] for s, a in answers if s == 409} <= {"already_stored", "in_progress"}
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
            assert answer["errorType"] == "already_stored" and generations[-1] == generations[-2]

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
    assert metrics(service)['decima_debuginfo_uploads_total{outcome="aborted"}'] == 1


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
