# SPDX-License-Identifier: Apache-2.0
"""Compaction merges raw rows into chunks: fewer rows and the same responses. Each sample is stored
once, also if an ingester is killed. Merged raw rows are dropped when no query can need them.
"""
import json
import random
import time
from datetime import datetime, timedelta, timezone

import pytest

from harness import SAMPLES, Cell, metrics, wait_until
from merged import merge_faults
from otlp_messages import PERIOD, cpu_message

SERVICES = ("web", "db", "cache")
ROUNDS = 8                           # the least number of flushes
TICKS = {(1, 2): 3, (1, 3): 1, (4,): 2}
SAMPLES_OF_ALL = ROUNDS * len(SERVICES) * sum(TICKS.values())
WAITING = "SELECT count(*) FROM chunk_raw WHERE merged IS NULL AND NOT unreadable"


def fill(cell, protos):
    """Send rounds of messages; each round is stored before the next one is sent."""
    stored = cell.samples()
    for number in range(ROUNDS):
        for comm in SERVICES:
            cell.produce(cpu_message(protos, comm, TICKS, node=f"host-{number % 3}", pid=number))
        stored += len(SERVICES) * sum(TICKS.values())
        wait_until(lambda: cell.samples() == stored, what="a round is stored")


def merge(cell, age="100ms", **flags):
    """Restart the ingester with compaction enabled."""
    cell.ingester.kill()
    cell.ingester.flags |= {"compaction-age": age} | flags
    cell.ingester.launch({"DECIMA_POSTGRES": cell.postgres_address})


def until_merged(cell, left=0):
    wait_until(lambda: cell.rows(WAITING) == [(left,)], what="rows are merged")


@pytest.fixture
def cell(servers, request):
    name = "".join(c if c.isalnum() else "_" for c in request.node.name).removeprefix("test_")[:50]
    with Cell(servers, f"merge_{name}") as made:
        made.ingester_flags["compaction-age"] = "0s"
        made.ingester.flags["compaction-age"] = "0s"
        made.start()
        yield made


def responses(cell, window):
    result = [cell.collapsed("{}", **window, group_by=label) for label in ("comm", "pid")]
    result += [cell.flamegraph("{}", **window)]
    result += [cell.data("series", **{"match[]": "{}"}, **window)]
    graph = cell.data("query_range", query="{}", sum_by="comm", step=60, **window)
    return result, sorted(str(series) for series in graph["result"])


def test_compaction_keeps_responses_with_fewer_rows(cell, protos, figure):
    now = int(time.time())
    window = {"start": now - 600, "end": now + 600}
    fill(cell, protos)
    before = responses(cell, window)
    (rows, bytes_before), = cell.rows("SELECT count(*), sum(length(payload)) FROM chunk_raw")

    merge(cell)  # the rows are coalesced first; no more messages arrive, so they are merged
    until_merged(cell)

    (chunks, bytes_after), = cell.rows("SELECT count(*), sum(length(payload)) FROM chunk")
    figure(f"compaction: {rows} rows of {bytes_before} bytes became {chunks} of {bytes_after}")
    assert responses(cell, window) == before
    assert cell.samples() == SAMPLES_OF_ALL
    assert rows >= ROUNDS * len(SERVICES) and chunks < rows / 2 and bytes_after < bytes_before
    result = metrics(cell.ingester)
    assert result["decima_ingester_compacted_rows_total"] == (
        rows + result["decima_ingester_coalesced_rows_total"])
    assert result["decima_ingester_compacted_samples_total"] == SAMPLES_OF_ALL
    assert result["decima_ingester_chunks_total"] == chunks
    assert result["decima_ingester_chunk_bytes_total"] == bytes_after


NODES = [f"host-{number}" for number in range(20)]
MESSAGES, OF_MESSAGE = 10, 500  # messages of a node, samples of a message: 500 of 3,000 stacks


