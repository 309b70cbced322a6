# SPDX-License-Identifier: Apache-2.0
"""The querier and the functions it gets from a symbolizer, which works or fails."""
import concurrent.futures
import gzip
import json
import os
import shutil
import subprocess
import time
import urllib.parse
import urllib.request

import pytest

from harness import SLOW, metrics, send, wait_until
from named_querier import (  # filled: a fixture that named() uses
    ALPHA, BETA, LEAF, MAIN, OF_ALPHA, OF_BETA, PLAIN, STEP, WORK, Named, filled)
from otlp_messages import PERIOD

GO = shutil.which("go") or "/usr/local/go/bin/go"
NO_SYMBOL = "the debug info has no symbol for this address"
NO_DEBUG_INFO = "no debug info or executable with this build id is known"

BAD = ["hangs", "garbage", "fewer", "fewer_binaries", "error", "slow_bytes", "nothing"]


@pytest.fixture
def named(filled, protos, request):
    """A new querier for each test; the parameter is its flags."""
    with Named(filled, protos, f"named-{abs(hash(request.node.name))}",
               **getattr(request, "param", {})) as made:
        yield made


# symbolized results

def test_collapsed_has_functions_and_inlined_functions_and_other_addresses(named):
    assert named.stacks() == OF_ALPHA | OF_BETA
    assert named.stacks('{comm="alpha"}', group_by="comm") == {
        f"comm=alpha;{stack}": n for stack, n in OF_ALPHA.items()}


