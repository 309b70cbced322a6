# SPDX-License-Identifier: Apache-2.0
"""Clients that upload what no client needs: the store keeps what is needed and serves others."""
import contextlib
import os
import struct
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from debuginfo_store import (  # fleet: start() depends on it
    GO_ON, Offer, ask, build, fleet, put, start, with_section)
from harness import metrics, wait_until
from local.services import Service


def outcome(service, name):
    return metrics(service)[f'decima_debuginfo_uploads_total{{outcome="{name}"}}']


@pytest.fixture
def garbage(build, tmp_path):
    """garbage(n): a valid ELF file of 400 KB with a build id of its own, mostly of garbage."""
    def make(number):
        ballast = tmp_path / "ballast"
        ballast.write_bytes(os.urandom(400_000))
        files = build(number)
        body = with_section(files.whole, tmp_path, ".debug_garbage", ballast)
        return files.id, body
    return make


def deflated_zeros(megabytes):
    """A zlib stream: the piece of a megabyte repeats."""
    packer = zlib.compressobj(9)
    first, next_ = [packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
                    for _ in range(2)]
    return first + next_ * (megabytes - 1)


def bomb(build_id, megabytes):
    """An ELF file whose nine sections of DWARF unpack to that much each."""
    packed = struct.pack("<IIQQ", 1, 0, megabytes << 20, 1) + deflated_zeros(megabytes)
    note = struct.pack("<III4s", 4, len(build_id), 3, b"GNU\0") + build_id
    sections = [(b".note.gnu.build-id", 7, 2, note)]
    for name in (b"info", b"abbrev", b"line", b"str", b"line_str", b"str_offsets", b"addr",
                 b"ranges", b"rnglists"):
        sections.append((b".debug_" + name, 1, 0x800, packed))
    names = b"\0" + b"\0".join(section[0] for section in sections) + b"\0.shstrtab\0"
    sections.append((b".shstrtab", 3, 0, names))
    body, table = b"", bytes(64)
    for name, kind, flags, contents in sections:
        table += struct.pack("<IIQQQQIIQQ", names.index(name + b"\0"), kind, flags, 0,
                             64 + len(body), len(contents), 0, 0, 4, 0)
        body += contents
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 0,
                       64 + len(body), 0, 64, 56, 0, 64, len(sections) + 1, len(sections))
    return head + body + table


def test_a_small_file_that_unpacks_to_gigabytes_is_rejected(start, figure):
    service = start()
    build_id = bytes(range(20))
    body = bomb(build_id, 500)

    status, response = put(service, build_id.hex(), body)
    figure(f"a file of {len(body) / 1e6:.1f} MB that unpacks to 4.5 GB: {response}")

    assert status == 400 and response["errorType"] == "bad_data"
    assert "unpack to 4718592000 bytes" in response["error"]
    assert outcome(service, "beyond_limits") == 1
    assert put(service, build_id.hex(), bomb(build_id, 5))[0] == 201


def test_garbage_does_not_evict_what_is_asked_for(start, build, garbage, figure):
    service, needed = start(store_max_bytes="1MB", upload_max_bytes="1MB"), build()
    put(service, needed.id, needed.debug.read_bytes())
    assert ask(service, needed.id)

    pieces = [garbage(n) for n in range(1, 4)]
    for round_ in range(12):
        build_id, body = pieces[round_ % 3]
        assert put(service, build_id, body)[0] in (201, 409)
        # Its own requests do not protect it, and an offer of what is stored looks into its file;
        # that is not to ask for it.
        ask(service, build_id, source="127.0.0.1")
        assert Offer(service, build_id, 1000).receive_head().startswith(b"HTTP/1.1 409 ")

    evicted = metrics(service)["decima_debuginfo_evicted_files_total"]
    figure(f"12 uploads of 400 KB to a store of 1 MB: {evicted:.0f} files evicted")
    assert evicted >= 9
    assert service.get(f"/buildid/{needed.id}/debuginfo") == (200, needed.debug.read_bytes())


