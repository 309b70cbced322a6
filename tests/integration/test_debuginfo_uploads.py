# SPDX-License-Identifier: Apache-2.0
"""Uploads that the store of debug files accepts, and uploads that it rejects."""
import contextlib
import http.client
import json
import os
import resource
import subprocess
import threading
import time

import pytest

from debuginfo_store import (  # fleet: start() depends on it
    GO_ON, Offer, build, fleet, generation, stored_files, in_temp, put, start, with_section)
from harness import metrics, wait_until


def test_an_upload_is_accepted_or_rejected_before_its_body(start, build):
    service, files = start(), build()
    body = files.debug.read_bytes()
    first = Offer(service, files.id, len(body))
    assert first.receive_head() == GO_ON
    first.send(body[:1000])

    second = Offer(service, files.id, len(body))
    head, body_of_response = second.receive_head(), second.receive_rest()

    assert head.startswith(b"HTTP/1.1 409 ") and b"\r\nRetry-After: " in head
    assert json.loads(body_of_response)["errorType"] == "in_progress"
    first.send(body[1000:])
    assert first.receive_head().startswith(b"HTTP/1.1 201 ")
    third = Offer(service, files.id, len(body))
    assert third.receive_head().startswith(b"HTTP/1.1 409 ")
    assert json.loads(third.receive_rest())["errorType"] == "already_stored"
    assert metrics(service)["decima_debuginfo_upload_bytes_total"] == len(body)