def test_symbolized_values_equal_the_values_by_address(named):
    """A querier without a symbolizer returns addresses only."""
    plain = named.cell.collapsed("{}")

    assert {";".join(stack): n // PERIOD for stack, n in plain.items()} == PLAIN | OF_BETA
    assert sum(named.stacks().values()) * PERIOD == sum(plain.values())


def test_what_has_no_names_is_listed_with_its_reason_and_a_remedy(named):
    """alpha has 1 tick without a symbol, beta has no debug info: 6 ticks."""
    with urllib.request.urlopen(f"{named.querier.url}/api/v1/unnamed?query=%7B%7D",
                                timeout=60) as response:
        data = json.load(response)["data"]

    rows = [(row["binary"], row["reason_code"], row["self"] // PERIOD) for row in data["rows"]]
    assert rows == [("beta", "no_debug_info", 6), ("alpha", "no_symbol", 1)]
    assert (data["total"], data["unnamed"]) == (12 * PERIOD, 7 * PERIOD)
    assert data["unit"] == "nanoseconds" and data["rows"][0]["reason"] == NO_DEBUG_INFO
    assert "--debuginfod-upstream-servers" in data["rows"][0]["remedy"]


def test_without_a_symbolizer_nothing_has_a_name(filled):
    data = filled.data("unnamed", query='{comm="alpha"}')

    assert [(row["binary"], row["reason_code"]) for row in data["rows"]] == [
        ("alpha", "not_symbolized")]
    assert data["unnamed"] == data["total"] == 6 * PERIOD
    assert filled.api("unnamed")[0] == 400  # the query is missing


def test_a_flame_graph_has_functions_or_the_reason_for_an_address(named):
    data = named.json("flamegraph")["data"]
    names, nodes = data["names"], data["nodes"]
    rows = {}
    for i, name in enumerate(nodes["name"]):
        above = nodes["parent"][i]
        rows[names[name], names[nodes["name"][above]] if above >= 0 else ""] = {
            column: names[nodes[column][i]]
            for column in ("binary", "file", "build_id", "address", "reason", "reason_code")
        } | {"total": nodes["total"][i] // PERIOD}

    assert rows["main", ""] == {"binary": "alpha", "file": "/src/m.c", "build_id": "",
                                "address": "", "reason": "", "reason_code": "", "total": 6}
    assert rows["leaf", "step"]["total"] == 3 and rows["work(int)", "main"]["total"] == 5
    assert rows["alpha+0x2000", "main"] == {
        "binary": "alpha", "file": "", "build_id": ALPHA, "address": "0x2000",
        "reason": NO_SYMBOL, "reason_code": "no_symbol", "total": 1}
    assert rows["beta+0x10", ""]["reason"] == NO_DEBUG_INFO
    assert rows["beta+0x10", ""]["reason_code"] == "no_debug_info"


def test_a_table_has_a_row_for_each_function(named):
    response = named.json("table", query='{comm="alpha"}')
    rows = {row["function"]: row for row in response["data"]["rows"]}

    assert rows["work(int)"] == {"function": "work(int)", "binary": "alpha",
                                 "file": "/src/w.c", "self": 2 * PERIOD, "total": 5 * PERIOD}
    assert rows["alpha+0x2000"]["reason"] == NO_SYMBOL
    assert rows["alpha+0x2000"]["reason_code"] == "no_symbol"
    assert rows["alpha+0x2000"]["build_id"] == ALPHA


def test_pprof_has_lines_innermost_first_in_one_location(named):

    profile = named.protos.pprof.Profile.FromString(gzip.decompress(named.ask(report="pprof")[0]))
    texts = [text.decode() for text in profile.string_table]
    functions = {f.id: f for f in profile.function}
    at = {(texts[profile.mapping[loc.mapping_id - 1].filename], loc.address): loc
          for loc in profile.location}
    lines = [(texts[functions[line.function_id].name], texts[functions[line.function_id].filename],
              line.line) for line in at["/nowhere/alpha", 0x1000].line]

    assert lines == [LEAF, STEP, WORK]
    assert texts[functions[at["/nowhere/alpha", 0x10].line[0].function_id].system_name] == "_main"
    assert not at["/nowhere/beta", 0x10].line and not at["/nowhere/alpha", 0x2000].line
    assert not any(mapping.has_functions for mapping in profile.mapping)
    assert sum(sample.value[0] for sample in profile.sample) == 12 * PERIOD


@pytest.mark.skipif(not os.path.exists(GO), reason="no Go here to read it with")
def test_go_tool_pprof_shows_function_names(named, tmp_path):
    url = f"{named.querier.url}/api/v1/query?" + urllib.parse.urlencode(
        {"query": '{comm="alpha"}', "report": "pprof"})

    done = subprocess.run([GO, "tool", "pprof", "-top", url], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=150, check=False,
                          env=os.environ | {"PPROF_TMPDIR": str(tmp_path)})

    assert done.returncode == 0, done.stdout
    assert "leaf (inline)" in done.stdout and "work" in done.stdout, done.stdout


# the cache

def test_an_address_is_requested_from_the_symbolizer_once(named):
    first, second = named.stats(), named.stats()

    assert (first["requested"], first["cached"], first["symbolized"]) == (10, 0, 4)
    assert first["unsymbolized"] == {"no_symbol": 1, "no_debug_info": 5}
    assert (second["requested"], second["cached"], second["requests"]) == (0, 10, 0)
    values = metrics(named.querier)
    assert values['decima_querier_symbolize_addresses_total{from="symbolizer"}'] == 10
    assert values['decima_querier_symbolize_addresses_total{from="cache"}'] == 10
    assert values['decima_querier_symbolized_addresses_total{outcome="no_debug_info"}'] == 10
    assert values['decima_querier_symbolized_addresses_total{outcome="known"}'] == 8
    assert values['decima_querier_symbolize_requests_total{result="answered"}'] == 1
    assert values["decima_querier_symbol_cache_bytes"] > 0


def test_late_debug_info_symbolizes_addresses_that_were_requested_before(named):
    assert named.stacks('{comm="beta"}') == OF_BETA
    uploaded = time.monotonic()
    for address in (0x10, 0x20):
        named.fake.name(BETA, address, MAIN)

    wait_until(lambda: "main;beta+0x1000" in named.stacks('{comm="beta"}'),
               what="functions of beta")
    assert time.monotonic() - uploaded < SLOW * 10


def test_a_better_debug_file_replaces_functions_in_a_warm_cache(named):
    assert named.is_named()
    for address in (0x10, 0x20, 0x1000, 0x1004, 0x2000):
        named.fake.name(ALPHA, address, (f"better_{address:x}", "", 0), generation=2)

    wait_until(lambda: named.stacks('{comm="alpha"}') == {
        "better_10;better_1000": 3, "better_10;better_1004": 2, "better_20;better_2000": 1},
        what="the better functions")


def test_many_concurrent_queries_are_all_symbolized(named):
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        results = list(pool.map(lambda _: named.stacks(), range(40)))
    assert all(result == OF_ALPHA | OF_BETA for result in results)


# a symbolizer that fails

def warnings_of(named):
    """The warning of a response that has all values, by address; its header has one warning too."""
    body = named.json("table")
    text, headers = named.ask()
    for report in ("flamegraph", "pprof"):
        named.ask(report=report)
    assert sum(int(line.rpartition(b" ")[2]) for line in text.splitlines()) == 12 * PERIOD
    assert b"+0x10;" in text and b"main" not in text
    assert len(body["warnings"]) == 1 and len(json.loads(headers["Decima-Warnings"])) == 1
    return body["warnings"][0]


@pytest.mark.parametrize("named", [{"symbolizer-timeout": "1s"}], indirect=True)
@pytest.mark.parametrize("mood", BAD)
def test_if_the_symbolizer_fails_results_have_addresses_and_a_warning(named, mood):
    named.fake.mood = mood
    warning = warnings_of(named)
    assert "the symbolizer cannot be queried" in warning and "10 of 10 addresses" in warning
    rows = named.json("table")["data"]["rows"]
    assert {row["reason"] for row in rows} == {"the symbolizer did not respond"}
    values = metrics(named.querier)
    assert values['decima_querier_symbolize_requests_total{result="failed"}'] >= 1
    assert values['decima_querier_errors_total{type="timeout"}'] == 0

    named.fake.mood = "well"
    wait_until(named.is_named, what="a retried request")
    assert "warnings" not in named.json("table")


@pytest.mark.parametrize("named", [{"symbolizer-url": "http://127.0.0.1:1"}], indirect=True)
def test_if_no_symbolizer_listens_results_have_addresses_and_a_warning(named):
    assert "10 of 10 addresses" in warnings_of(named)


@pytest.mark.parametrize("named", [{"symbolizer-timeout": "1s"}], indirect=True)
def test_requests_to_a_hanging_symbolizer_are_skipped_for_a_moment(named):
    named.fake.mood = "hangs"
    named.ask()
    for _ in range(5):
        named.ask()

    values = metrics(named.querier)
    assert values['decima_querier_symbolize_requests_total{result="skipped"}'] >= 1
    assert len(named.fake.questions) < 6


def test_cached_functions_stay_while_the_symbolizer_fails(named):
    assert named.is_named()
    named.fake.mood = "error"
    assert named.stacks() == OF_ALPHA | OF_BETA
    wait_until(lambda: named.json("table").get("warnings"), what="a warning of the failure")
    assert named.stacks('{comm="alpha"}') == OF_ALPHA


@pytest.mark.parametrize("named", [{"symbolizer-timeout": "5m"}], indirect=True)
def test_a_query_with_a_short_timeout_responds_with_addresses_in_time(named):
    named.fake.mood = "hangs"
    response = named.json("table", timeout="4s")
    assert response["warnings"] and response["status"] == "success"
    values = metrics(named.querier)
    assert values['decima_querier_symbolize_requests_total{result="failed"}'] == 0


@pytest.mark.parametrize("named", [{"symbolizer-timeout": "5m", "query-timeout": "10m"}],
                         indirect=True)
def test_if_a_client_disconnects_its_symbolize_request_is_cancelled(named):
    named.fake.mood = "hangs"
    client = send(named.querier, "/api/v1/query?query=%7B%7D&report=collapsed")
    wait_until(lambda: named.fake.waiting == 1, what="a symbolize request")
    client.close()

    wait_until(lambda: metrics(named.querier)['decima_querier_errors_total{type="canceled"}'] == 1,
               what="a cancelled query")
    named.fake.mood = "well"
    assert named.is_named()


def test_a_response_reports_the_time_of_symbolization(named):
    stats = named.json("flamegraph")["stats"]
    assert stats["seconds"]["symbolize"] > 0
    assert set(stats["symbols"]) == {"addresses", "cached", "requested", "requests", "symbolized",
                                    "unsymbolized"}