def test_a_store_of_needed_files_refuses_garbage_before_its_body(start, build, garbage):
    service = start(store_max_bytes="1MB", upload_max_bytes="1MB")
    needed, extra = [garbage(n) for n in (1, 2)], garbage(3)
    for build_id, body in needed:
        assert put(service, build_id, body)[0] == 201
        assert ask(service, build_id)

    status, response = put(service, *extra)
    head = Offer(service, extra[0], len(extra[1])).receive_head()

    assert status == 507 and response["errorType"] == "unavailable"
    assert head.startswith(b"HTTP/1.1 507 ") and b"\r\nRetry-After: " in head
    assert outcome(service, "full") == 2
    seen = metrics(service)
    assert seen["decima_debuginfo_evicted_files_total"] == 0
    assert seen["decima_debuginfo_store_asked_bytes"] == sum(len(body) for _, body in needed)
    for build_id, body in needed:
        assert service.get(f"/buildid/{build_id}/debuginfo")[1] == body


def test_uploads_at_the_same_time_do_not_overfill_the_store(start, garbage, figure):
    service = start(store_max_bytes="2MB", upload_max_bytes="1MB")
    pieces = [garbage(n) for n in range(1, 9)]
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda each: put(service, *each[1], source=f"127.0.0.{each[0]}"),
                                 enumerate(pieces, 2)))
    stored = sum(path.stat().st_size for path in service.store.rglob("debuginfo-*"))

    figure(f"8 uploads of 400 KB at the same time: {stored / 1e6:.1f} MB of 2 MB stored")
    assert {status for status, _ in statuses} <= {201, 507}
    assert 0 < stored <= 2 << 20


def test_a_quota_below_the_largest_upload_is_refused(fleet):
    service = Service(fleet, "debuginfo", "quota", {
        "upload-max-bytes": "2MB", "upload-daily-max-bytes": "1MB"})
    service.launch()
    wait_until(lambda: not service.alive(), what="it ended")
    assert "--upload-max-bytes is more than --upload-daily-max-bytes" in service.last_words()


def test_slow_uploads_of_one_client_leave_room_for_others(start, build, figure):
    service, files = start(), build()
    offers = [Offer(service, f"{n:016x}", 1_000_000, source="127.0.0.2") for n in range(8)]
    heads = [offer.receive_head() for offer in offers]
    began = time.monotonic()

    assert heads.count(GO_ON) == 2
    for head in heads:
        assert head == GO_ON or head.startswith(b"HTTP/1.1 429 ") and b"\r\nRetry-After: " in head
    assert outcome(service, "client_busy") == 6
    assert put(service, files.id, files.debug.read_bytes())[0] == 201

    slow = [offer for offer, head in zip(offers, heads) if head == GO_ON]
    for offer in slow:
        offer.send(b"\x7fELF")

    def all_ended():
        for offer in slow:
            with contextlib.suppress(OSError):
                offer.send(b".")
        return outcome(service, "aborted") == 2
    wait_until(all_ended, what="the slow uploads are aborted")
    figure(f"8 slow uploads of one address: 2 accepted, aborted after "
           f"{time.monotonic() - began:.0f} s")
    assert metrics(service)["decima_debuginfo_uploads_running"] == 0


def test_a_client_has_a_quota_of_bytes(start, garbage):
    service = start(upload_daily_max_bytes="1MB", upload_max_bytes="1MB")
    first, second, third = [garbage(n) for n in (1, 2, 3)]
    for build_id, body in (first, second):
        assert put(service, build_id, body)[0] == 201

    head = Offer(service, third[0], len(third[1])).receive_head()
    status, response = put(service, third[0], iter([third[1]]))  # without a length: in chunks

    assert head.startswith(b"HTTP/1.1 429 ") and b"\r\nRetry-After: " in head
    assert status == 429 and "--upload-daily-max-bytes" in response["error"]
    assert outcome(service, "over_quota") == 2
    assert put(service, *third, source="127.0.0.2")[0] == 201
