# SPDX-License-Identifier: Apache-2.0
"""The endpoints of the querier: parameters, results and error responses."""
import concurrent.futures
import datetime
import json
import os
import re
import shutil
import subprocess
import time
import urllib.parse
import urllib.request

import pytest

from harness import metrics, wait_until
from otlp_messages import PERIOD, cpu_message, heap_message

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
HEAP = "memory:inuse_space:bytes:space:bytes"
GO = shutil.which("go") or "/usr/local/go/bin/go"

ALPHA = {(0x1000, 0x2000): 3, (0x1000, 0x3000): 1}
BETA = {(0x10,): 2}


@pytest.fixture(scope="module")
def filled(cell, protos):
    """The cell with alpha (n1, pid 1), beta (n2, pid 2) and a heap profile of alpha in it."""
    cell.at_ms = int(time.time() * 1000)
    for message in (
            cpu_message(protos, "alpha", ALPHA, node="n1", path="/bin/alpha", pid=1,
                        build_id="aa" * 20, at_ms=cell.at_ms),
            cpu_message(protos, "beta", BETA, node="n2", path="/opt/be;ta", pid=2,
                        build_id="bb" * 20, at_ms=cell.at_ms),
            heap_message(protos, "alpha", cell.at_ms)):
        cell.produce(message)
    wait_until(lambda: cell.total("{}") == 6 * PERIOD and cell.total(HEAP + "{}") == 5000,
               what="6 ticks and a heap")
    return cell


def error_of(cell, path, **params):
    """(status, error type, sentence) of a request that must be rejected."""
    status, body = cell.api(path, **params)
    response = json.loads(body)
    assert response["status"] == "error" and response["error"], response
    return status, response["errorType"], response["error"]


# labels and types

def test_label_names_are_of_series_and_of_samples(filled):
    names = filled.data("labels")

    assert {"comm", "exe", "node", "pid", "service_name"} <= set(names)
    assert names == sorted(names)


@pytest.mark.parametrize("name, values", [
    ("comm", ["alpha", "beta"]), ("node", ["n1", "n2"]), ("pid", ["1", "2"]), ("nobody", [])])
def test_values_of_a_label_are_sorted_and_distinct(filled, name, values):
    assert filled.data(f"label/{name}/values") == values


def test_match_filters_labels_and_several_matches_are_alternatives(filled):
    of_alpha, of_beta = '{comm="alpha"}', '{comm="beta"}'

    assert filled.data("label/node/values", **{"match[]": of_alpha}) == ["n1"]
    assert filled.data("label/pid/values", **{"match[]": of_beta}) == ["2"]
    assert filled.data("label/node/values", **{"match[]": [of_alpha, of_beta]}) == ["n1", "n2"]
    assert filled.data("label/comm/values", **{"match[]": HEAP}) == ["alpha"]
    assert filled.data("labels", **{"match[]": '{comm="nobody"}'}) == []


def test_profile_types_are_the_types_that_were_sent(filled):
    assert filled.data("profile_types") == sorted([CPU, HEAP])


def test_labels_are_limited_to_the_window(filled):
    assert filled.data("label/comm/values", start=1000000000, end=1000003600) == []
    assert filled.data("profile_types", start=1000000000, end=1000003600) == []


# collapsed

def test_collapsed_has_every_stack_with_its_sum(filled):
    assert filled.collapsed("{}") == {
        ("alpha+0x1000", "alpha+0x2000"): 3 * PERIOD,
        ("alpha+0x1000", "alpha+0x3000"): PERIOD,
        ("be:ta+0x10",): 2 * PERIOD,
    }


def test_collapsed_is_sorted_and_the_same_each_time(filled):
    first, second = (filled.api("query", query="{}", report="collapsed")[1] for _ in range(2))

    assert first == second
    assert first.splitlines() == sorted(first.splitlines())