def test_one_of_ten_concurrent_uploads_is_stored(start, build):
    service, files = start(), build()
    responses = []

    def upload():
        responses.append(put(service, files.id, files.debug.read_bytes()))

    threads = [threading.Thread(target=upload) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(status for status, _ in responses) == [201] + 9 * [409]
    assert {a["errorType"] for s, a in responses if s == 409} <= {"already_stored", "in_progress"}
    assert len(stored_files(service)) == 1 and not in_temp(service)


def test_one_of_a_thousand_offers_of_the_same_build_is_accepted(start, build, figure):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2000 and (hard == resource.RLIM_INFINITY or hard >= 2000):
        resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    service, files = start(), build()
    body = files.debug.read_bytes()

    began = time.monotonic()
    offers = [Offer(service, files.id, len(body)) for _ in range(1000)]
    heads = [offer.receive_head() for offer in offers]
    took = time.monotonic() - began

    assert heads.count(GO_ON) == 1
    assert sum(h.startswith(b"HTTP/1.1 409 ") for h in heads) == 999
    assert service.get("/healthy")[0] == 200
    winner = offers[heads.index(GO_ON)]
    winner.send(body)
    assert winner.receive_head().startswith(b"HTTP/1.1 201 ")
    for offer in offers:
        offer.close()
    figure(f"1,000 offers of one build: all responses in {took:.2f} s")
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_file_is_replaced_only_by_one_of_higher_rank(start, build):
    service, files = start(), build()
    uploads = [(files.stripped, 201, "dynsym"), (files.symbols, 200, "symtab"),
               (files.stripped, 409, None), (files.debug, 200, "dwarf"),
               (files.symbols, 409, None), (files.whole, 409, None)]
    generations = [generation(service, files.id)]

    for file, status, rank in uploads:
        got, response = put(service, files.id, file.read_bytes())
        assert got == status, (file, response)
        generations.append(generation(service, files.id))
        if rank:
            assert response["data"]["rank"] == rank
            assert response["data"]["generation"] == generations[-1] > generations[-2]
        else:
            assert response["errorType"] == "already_stored" and generations[-1] == generations[-2]

    assert generations[0] == 0
    assert service.get(f"/buildid/{files.id}/debuginfo")[1] == files.debug.read_bytes()
    assert len(stored_files(service)) == 1


def test_an_offer_with_a_rank_is_rejected_before_its_body(start, build):
    service, files = start(), build()
    put(service, files.id, files.symbols.read_bytes())

    same = Offer(service, files.id, 10_000, "?rank=symtab")
    better = Offer(service, files.id, 10_000, "?rank=dwarf")

    assert same.receive_head().startswith(b"HTTP/1.1 409 ")
    assert better.receive_head() == GO_ON
    assert put(service, files.id, b"", "?rank=great")[0] == 400


def test_a_generation_is_not_reused_after_an_eviction(start, build):
    service, files = start(), build()
    put(service, files.id, files.symbols.read_bytes())
    before = generation(service, files.id)
    for file in stored_files(service):
        (service.store / "files" / file).unlink()

    gone = generation(service, files.id)
    put(service, files.id, files.symbols.read_bytes())

    assert gone == 0 and generation(service, files.id) > before


def test_a_file_that_is_not_a_whole_file_of_the_build_is_rejected(start, build, tmp_path):
    service, files, other = start(), build(), build(1)
    whole = files.debug.read_bytes()
    big_endian = whole[:5] + b"\2" + whole[6:]
    without = tmp_path / "no_id"
    subprocess.run(["objcopy", "-R", ".note.gnu.build-id", files.whole, without], check=True)
    for what, body in {"of another build": other.debug.read_bytes(),
                       "without a build id": without.read_bytes(),
                       "truncated": whole[:-100], "only the ELF header": whole[:64],
                       "no ELF file": b"#!/bin/sh\n" * 100, "empty": b"",
                       "big-endian": big_endian}.items():
        status, response = put(service, files.id, body)
        assert status == 400 and response["errorType"] == "bad_data", what
        assert len(response["error"]) > 10, what
    assert stored_files(service) == [] and in_temp(service) == []


@pytest.mark.parametrize("path", [
    "../../etc/passwd", "..%2f..%2fetc%2fpasswd/debuginfo", "%2e%2e/debuginfo", "./debuginfo",
    "/debuginfo", "zz/debuginfo", "abc/debuginfo", "a" * 130 + "/debuginfo",
    "01234567%00/debuginfo",
    "0123456789abcdef/source/", "0123456789abcdef/section/"])
def test_a_malformed_path_is_an_error_message(start, path):
    service = start()

    link = http.client.HTTPConnection(service.address, timeout=180)
    link.request("GET", f"/buildid/{path}")
    response = link.getresponse()

    assert response.status == 400
    assert json.loads(response.read())["errorType"] == "bad_data"


def test_a_missing_file_is_404_and_another_method_is_405(start):
    service = start()
    link = http.client.HTTPConnection(service.address, timeout=180)
    for kind in ("debuginfo", "executable", "section/.text", "source/etc/passwd", "dwp",
                 "debuginfo/x", ""):
        assert service.get(f"/buildid/0123456789abcdef/{kind}")[0] == 404, kind
    link.request("DELETE", "/buildid/0123456789abcdef/debuginfo")
    assert link.getresponse().status == 405


def test_a_file_that_is_too_long_is_rejected(start, build):
    service, files = start(upload_max_bytes="100KB"), build()
    offer = Offer(service, files.id, 1 << 30)
    assert offer.receive_head().startswith(b"HTTP/1.1 413 ")

    head = b"\x7fELF" + bytes(65532)
    status, _ = put(service, files.id, iter([head] * 3))  # without a length: in chunks
    assert status == 413
    with contextlib.suppress(OSError, http.client.HTTPException):  # closed while it sends
        put(service, files.id, iter([head] * 1000))

    wait_until(lambda: not in_temp(service), what="its temporary file is removed")
    received_bytes = metrics(service)["decima_debuginfo_upload_bytes_total"]
    assert received_bytes <= 2 * (100 << 10)
    assert put(service, files.id, files.debug.read_bytes())[0] == 201


def test_a_stalled_upload_is_aborted_and_the_next_one_accepted(start, build):
    service, files = start(upload_timeout="1s"), build()
    body = files.debug.read_bytes()
    stalled = Offer(service, files.id, len(body))
    assert stalled.receive_head() == GO_ON
    stalled.send(body[:1000])

    assert stalled.receive_head() == b""  # the connection is closed
    wait_until(lambda: not in_temp(service), what="its temporary file is removed")
    assert put(service, files.id, body)[0] == 201
    assert metrics(service)['decima_debuginfo_uploads_total{outcome="aborted"}'] == 1


def test_uploads_above_the_limit_are_rejected_with_retry_after(start, build):
    service = start()
    offers = [Offer(service, f"{n:016x}", 1000, source=f"127.0.0.{10 + n}") for n in range(9)]
    heads = [offer.receive_head() for offer in offers]

    assert heads.count(GO_ON) == 8
    last = next(h for h in heads if h != GO_ON)
    assert last.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: " in last
    for offer in offers:
        offer.close()
    files = build()
    wait_until(lambda: put(service, files.id, files.debug.read_bytes())[0] == 201,
               what="an upload is accepted again")


def test_a_kill_during_an_upload_leaves_no_partial_file(start, build):
    service, files = start(), build()
    body = files.debug.read_bytes()
    put(service, files.id, files.symbols.read_bytes())
    offer = Offer(service, files.id, len(body))
    assert offer.receive_head() == GO_ON
    offer.send(body[:len(body) - 10])
    wait_until(lambda: in_temp(service)[0].stat().st_size > 1000, what="most of the body is stored")

    service.kill()
    again = start(keep=True)

    assert in_temp(again) == []
    assert metrics(again)["decima_debuginfo_leftovers_total"] == 1
    assert again.get(f"/buildid/{files.id}/debuginfo")[1] == files.symbols.read_bytes()
    assert put(again, files.id, body)[0] == 200
    assert again.get(f"/buildid/{files.id}/debuginfo")[1] == body


def test_a_file_that_no_client_asked_for_is_evicted_first(start, build, tmp_path):
    service = start(store_max_bytes="1MB", upload_max_bytes="1MB")
    ballast = tmp_path / "ballast"
    ballast.write_bytes(os.urandom(400_000))
    bodies = [(build(n).id, with_section(build(n).whole, tmp_path, ".ballast", ballast))
              for n in range(3)]

    for build_id, body in bodies[:2]:
        assert put(service, build_id, body)[0] == 201
    assert service.get(f"/buildid/{bodies[0][0]}/debuginfo")[0] == 200
    assert put(service, *bodies[2])[0] == 201

    statuses = [service.get(f"/buildid/{build_id}/debuginfo")[0] for build_id, _ in bodies]
    assert statuses == [200, 404, 200]
    seen = metrics(service)
    assert seen["decima_debuginfo_evicted_files_total"] == 1
    assert seen["decima_debuginfo_store_bytes"] == sum(len(bodies[n][1]) for n in (0, 2))
    assert seen["decima_debuginfo_store_files"] == 2


def test_a_store_that_cannot_be_written_serves_and_is_not_ready(start, build):
    service, files = start(), build()
    put(service, files.id, files.symbols.read_bytes())
    os.rename(service.store / "temp", service.store / "temp.away")

    status, response = put(service, files.id, files.debug.read_bytes())

    assert status == 503 and response["errorType"] == "unavailable"
    wait_until(lambda: service.get("/ready")[0] == 503, what="a store that is not ready")
    assert b"cannot be written" in service.get("/ready")[1]
    assert service.get(f"/buildid/{files.id}/debuginfo")[1] == files.symbols.read_bytes()
    os.rename(service.store / "temp.away", service.store / "temp")
    wait_until(service.ready, what="a store that is ready again")


def test_only_a_client_with_the_token_may_upload_and_force(start, build, tmp_path):
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


def test_a_file_without_a_build_id_is_identified_by_its_hash(start, build, tmp_path):
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