def fill_wide(cell, protos):
    """Series of one bucket with 5,000 samples each, merged into one row of several slices."""
    chance = random.Random(7)
    now_ms = int(time.time() * 1000)
    span_ms = min(100_000, now_ms % 3600_000 + 1)  # all within one hour, so in one row
    for number, node in enumerate(NODES):
        for _ in range(MESSAGES):
            stacks = chance.sample(range(0x1000, 0x1000 + 3000), OF_MESSAGE)
            cell.produce(cpu_message(protos, "web", {(1, leaf): 1 for leaf in stacks}, node=node,
                                     pid=number, at_ms=now_ms - chance.randrange(span_ms)))
    wait_until(lambda: cell.samples() == len(NODES) * MESSAGES * OF_MESSAGE, what="all stored")
    merge(cell)
    until_merged(cell)
    (rows, size), = cell.rows("SELECT count(*), sum(length(payload)) FROM chunk")
    assert rows == 1
    return {"start": now_ms // 1000 - 600, "end": now_ms // 1000 + 600}, size


def query_json(cell, query, **params):
    status, body = cell.api("query", query=query, **params)
    return status, json.loads(body)


def test_a_query_of_one_series_reads_only_its_slice(cell, protos, figure):
    window, size = fill_wide(cell, protos)
    of_node = MESSAGES * OF_MESSAGE

    for number, node in enumerate(NODES):
        query = '{node="%s"}' % node
        stacks = cell.collapsed(query, **window, group_by="pid")
        assert sum(stacks.values()) == of_node * PERIOD
        assert {frames[0] for frames in stacks} == {f"pid={number}"}
        status, result = query_json(cell, query, report="table", **window)
        assert status == 200 and result["stats"]["samples"] == of_node
        assert result["stats"]["samples_read"] < len(NODES) * of_node / 2
        assert result["stats"]["bytes"] < size / 2
    figure(f"slices: a query of one of {len(NODES)} series read {result['stats']['bytes']} bytes"
           f" of a row of {size} bytes")
    assert cell.total("{}", **window) == len(NODES) * of_node * PERIOD
    pids = sorted(str(number) for number in range(len(NODES)))
    assert cell.data("label/pid/values", **window) == pids


def test_a_corrupt_slice_fails_the_queries_that_need_it(cell, protos):
    window, _ = fill_wide(cell, protos)
    with cell.connect() as db:
        db.execute("UPDATE chunk SET payload = set_byte(payload, length(payload) - 1,"
                   " get_byte(payload, length(payload) - 1) # 255)")

    result = [query_json(cell, '{node="%s"}' % node, report="table", **window) for node in NODES]

    errors = [body["error"] for status, body in result if status != 200]
    assert 0 < len(errors) < len(NODES) / 2
    assert all("the checksum of a row's slice is wrong" in error for error in errors)
    assert metrics(cell.querier)["decima_querier_unreadable_rows_total"] == len(errors)
    assert all(body["stats"]["samples"] == MESSAGES * OF_MESSAGE
               for status, body in result if status == 200)
    assert query_json(cell, "{}", report="table", **window)[0] != 200


def test_a_snapshot_before_compaction_is_unchanged(cell, protos):
    """A snapshot from before the merge has each sample once, also after the merge."""
    fill(cell, protos)
    with cell.connect() as db, db.transaction():
        db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        assert db.execute(SAMPLES).fetchone() == (SAMPLES_OF_ALL,)

        merge(cell)
        until_merged(cell)

        assert db.execute(SAMPLES).fetchone() == (SAMPLES_OF_ALL,)
        assert db.execute("SELECT count(*) FROM chunk").fetchone() == (0,)
    assert cell.samples() == SAMPLES_OF_ALL


def wait_for_time_in_this_hour(seconds=60):
    """Wait until the current hour lasts for another `seconds`."""
    wait_until(lambda: time.time() % 3600 < 3600 - seconds, seconds + 10, "the next hour")


def coalesced_and_chunks(cell):
    """(rows, samples) of coalesced raw rows, and of chunks."""
    return cell.rows("SELECT count(*), coalesce(sum(samples), 0)::bigint FROM chunk_raw"
                     " WHERE joined UNION ALL"
                     " SELECT count(*), coalesce(sum(samples), 0)::bigint FROM chunk")


def test_small_rows_are_coalesced_and_later_merged(cell, protos):
    wait_for_time_in_this_hour()
    fill(cell, protos)

    merge(cell)
    until_merged(cell)

    assert coalesced_and_chunks(cell) == [(len(SERVICES), SAMPLES_OF_ALL)] * 2
    with cell.connect() as db:
        assert not merge_faults(db)[0]


def test_new_rows_are_coalesced_with_waiting_rows(cell, protos):
    """While messages arrive, rows are coalesced repeatedly, and queries read each sample once."""
    wait_for_time_in_this_hour()
    merge(cell, age="2s")
    stored, ends = 0, time.monotonic() + 60
    while coalesced_and_chunks(cell)[0][1] <= stored:  # until a sample is coalesced more than once
        assert time.monotonic() < ends, coalesced_and_chunks(cell)
        cell.produce(cpu_message(protos, "web", TICKS))
        stored += sum(TICKS.values())
        wait_until(lambda: cell.samples() == stored, what="the message is stored")
        assert cell.total("{}") == stored * PERIOD
        with cell.connect() as db:
            assert not merge_faults(db)[0]
    until_merged(cell)

    assert cell.samples() == stored
    assert coalesced_and_chunks(cell)[1][1] == stored


@pytest.mark.parametrize("hour", ["of-samples", "of-arrival"])
def test_rows_of_a_past_hour_are_merged_at_once(cell, protos, hour):
    wait_for_time_in_this_hour()
    at_ms = int(time.time() * 1000)
    at_ms -= 2 * 3600_000 if hour == "of-samples" else 0
    for _ in range(3):
        stored = cell.samples()
        cell.produce(cpu_message(protos, "web", TICKS, at_ms=at_ms))
        wait_until(lambda: cell.samples() > stored, what="the message is stored")
    if hour == "of-arrival":
        first = datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0)
        with cell.connect() as db:
            past = first - timedelta(hours=1)
            db.execute(f"CREATE TABLE IF NOT EXISTS chunk_raw_{past:%Y%m%d%H} PARTITION OF"
                       f" chunk_raw FOR VALUES FROM ('{past}') TO ('{first}')")
            db.execute("UPDATE chunk_raw SET arrival = arrival - interval '1 hour'")

    merge(cell)
    until_merged(cell)

    assert coalesced_and_chunks(cell) == [(0, 0), (1, 3 * sum(TICKS.values()))]


