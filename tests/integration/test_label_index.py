# SPDX-License-Identifier: Apache-2.0
"""The label index, with the series of a day: queries find the same series as a filter over all
series, and no statement scans a whole table of labels.
"""
import collections
import json
import re
import subprocess
import time

import pytest

from harness import Cell

DAY_MS = 86400_000
SERIES = 20_000          # of 4,000 pods, 4 services, 201 nodes
PERIOD_NS = 52_631_578   # the value of the one sample of each series
# Each selector with the same condition as a function of the labels of one series.
SELECTORS = {
    '{service_name="service-001"}': lambda s: s["service_name"] == "service-001",
    '{node="node-00007",comm=~"comm-00.*"}':
        lambda s: s["node"] == "node-00007" and s["comm"].startswith("comm-00"),
    '{service_name=~"service-001|service-003"}':
        lambda s: s["service_name"] in ("service-001", "service-003"),
    '{pod=~"service-002-.*"}': lambda s: s["pod"].startswith("service-002-"),
    '{pod=~"service-00[12]-0000.*",node!="node-00001"}':
        lambda s: re.fullmatch("service-00[12]-0000.*", s["pod"]) and s["node"] != "node-00001",
    '{pod=~".*-00001.",service_name!~"service-00[02].*"}':
        lambda s: re.fullmatch(".*-00001.", s["pod"])
        and not re.fullmatch("service-00[02].*", s["service_name"]),
    '{pod=~".*7"}': lambda s: s["pod"].endswith("7"),
    '{service_name="service-001",pod!~".*7|.*8"}':
        lambda s: s["service_name"] == "service-001" and s["pod"][-1] not in "78",
    '{comm!="comm-000",unit="",exe=~".+",node=~"node-0000.|"}':
        lambda s: s["comm"] != "comm-000" and re.fullmatch("node-0000.", s["node"]),
    '{namespace=~"nobody|none"}': lambda s: False,
    '{unit=~"x.*"}': lambda s: False,
}


@pytest.fixture(scope="module")
def day(servers):
    """(a cell with a day's series, whose PostgreSQL logs plans; the end of the day in ms)."""
    end_ms = int(time.time() * 1000) // DAY_MS * DAY_MS
    with Cell(servers, "label_index", partitions=1) as cell:
        cell.start_service(cell.ingester)
        subprocess.run([servers.build / "tests" / "series_feed", cell.postgres_address,
                        str(SERIES), str(end_ms)], check=True)
        with cell.connect() as db:
            db.execute("VACUUM ANALYZE label_pair")
            db.execute("VACUUM ANALYZE series")
            for setting, value in {"session_preload_libraries": "auto_explain",
                                   "auto_explain.log_min_duration": "0",
                                   "auto_explain.log_format": "json"}.items():
                db.execute(f"ALTER DATABASE {cell.database} SET {setting} = '{value}'")
        cell.start_service(cell.querier)
        yield cell, end_ms


def request(cell, end_ms, path, **params):
    window = {"start": end_ms / 1e3 - 86400, "end": end_ms / 1e3}
    status, body = cell.api(path, **window | params)
    assert status == 200, body[:300]
    return json.loads(body)


@pytest.fixture(scope="module")
def every(day):
    """The labels of all series, of one request."""
    found = request(*day, "series")["data"]
    assert len(found) == SERIES
    return found


@pytest.mark.parametrize("selector", SELECTORS)
def test_a_selector_finds_the_same_series_as_a_filter_over_all(day, every, selector):
    expected = [s for s in every if SELECTORS[selector](s)]
    found = request(*day, "series", **{"match[]": selector})["data"]
    assert found == expected
    sums = request(*day, "query_range", query=selector, sum_by="service_name", step="86400")
    assert {line["metric"]["service_name"] for line in sums["data"]["result"]} == \
        {s["service_name"] for s in expected}
    graph = request(*day, "query", query=selector, report="flamegraph")
    assert graph["stats"]["samples"] == len(expected), "each series has one sample"


def test_all_cpu_time_is_found_without_a_lookup_of_series(day):
    graph = request(*day, "query", query="{}", report="flamegraph")
    assert graph["stats"]["samples"] == SERIES
    assert graph["stats"]["series"] == 0, "no series was looked up"


def test_sums_over_steps_by_labels_of_series_are_read_from_directories(day, every):
    def graph(sum_by, step):
        return request(*day, "query_range", query='{service_name=~".+"}', sum_by=sum_by, step=step)

    by_service = graph("service_name", 600)
    assert by_service["stats"]["chunks"] == by_service["stats"]["bytes"] == 0
    assert by_service["stats"]["samples"] == SERIES
    counts = collections.Counter(s["service_name"] for s in every)
    period, = {sum(int(v) for _, v in line["values"]) // counts[line["metric"]["service_name"]]
               for line in by_service["data"]["result"]}
    by_pod = graph("pod", 86400)["data"]["result"]
    assert {line["metric"]["pod"]: [int(v) for _, v in line["values"]] for line in by_pod} == {
        pod: [count * period] for pod, count in
        collections.Counter(s["pod"] for s in every).items()}