@pytest.mark.parametrize("query, total", [
    ("{}", 6), (CPU, 6), (CPU + "{}", 6), (f'{{__name__="{CPU}"}}', 6),
    ('{comm="alpha"}', 4), ('{comm!="alpha"}', 2), ('{comm=~"al.*"}', 4), ('{comm!~"al.*|x"}', 2),
    ('{comm=~"lph"}', 0), ("{comm='alpha',}", 4), ("{comm=`beta`}", 2),
    ('{pid="2"}', 2), ('{pid!="2"}', 4), ('{pid=~"[12]"}', 6), ('{pid!~"1"}', 2),
    ('{comm="alpha",pid="2"}', 0), ('{comm="alpha",node="n1",pid="1"}', 4),
    ('{nobody=""}', 6), ('{nobody!=""}', 0), ('{nobody=~".*"}', 6), ('{nobody=~".+"}', 0),
    ('{comm=""}', 0), ('{comm=~"alpha|beta"}', 6)])
def test_a_selector_selects_the_matching_samples(filled, query, total):
    assert filled.total(query) == total * PERIOD


def test_another_type_is_selected_by_its_id(filled):
    assert filled.collapsed(HEAP + "{}") == {("test+0x77",): 5000}
    assert filled.collapsed(HEAP + '{comm="beta"}') == {}


def test_if_nothing_matches_the_response_is_empty(filled, protos):
    for query in ('{comm="nobody"}', "never:seen:count:by:anybody"):
        assert filled.api("query", query=query, report="collapsed") == (200, b"")
        assert len(filled.pprof(protos, query).sample) == 0


def test_group_labels_are_the_first_frames_of_the_stack(filled):
    assert filled.collapsed("{}", group_by="comm,pid") == {
        ("comm=alpha", "pid=1", "alpha+0x1000", "alpha+0x2000"): 3 * PERIOD,
        ("comm=alpha", "pid=1", "alpha+0x1000", "alpha+0x3000"): PERIOD,
        ("comm=beta", "pid=2", "be:ta+0x10"): 2 * PERIOD,
    }
    assert sum(filled.collapsed("{}", group_by="nobody").values()) == 6 * PERIOD


# flamegraph and table

def test_a_flame_graph_has_every_stack_as_a_path_of_its_tree(filled):
    assert filled.flamegraph("{}") == {
        ("alpha+0x1000", "alpha+0x2000"): 3 * PERIOD,
        ("alpha+0x1000", "alpha+0x3000"): PERIOD,
        ("be;ta+0x10",): 2 * PERIOD,
    }
    assert filled.flamegraph('{comm="beta"}', group_by="comm,pid") == {
        ("comm=beta", "pid=2", "be;ta+0x10"): 2 * PERIOD}


def test_a_flame_graph_is_in_preorder_with_columns_beside_the_names(filled):
    data = filled.data("query", query='{comm="alpha"}', report="flamegraph")
    names, nodes = data["names"], data["nodes"]

    def column(name):
        return [names[number] for number in nodes[name]]

    assert (data["unit"], data["total"]) == ("nanoseconds", 4 * PERIOD)
    assert nodes["parent"] == [-1, 0, 0]
    assert nodes["self"] == [0, 3 * PERIOD, PERIOD]
    assert nodes["total"] == [4 * PERIOD, 3 * PERIOD, PERIOD]
    assert column("name") == ["alpha+0x1000", "alpha+0x2000", "alpha+0x3000"]
    assert column("binary") == ["alpha"] * 3
    assert column("build_id") == ["aa" * 20] * 3
    assert column("address") == ["0x1000", "0x2000", "0x3000"]
    assert column("file") == [""] * 3


def test_a_table_has_self_and_total_of_each_function(filled):
    def row(function, own, total, **more):
        return {"function": function, "binary": "alpha", "file": "", "build_id": "aa" * 20,
                "address": "0x" + function.rpartition("0x")[2],
                "self": own * PERIOD, "total": total * PERIOD} | more

    of_beta = {"binary": "be;ta", "build_id": "bb" * 20}
    data = filled.data("query", query="{}", report="table")
    assert (data["unit"], data["total"]) == ("nanoseconds", 6 * PERIOD)
    assert data["rows"] == [
        row("alpha+0x2000", 3, 3), row("be;ta+0x10", 2, 2, **of_beta),
        row("alpha+0x3000", 1, 1), row("alpha+0x1000", 0, 4)]

    of_beta |= {"labels": {"comm": "beta"}}
    rows = filled.data("query", query="{}", report="table", group_by="comm")["rows"]
    assert [r["labels"]["comm"] for r in rows] == ["alpha", "beta", "alpha", "alpha"]
    assert rows[1] == row("be;ta+0x10", 2, 2, **of_beta)


