# SPDX-License-Identifier: Apache-2.0
"""A truncated stack says why in every report, and after its hour is rolled up."""
import gzip
import json
import time

from harness import Cell, wait_until
from otlp_messages import CPU, PERIOD, Message

HOUR_MS = 3600_000
TRUNCATED = "[truncated: user_no_row]"
PATHS = {(TRUNCATED, "work"): 3 * PERIOD, ("work",): 2 * PERIOD}


def message(protos, at_ms):
    """Three ticks of a truncated stack and two of a whole one, as the agent sends them."""
    made = Message(protos)
    tables = made.dictionary
    for name, kind in (("work", "kernel"), (TRUNCATED, "abort-marker")):
        tables.function_table.add(name_strindex=made.string(name))
        location = tables.location_table.add(
            attribute_indices=[made.attribute("profile.frame.type", kind)])
        location.lines.add(function_index=len(tables.function_table) - 1)
    tables.stack_table.add(location_indices=[1, 2])
    tables.stack_table.add(location_indices=[1])
    profile = made.profile(CPU, {"host.name": "test", "process.executable.name": "cut"},
                           period=PERIOD, time_unix_nano=at_ms * 1_000_000)
    for stack, count in ((1, 3), (2, 2)):
        profile.samples.add(stack_index=stack, timestamps_unix_nano=[
            (at_ms + i) * 1_000_000 for i in range(count)])
    return made.data.SerializeToString()


def assert_reports(cell, protos, start, end):
    window = {"start": start, "end": end}
    assert cell.flamegraph("{}", **window) == PATHS

    table = {row["function"]: row["total"]
             for row in cell.data("query", query="{}", report="table", **window)["rows"]}
    assert table == {TRUNCATED: 3 * PERIOD, "work": 5 * PERIOD}

    status, body = cell.api("query", query="{}", report="collapsed", **window)
    assert status == 200
    assert sorted(body.decode().split("\n")[:-1]) == sorted(
        f"{';'.join(path)} {value}" for path, value in PATHS.items())

    profile = protos.pprof.Profile()
    profile.ParseFromString(gzip.decompress(cell.api("query", query="{}", report="pprof",
                                                     **window)[1]))
    text = [s.decode() if isinstance(s, bytes) else s for s in profile.string_table]
    names = {place.id: [text[f.name] for line in place.line for f in profile.function
                        if f.id == line.function_id] for place in profile.location}
    assert {tuple(names[i][0] for i in reversed(sample.location_id)): sample.value[0]
            for sample in profile.sample} == PATHS

    diff = cell.data("diff", a_query="{}", a_start=start, a_end=end, b_query="{}", b_start=start,
                     b_end=end)
    assert TRUNCATED in diff["names"] and diff["a_total"] == diff["b_total"] == 5 * PERIOD


def test_every_report_says_why_a_stack_is_truncated(servers, protos):
    now_ms = int(time.time() * 1000)
    first_ms = now_ms - now_ms % HOUR_MS - 3 * HOUR_MS
    start, end = first_ms // 1000, (first_ms + HOUR_MS) // 1000
    with Cell(servers, "truncated") as cell:
        cell.ingester.flags["compaction-age"] = "0s"
        cell.start()
        cell.produce(message(protos, first_ms + 1000))
        wait_until(lambda: cell.samples() == 5, what="all is stored")
        assert_reports(cell, protos, start, end)

        cell.ingester.kill()
        cell.ingester.flags["compaction-age"] = "100ms"
        cell.start_service(cell.ingester)
        wait_until(lambda: cell.rows("SELECT count(*) FROM rollup")[0][0] > 0, 120,
                   what="the hour is rolled up")
        assert_reports(cell, protos, start, end)
        stats = json.loads(cell.api("query", query="{}", report="flamegraph", start=start,
                                    end=end)[1])["stats"]
        assert stats["samples_read"] == 2  # the sums of the hour