def rounds(day, first, count):
    """The window of `count` of the day's ten-minute rounds; each has a 144th of all pods."""
    start = day[1] / 1e3 - 86400 + first * 600
    return {"start": start, "end": start + count * 600}


def of_rounds(series, first, count):
    return [s for s in series if first <= int(s["pod"][-6:]) % 144 < first + count]


# Labels for sum_by: of each series, of some series, of no series.
SPLITS = ("service_name", "pod,comm", "node,unit", "unit")
MANY = {
    "{}": lambda s: True,
    '{service_name=~".+"}': lambda s: True,
    '{comm!="comm-000"}': lambda s: s["comm"] != "comm-000",
    '{unit="",pod!~".*7|.*8"}': lambda s: s["pod"][-1] not in "78",
}


@pytest.mark.parametrize("selector", SELECTORS | MANY)
def test_a_short_window_has_exactly_its_series(day, every, selector):
    matches = (SELECTORS | MANY)[selector]
    expected = of_rounds([s for s in every if matches(s)], 31, 2)
    window = rounds(day, 31, 2)
    assert request(*day, "series", **window, **{"match[]": selector})["data"] == expected
    graph = request(*day, "query", query=selector, report="flamegraph", **window)
    assert graph["stats"]["samples"] == len(expected), "each series has one sample"
    for split in SPLITS:
        lines = request(*day, "query_range", query=selector, sum_by=split, step=60, **window)
        sums = collections.Counter()
        for line in lines["data"]["result"]:
            sums[tuple(sorted(line["metric"].items()))] += sum(int(v) for _, v in line["values"])
        counts = collections.Counter(
            tuple(sorted((name, s[name]) for name in split.split(",") if name in s))
            for s in expected)
        assert sums == {group: count * PERIOD_NS for group, count in counts.items()}


def test_of_a_day_with_many_series_only_series_of_a_short_window_are_looked_up(day, every):
    def looked_up(selector, first, count):
        return request(*day, "query_range", query=selector, sum_by="pod", step=3600,
                   **rounds(day, first, count))["stats"]["series"]

    for selector in MANY:
        expected = [s for s in every if MANY[selector](s)]
        assert looked_up(selector, 31, 2) == len(of_rounds(expected, 31, 2))
        assert looked_up(selector, 30, 19) == len(expected), "the window is longer than three hours"
    service = [s for s in every if s["service_name"] == "service-001"]
    assert looked_up('{service_name="service-001"}', 31, 2) == len(service), "the index is faster"


def test_only_rows_of_the_services_of_matching_pairs_are_read(day):
    def rows(selector):
        return request(*day, "query", query=selector, report="flamegraph")["stats"]["rows"]

    assert 0 < rows('{service_name="service-002"}') < rows("{}")
    assert rows('{pod=~"service-002-.*"}') == rows('{service_name="service-002"}')


def test_label_values_equal_the_values_of_all_series(day, every):
    for name in ("node", "pod", "service_name"):
        assert request(*day, f"label/{name}/values")["data"] == sorted({s[name] for s in every})


def test_no_statement_scans_a_whole_table_of_labels(day):
    cell, end_ms = day
    log = cell.fleet.postgres.log_file
    began = log.stat().st_size
    for selector in SELECTORS:
        request(cell, end_ms, "query", query=selector, report="flamegraph")
        request(cell, end_ms, "series", **{"match[]": selector})
        request(cell, end_ms, "labels", **{"match[]": selector})
    for selector in MANY:
        for split in SPLITS:
            request(cell, end_ms, "query_range", query=selector, sum_by=split, step=60,
                **rounds(day, 31, 2))
    for path in ("labels", "label/pod/values", "label/service_name/values", "profile_types"):
        request(cell, end_ms, path)

    with open(log, "rb") as file:
        file.seek(began)
        text = file.read().decode()
    plans = [line for line in re.split(r"\n(?=\d{4}-)", text)
             if f" {cell.database} " in line and "plan:" in line]
    scans = [scan for plan in plans
             for scan in re.findall(r'"Node Type": "([^"]* Scan)"[^{}]*?"Relation Name": "(\w+)"',
                                    plan)]
    of_labels = {scan for scan in scans if scan[1].startswith(("series_", "label_pair_"))}
    kinds = {kind for kind, _ in of_labels}
    assert {"Bitmap Heap Scan", "Index Only Scan", "Index Scan"} <= kinds, kinds
    assert "Seq Scan" not in kinds, of_labels
