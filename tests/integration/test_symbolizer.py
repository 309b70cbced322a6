# SPDX-License-Identifier: Apache-2.0
"""The symbolizer with real debuginfod servers: symbolized addresses and reasons for failures."""
import json
import threading

import pytest

from harness import metrics, wait_until
from symbolizer_service import (  # fleet: a fixture that start() uses
    NO_FILE, OUTER, ask, counted, fleet, function, known, pair, post, program, start,
    upload, works)

def test_functions_are_full_and_demangled(pair, program):
    debuginfo, symbolizer = pair
    small = program()
    generation = upload(debuginfo, small.id, small.debug)

    response = ask(symbolizer, small.id, small.outer, 1)

    assert response["generation"] == generation
    assert response["locations"][0]["lines"][-1]["function"] == OUTER
    assert response["locations"][0]["lines"][-1]["system_name"] == "_ZN3app5outerEPKci"
    assert response["locations"][1] == {
        "lines": [], "reason": "the debug info has no symbol for this address"}


def test_inlined_calls_have_lines_of_their_own(known):
    symbolizer, small = known

    places = ask(symbolizer, small.id, *range(small.outer, small.outer + 16))["locations"]

    chains = [[(line["function"], line["line"], line["start_line"]) for line in place["lines"]]
              for place in places]
    assert [("app::twice(int)", 6, 4), (OUTER, 10, 8)] in chains
    assert [("app::(anonymous namespace)::hidden", 3, 3), (OUTER, 10, 8)] in chains
    assert "hidden" in {line["system_name"] for place in places for line in place["lines"]}
    assert {line["file"] for place in places for line in place["lines"]} == {str(small.source)}


def test_replicas_share_a_directory_and_a_later_replica_reuses_its_part(pair, start, program):
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


def test_a_late_debug_file_is_used_within_ten_seconds(pair, program):
    debuginfo, symbolizer = pair
    small = program()
    assert function(symbolizer, small.id, small.outer) == NO_FILE

    upload(debuginfo, small.id, small.symbols, "?rank=symtab")
    wait_until(lambda: function(symbolizer, small.id, small.outer) == OUTER, what="late symbols")
    better = upload(debuginfo, small.id, small.debug)

    wait_until(lambda: ask(symbolizer, small.id, 1)["generation"] == better, what="a better file")
    assert works(symbolizer) == {"absent": 1, "built": 2}


@pytest.mark.parametrize("build_id", ["../../etc/passwd", "", "c0ffee", "XYZ", "a" * 1000,
                                      "htlhash:../../x", "é"])
def test_an_invalid_build_id_is_rejected_with_a_reason(pair, build_id):
    response = ask(pair[1], build_id, 1)

    assert response["reason"] == "not a valid build id"
    assert works(pair[1]) == {}


# requests


def test_protobuf_and_json_have_the_same_result(known, protos):
    symbolizer, small = known
    request = protos.symbolize.SymbolizeRequest()
    request.requests.add(build_id=small.id.encode(), addresses=[small.outer, 1])
    request.requests.add(build_id=b"../x", addresses=[7])
    request.requests.add(build_id=small.id.encode())
    plain = ask(symbolizer, small.id, small.outer, 1)

    status, body = post(symbolizer, request.SerializeToString(), "application/x-protobuf")

    response = protos.symbolize.SymbolizeResponse.FromString(body)
    assert status == 200 and response.strings[0] == b""
    first = response.responses[0]
    assert first.generation == plain["generation"] == response.responses[2].generation
    assert [[{"function": response.strings[line.function].decode(),
              "system_name": response.strings[line.system_name].decode(),
              "file": response.strings[line.file].decode(), "line": line.line,
              "start_line": line.start_line} for line in place.lines]
            for place in first.locations] == [place["lines"] for place in plain["locations"]]
    assert [place.reason for place in first.locations] == [0, 2]
    assert [place.reason for place in response.responses[1].locations] == [7]
    assert len(response.responses[2].locations) == 0


@pytest.mark.parametrize("content_type, body, status, sentence", [
    ("text/plain", b"x", 415, "Content-Type is application/x-protobuf or application/json"),
    ("application/json", b"{", 400, "not JSON"),
    ("application/json", b"{}", 400, 'an object with a list "requests" is needed'),
    ("application/x-protobuf", b"\x0a\x05", 400, "not a request for names"),
])
def test_a_bad_request_is_rejected_with_a_sentence(start, content_type, body, status, sentence):
    symbolizer = start("symbolizer")

    got, response = post(symbolizer, body, content_type)

    assert got == status
    assert sentence in json.loads(response)["error"]


def test_a_million_addresses_are_rejected_with_the_limit(start, protos):
    symbolizer = start("symbolizer")
    many = list(range(2_000_000, 3_000_000))
    request = protos.symbolize.SymbolizeRequest()
    request.requests.add(build_id=b"c0ffee00", addresses=many)

    packed = post(symbolizer, request.SerializeToString(), "application/x-protobuf")
    text = post(symbolizer, json.dumps(
        {"requests": [{"build_id": "c0ffee00", "addresses": many}]}).encode())

    assert packed[0] == text[0] == 422
    assert json.loads(packed[1])["error"] == "more than 100000 addresses in one request"
    assert "in protobuf there may be 100000 addresses" in json.loads(text[1])["error"]


# concurrent requests


def test_fifty_concurrent_requests_are_one_download_and_one_table(known):
    symbolizer, small = known
    results = []
    clients = [threading.Thread(
        target=lambda: results.append(function(symbolizer, small.id, small.outer)))
        for _ in range(50)]

    for client in clients:
        client.start()
    for client in clients:
        client.join()

    assert results == [OUTER] * 50
    assert works(symbolizer) == {"built": 1}
    assert counted(symbolizer, "fetched_files_total") == 1


# stored tables


@pytest.mark.parametrize("place", [8, None], ids=["of another version", "corrupt"])
def test_an_unusable_table_is_built_again(known, place):
    symbolizer, small = known
    before = ask(symbolizer, small.id, small.outer)
    symbolizer.stop()
    table, = (symbolizer.directory / "tables").iterdir()
    image = bytearray(table.read_bytes())
    image[place or len(image) // 2] ^= 0x55
    table.write_bytes(image)

    symbolizer.launch()
    symbolizer.wait_ready(symbolizer.ready)

    assert ask(symbolizer, small.id, small.outer) == before
    assert works(symbolizer) == {"built": 1}
    assert metrics(symbolizer)['decima_symbolizer_tables_dropped_total{reason="corrupt"}'] == 1


def test_a_table_outlives_its_process_and_needs_no_server(known, pair):
    symbolizer, small = known
    before = ask(symbolizer, small.id, small.outer)
    symbolizer.kill()
    pair[0].kill()

    symbolizer.launch()
    symbolizer.wait_ready(symbolizer.ready)

    assert ask(symbolizer, small.id, small.outer) == before
    assert works(symbolizer) == {}


def test_tables_stay_within_their_limit(start, program):
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
    assert seen['decima_symbolizer_tables_dropped_total{reason="evicted"}'] > 10