def test_several_ingesters_merge_while_samples_arrive(cell, protos):
    others = [cell.service("ingester", f"other-{number}", {"compaction-age": "100ms"})
              for number in range(2)]
    merge(cell)
    for other in others:
        cell.start_service(other)

    fill(cell, protos)
    until_merged(cell)

    assert cell.samples() == SAMPLES_OF_ALL
    assert cell.total("{}") == SAMPLES_OF_ALL * PERIOD
    merged = [metrics(ingester)["decima_ingester_compacted_samples_total"]
              for ingester in (cell.ingester, *others)]
    assert sum(merged) == SAMPLES_OF_ALL, merged


def test_a_kill_before_the_commit_changes_no_row(cell, protos):
    fill(cell, protos)
    merge(cell, failpoints="in-compaction=kill")
    wait_until(lambda: not cell.ingester.alive(), what="the ingester is dead")
    assert cell.rows("SELECT count(*) FROM chunk") == [(0,)]
    assert cell.samples() == SAMPLES_OF_ALL

    merge(cell, failpoints="")
    until_merged(cell)

    assert cell.samples() == SAMPLES_OF_ALL


def test_a_corrupt_row_remains_and_others_are_merged(cell, protos):
    fill(cell, protos)
    with cell.connect() as db:
        db.execute("UPDATE chunk_raw SET payload = set_byte(payload, 40, 255 - get_byte(payload,"
                   " 40)) WHERE ctid = (SELECT min(ctid) FROM chunk_raw)")

    merge(cell)
    until_merged(cell)

    (aside, samples), = cell.rows("SELECT count(*), sum(samples)::bigint FROM chunk_raw"
                                  " WHERE unreadable AND merged IS NULL")
    assert aside == 1
    assert cell.samples() == SAMPLES_OF_ALL
    assert cell.rows("SELECT sum(samples)::bigint FROM chunk") == [(SAMPLES_OF_ALL - samples,)]
    assert metrics(cell.ingester)["decima_ingester_damaged_rows_total"] == 1
    assert "a row is corrupt and is left unchanged" in cell.ingester.log_file.read_text()


def test_a_day_without_a_partition_gets_one(cell, protos):
    """Samples of three days ago, a day for which `chunk` has no partition yet."""
    cell.produce(cpu_message(protos, "late", TICKS, at_ms=int(time.time() * 1000) - 3 * 86400_000))
    wait_until(lambda: cell.samples() == sum(TICKS.values()), what="the samples are stored")

    merge(cell)
    until_merged(cell)

    assert cell.samples() == sum(TICKS.values())
    now = int(time.time())
    assert cell.total("{}", start=now - 4 * 86400, end=now) == sum(TICKS.values()) * PERIOD


def test_merged_partitions_are_dropped_in_time(cell, protos):
    """A partition with a recently merged row or a row that is not merged is not dropped."""
    fill(cell, protos)
    at = datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0)
    cases = {3: ("1 hour", True), 4: ("1 minute", False), 5: (None, False)}
    with cell.connect() as db:
        for hours, (merged, _) in cases.items():
            first = at - timedelta(hours=hours)
            name = f"chunk_raw_{first:%Y%m%d%H}"
            db.execute(f"CREATE TABLE {name} PARTITION OF chunk_raw FOR VALUES"
                       f" FROM ('{first}') TO ('{first + timedelta(hours=1)}')")
            db.execute(f"INSERT INTO {name} SELECT %s, bucket, first_ms, last_ms, late, samples,"
                       f" directory, payload, now() - %s::interval FROM chunk_raw LIMIT 3",
                       (first, merged))
    names = {f"chunk_raw_{at - timedelta(hours=hours):%Y%m%d%H}": is_dropped
             for hours, (_, is_dropped) in cases.items()}

    cell.ingester.kill()
    cell.start_service(cell.ingester)

    dropped = [name for name, is_dropped in names.items() if is_dropped]
    wait_until(lambda: all(cell.rows("SELECT to_regclass(%s)", name) == [(None,)]
                           for name in dropped), what="the partition is dropped")
    time.sleep(1)  # the same round of maintenance ends
    for name, is_dropped in names.items():
        assert (cell.rows("SELECT to_regclass(%s)", name) == [(None,)]) == is_dropped, name