def test_a_function_that_calls_itself_counts_once_per_stack(filled, protos):
    filled.produce(cpu_message(protos, "loop", {(0x1, 0x2, 0x1, 0x1): 5, (0x1, 0x2): 2},
                              at_ms=filled.at_ms - 5 * 3600_000))
    then = {"start": filled.at_ms // 1000 - 6 * 3600, "end": filled.at_ms // 1000 - 4 * 3600}
    wait_until(lambda: filled.total("{}", **then) == 7 * PERIOD, what="loop")

    rows = filled.data("query", query="{}", report="table", **then)["rows"]
    assert [(r["function"], r["self"], r["total"]) for r in rows] == [
        ("test+0x1", 5 * PERIOD, 7 * PERIOD), ("test+0x2", 2 * PERIOD, 7 * PERIOD)]


@pytest.mark.parametrize("report, key", [("flamegraph", "nodes"), ("table", "rows")])
def test_if_nothing_matches_the_flame_graph_and_the_table_are_empty(filled, report, key):
    data = filled.data("query", query='{comm="nobody"}', report=report)

    assert data["total"] == 0
    empty = {name: [] for name in data["nodes"]} if key == "nodes" else []
    assert data[key] == empty


# series

def labels_of(series):
    return [(s["comm"], s["node"], s["__name__"]) for s in series]


def test_a_series_is_its_type_and_labels(filled):
    alpha, = filled.data("series", **{"match[]": '{comm="alpha"}'})

    assert alpha["__name__"] == CPU
    assert alpha["exe"] == "/bin/alpha"
    assert "pid" not in alpha  # a label of samples
    assert labels_of(filled.data("series", **{"match[]": [HEAP, '{comm=~"al.*|beta"}']})) == [
        ("alpha", "n1", HEAP), ("alpha", "n1", CPU), ("beta", "n2", CPU)]
    assert labels_of(filled.data("series")) == [
        ("alpha", "n1", HEAP), ("alpha", "n1", CPU), ("beta", "n2", CPU)]


def test_series_have_a_matching_sample_in_the_window(filled):
    def found(match="{}", **window):
        return labels_of(filled.data("series", **{"match[]": match}, **window))

    at, beta = filled.at_ms / 1000, [("beta", "n2", CPU)]
    assert found('{pid="2"}') == found('{pid!="1"}') == beta
    assert found('{pid="3"}') == []
    # Both alpha and beta have a sample at at_ms, and no sample from the next millisecond on.
    assert len(found(start=f"{at:.3f}", end=f"{at + 0.001:.3f}")) == 2
    assert found(start=f"{at + 0.001:.3f}", end=f"{at + 60:.3f}") == []
    assert found(start=f"{at - 60:.3f}", end=f"{at - 0.002:.3f}") == []


# sums over time

def matrix(cell, query="{}", **params):
    """{(sorted labels): {milliseconds: value}} of query_range."""
    data = cell.data("query_range", query=query, **params)
    assert data["resultType"] == "matrix"
    found = {}
    for line in data["result"]:
        times = [at for at, _ in line["values"]]
        assert times == sorted(set(times)) and times
        assert all(isinstance(value, str) for _, value in line["values"])
        found[tuple(sorted(line["metric"].items()))] = {
            round(at * 1000): int(value) for at, value in line["values"]}
    assert len(found) == len(data["result"])
    return found


def test_sums_over_time_are_split_into_steps_from_the_start(filled):
    start = filled.at_ms - 4999  # not at a whole step of any clock
    window = {"start": f"{start / 1000:.3f}", "end": f"{(filled.at_ms + 1) / 1000:.3f}"}

    assert matrix(filled, sum_by="", step="0.499", **window) == {
        (): {start + 10 * 499: 6 * PERIOD}}
    # the ticks before the last tick are in the previous step
    assert matrix(filled, sum_by="comm", step="4.999", **window) == {
        (("comm", "alpha"),): {start: 2 * PERIOD, start + 4999: 2 * PERIOD},
        (("comm", "beta"),): {start: PERIOD, start + 4999: PERIOD}}


def test_without_sum_by_each_series_is_its_own_line(filled):
    found = matrix(filled, step="1h")
    assert [dict(key)["comm"] for key in found] == ["alpha", "beta"]
    assert {dict(key)["__name__"] for key in found} == {CPU}
    assert [sum(line.values()) for line in found.values()] == [4 * PERIOD, 2 * PERIOD]


def test_sum_by_accepts_labels_of_samples(filled):
    found = matrix(filled, sum_by="pid,nobody", step="1h")
    assert {key: sum(line.values()) for key, line in found.items()} == {
        (("pid", "1"),): 4 * PERIOD, (("pid", "2"),): 2 * PERIOD}


def test_a_limit_keeps_the_biggest_series_and_warns_of_the_rest(filled):
    status, body = filled.api("query_range", query="{}", sum_by="comm", step="1h", limit=1)
    response = json.loads(body)

    assert status == 200
    assert [line["metric"] for line in response["data"]["result"]] == [{"comm": "alpha"}]
    assert response["warnings"] == [
        f"limit=1: 1 more series, whose sum is {2 * PERIOD}, are left out; the biggest are here"]
    assert "warnings" not in json.loads(filled.api("query_range", query="{}", limit=2)[1])


def test_if_nothing_matches_the_matrix_is_empty(filled):
    assert filled.data("query_range", query='{comm="nobody"}') == {
        "resultType": "matrix", "result": []}


# statistics

@pytest.mark.parametrize("path, params", [
    ("labels", {"match[]": "{}"}), ("label/pid/values", {}), ("series", {"match[]": '{pid="1"}'}),
    ("query", {"query": "{}", "report": "flamegraph"}),
    ("query", {"query": "{}", "report": "table"}), ("query_range", {"query": "{}"})])
def test_a_response_reports_its_statistics(filled, path, params):
    stats = json.loads(filled.api(path, **params)[1])["stats"]

    assert stats["rows"] >= 1 and set(stats["seconds"]) == {
        "wait", "find", "read", "symbolize", "write"}
    assert stats["seconds"]["read"] > 0
    if path not in ("labels", "query_range"):  # these two read only directories
        assert stats["chunks"] >= 1 and stats["bytes"] > 0 and stats["samples_read"] >= 4
    if path == "query_range":
        assert stats["samples"] == 6 and stats["series"] >= 2


def test_a_response_that_is_not_json_has_its_statistics_in_a_header(filled):
    for report in ("collapsed", "pprof"):
        url = f"{filled.querier.url}/api/v1/query?query=%7B%7D&report={report}"
        with urllib.request.urlopen(url, timeout=180) as response:
            assert json.loads(response.headers["Decima-Stats"])["samples"] == 6


# windows

def test_the_window_includes_its_start_and_excludes_its_end(filled):
    def ticks(start_ms, end_ms):
        window = {"start": f"{start_ms / 1000:.3f}", "end": f"{end_ms / 1000:.3f}"}
        return filled.total("{}", **window) / PERIOD

    at = filled.at_ms  # of the last ticks; each earlier tick is a millisecond before

    assert ticks(at, at + 1) == 3
    assert ticks(at - 60000, at) == 3
    assert ticks(at - 60000, at + 1) == 6
    assert ticks(at + 1, at + 60000) == 0


def test_times_are_unix_seconds_or_rfc_3339(filled):
    start = datetime.datetime.fromtimestamp(filled.at_ms // 1000 - 60, datetime.timezone.utc)
    east = start.astimezone(datetime.timezone(datetime.timedelta(hours=2)))

    for text in (start.strftime("%Y-%m-%dT%H:%M:%SZ"), east.isoformat(), str(start.timestamp())):
        assert filled.total("{}", start=text) == 6 * PERIOD


# pprof

def test_pprof_has_addresses_mappings_and_the_sum(filled, protos):
    profile = filled.pprof(protos, '{comm="alpha"}')
    texts = profile.string_table
    mapping = profile.mapping[0]

    assert [(texts[t.type], texts[t.unit]) for t in profile.sample_type] == [
        (b"cpu", b"nanoseconds")]
    assert sum(s.value[0] for s in profile.sample) == 4 * PERIOD
    assert profile.period == PERIOD
    assert texts[mapping.filename] == b"/bin/alpha"
    assert texts[mapping.build_id] == b"aa" * 20
    assert {location.address for location in profile.location} == {0x1000, 0x2000, 0x3000}
    assert not any(sample.label for sample in profile.sample)


def test_pprof_has_the_labels_that_it_is_grouped_by(filled, protos):
    profile = filled.pprof(protos, "{}", group_by="comm")
    texts = profile.string_table

    found = {}
    for sample in profile.sample:
        label, = sample.label
        assert texts[label.key] == b"comm"
        found[texts[label.str]] = found.get(texts[label.str], 0) + sample.value[0]
    assert found == {b"alpha": 4 * PERIOD, b"beta": 2 * PERIOD}


@pytest.mark.skipif(not os.path.exists(GO), reason="no Go here to read it with")
def test_go_tool_pprof_reads_a_url(filled, tmp_path):
    url = f"{filled.querier.url}/api/v1/query?" + urllib.parse.urlencode(
        {"query": '{comm="alpha"}', "report": "pprof"})

    # The first use may compile pprof.
    done = subprocess.run([GO, "tool", "pprof", "-top", "-nodecount=5", url], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=150,
                          check=False, env=os.environ | {"PPROF_TMPDIR": str(tmp_path)})

    assert done.returncode == 0, done.stdout
    assert "Type: cpu" in done.stdout
    assert re.search(r"Total samples = 210\.5\d*ms|of 210\.5\d*ms total", done.stdout), done.stdout


# error responses

@pytest.mark.parametrize("params, sentence", [
    ({"step": "0"}, "step: must be longer"), ({"step": "-1"}, "step: "), ({"step": "x"}, "step: "),
    ({"step": "0.3"}, "more than 11000"), ({"limit": "-1"}, "limit: "), ({"query": "{"}, "query: "),
    ({"sum_by": "a,a"}, "sum_by names a twice"), ({"start": "x"}, "start: ")])
def test_a_bad_query_range_request_is_400_with_a_sentence(filled, params, sentence):
    status, kind, error = error_of(filled, "query_range", **({"query": "{}"} | params))

    assert (status, kind) == (400, "bad_data")
    assert sentence in error


@pytest.mark.parametrize("params, sentence", [
    ({"report": "collapsed"}, "query is missing"),
    ({"query": "{}"}, "report is missing"),
    ({"query": "{}", "report": "svg"}, "collapsed, pprof"),
    ({"query": "", "report": "collapsed"}, "position 1: expected a profile type or {"),
    ({"query": "{comm}", "report": "collapsed"}, "position 6: expected ="),
    ({"query": '{comm="x"', "report": "collapsed"}, "position 10: expected , or }"),
    ({"query": '{comm=~"("}', "report": "collapsed"}, "regular expression"),
    ({"query": "cpu{}", "report": "collapsed"}, "cpu"),
    ({"query": "{}", "report": "collapsed", "start": "yesterday"}, "is not a time"),
    ({"query": "{}", "report": "collapsed", "end": "-5"}, "is not a time"),
    ({"query": "{}", "report": "collapsed", "start": "5", "end": "5"}, "start must be before end"),
    ({"query": "{}", "report": "collapsed", "start": "6", "end": "5"}, "start must be before end"),
    ({"query": "{}", "report": "collapsed", "group_by": "a,a"}, "twice")])
def test_a_bad_query_is_400_with_a_sentence(filled, params, sentence):
    status, kind, error = error_of(filled, "query", **params)

    assert (status, kind) == (400, "bad_data")
    assert sentence in error


def test_bad_matches_are_400_and_unknown_paths_are_404(filled):
    status, kind, error = error_of(filled, "labels", **{"match[]": "{"})
    assert (status, kind) == (400, "bad_data") and "match[]" in error
    assert error_of(filled, "label//values")[0] == 400
    assert error_of(filled, "nothing")[:2] == (404, "not_found")


def test_an_expression_that_backtracks_exponentially_is_aborted(filled, protos):
    name = "a" * 60
    filled.produce(cpu_message(protos, "gamma", {(1,): 1}, node=name,
                              at_ms=filled.at_ms - 7200_000))
    hours_ago = {"start": filled.at_ms // 1000 - 7300, "end": filled.at_ms // 1000 - 7100}
    wait_until(lambda: filled.total('{comm="gamma"}', **hours_ago) == PERIOD, what="gamma")

    status, kind, error = error_of(filled, "query", query='{node=~"(a+)+[bc]"}', report="collapsed",
                                  **hours_ago)

    assert (status, kind) == (422, "execution")
    assert "match limit" in error


def test_a_query_over_its_memory_limit_is_422(filled, protos):
    small = filled.start_service(filled.service("querier", "small", {"query-memory-limit": "1MB"}))
    many = {(i, i + 1): 1 for i in range(16, 20016)}
    filled.produce(cpu_message(protos, "many", many, at_ms=filled.at_ms - 3 * 3600_000))
    then = {"start": filled.at_ms // 1000 - 3 * 3600 - 3600, "end": filled.at_ms // 1000 - 7200}
    wait_until(lambda: filled.total('{comm="many"}', **then) == 20000 * PERIOD, what="many stacks")

    query = urllib.parse.urlencode({"query": '{comm="many"}', "report": "collapsed", **then})
    status, body = small.get(f"/api/v1/query?{query}")

    assert status == 422, body
    assert "memory" in json.loads(body)["error"]
    assert small.get("/api/v1/query?query=%7B%7D&report=collapsed")[0] == 200


# lost and restored PostgreSQL connections

def test_without_postgresql_the_querier_is_not_ready(filled):
    away = filled.service("querier", "away", {"postgres": "postgresql://127.0.0.1:1/nothing"})
    away.launch()
    wait_until(lambda: away.get("/healthy")[0] == 200, what="the process healthy")

    status, body = away.get("/ready")
    assert status == 503 and b"PostgreSQL" in body
    status, body = away.get("/api/v1/query?query=%7B%7D&report=collapsed")
    assert status == 503 and json.loads(body)["errorType"] == "unavailable"


def test_a_lost_connection_is_reopened(filled):
    assert filled.total("{}") == 6 * PERIOD
    with filled.connect() as db:
        ended = db.execute("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE "
                           "datname = current_database() AND pid <> pg_backend_pid() AND "
                           "application_name LIKE '%querier%'").fetchone()[0]

    assert ended >= 1
    wait_until(lambda: filled.querier.ready(), what="ready again")
    assert filled.total("{}") == 6 * PERIOD


def test_many_concurrent_queries_all_succeed(filled):
    def total(_):
        return filled.total("{}")

    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        assert set(pool.map(total, range(64))) == {6 * PERIOD}


def test_queries_are_counted_in_the_metrics(filled):
    before = metrics(filled.querier)
    filled.total("{}")
    filled.api("query", query="{", report="collapsed")
    after = metrics(filled.querier)

    def grown(name):
        return after[name] - before[name]

    assert grown('decima_querier_queries_total{endpoint="query"}') == 2
    assert grown('decima_querier_reports_total{report="collapsed"}') == 1
    assert grown('decima_querier_errors_total{type="bad_data"}') == 1
    assert grown("decima_querier_samples_read_total") >= 6
    assert grown("decima_querier_bytes_read_total") > 0
