# SPDX-License-Identifier: Apache-2.0
"""A store that is rebuilt from Kafka has the same samples: in place of the old store, or beside it,
as in docs/operations.md, while rows are compacted and ingesters are killed.
"""
import random
import time
from collections import Counter

import psycopg
import pytest

from harness import Cell, wait_until
from merged import each, faults_of, merge_faults, read_rows
from otlp_messages import cpu_message, headers, heap_message

HOUR_MS = 3600_000
EPOCH = 1_700_000_000_000_000_000
HOSTS, BATCHES = 4, 40
DAMAGES = {
    "a chunk is lost": "DELETE FROM chunk WHERE (tableoid, ctid) ="
                       " (SELECT tableoid, ctid FROM chunk LIMIT 1)",
    "a chunk is there twice": "INSERT INTO chunk SELECT * FROM chunk LIMIT 1",
    "rows were merged and are not marked as merged": "UPDATE chunk_raw SET merged = NULL WHERE"
        " (tableoid, ctid) = (SELECT tableoid, ctid FROM chunk_raw LIMIT 1)",
    "sums are lost": "DELETE FROM rollup WHERE kind <= 1",
    "sums are there twice": "INSERT INTO rollup SELECT * FROM rollup WHERE kind <= 1 LIMIT 1",
    "sums of gauges are lost": "DELETE FROM rollup WHERE kind = 3",
    "sums of a day are lost": "DELETE FROM rollup WHERE kind = 4",
    "a chunk is marked as rolled up and has no sums":
        "UPDATE chunk SET rolled = now() WHERE (tableoid, ctid) ="
        " (SELECT tableoid, ctid FROM chunk WHERE rolled IS NULL LIMIT 1)",
}
UNMERGED = ("SELECT (SELECT count(*) FROM chunk_raw WHERE merged IS NULL)"
            " + (SELECT count(*) FROM chunk WHERE rolled IS NULL AND first_ms < %s)")
HOSTS_STATUS = ("SELECT host, epoch, highest, missing::text, gap, sampled, lost, stored,"
             " duplicate_batches, rejected_batches, rejected_samples FROM agent_status"
             " ORDER BY host, epoch")
OFFSETS = "SELECT partition, next_offset FROM consumer_offset ORDER BY partition"


def messages(protos, chance):
    """Batches of several hosts, some sent twice, some of earlier hours; heaps; garbage."""
    now_ms = int(time.time() * 1000)
    for number in range(1, BATCHES + 1):
        for host in range(HOSTS):
            at_ms = now_ms - chance.choice([0, 0, 2, 3, 60]) * HOUR_MS - chance.randrange(60_000)
            ticks = {(chance.randrange(8), chance.randrange(50)): chance.randint(1, 4)
                     for _ in range(5)}
            status = protos.status.AgentStatus(node=f"host-{host}".encode(), sampled=number * 1000,
                                               batch_samples=sum(ticks.values()))
            value = cpu_message(protos, chance.choice(["web", "db", "cache"]), ticks,
                                node=f"host-{host}", pid=number, at_ms=at_ms)
            if chance.random() < 0.05:
                value = b"\x0a\x7f\x01"
            options = {"key": f"host-{host}/id".encode(), "partition": host,
                     "headers": headers(number, EPOCH, status.SerializeToString())}
            for _ in range(1 + (chance.random() < 0.2)):
                yield value, options
        heap = heap_message(protos, "web", now_ms - 2 * HOUR_MS - number * 1000, pid=number % 3)
        yield heap, {"key": b"heap", "partition": number % 4}


class Store:
    """The contents of a database that come from the topic."""

    def __init__(self, address):
        with psycopg.connect(address, autocommit=True) as db:
            self.samples = each(read_rows(db, "chunk_raw", "merged IS NULL")
                                + read_rows(db, "chunk"))
            self.hosts = db.execute(HOSTS_STATUS).fetchall()
            self.offsets = db.execute(OFFSETS).fetchall()
            self.series = db.execute("SELECT * FROM series ORDER BY day, id").fetchall()
            self.pairs = db.execute("SELECT day, name, value FROM label_pair ORDER BY 1, 2, 3")
            self.pairs = self.pairs.fetchall()
            self.faults, self.compared = merge_faults(db)


def until_settled(address, end):
    """Wait until all messages of the topic are stored, compacted and rolled up."""
    before_ms = int(time.time() * 1000) - HOUR_MS * 3 // 2

    def is_settled():
        with psycopg.connect(address) as db:
            offsets = db.execute(OFFSETS).fetchall()
            assert sum(offset for _, offset in offsets) == end, offsets
            return db.execute(UNMERGED, (before_ms,)).fetchone() == (0,)
    wait_until(is_settled, what="all stored, compacted and rolled up")


def drop_and_create(cell, name):
    with psycopg.connect(cell.fleet.postgres.address("postgres"), autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        admin.execute(f"CREATE DATABASE {name}")
    return cell.fleet.postgres.address(name)


def query_results(cell, address):
    cell.querier.kill()
    cell.querier.launch({"DECIMA_POSTGRES": address})
    cell.querier.wait_ready(cell.querier.ready)
    now = int(time.time())
    window = {"start": now - 70 * 3600, "end": now - now % 3600 + 3600}
    return [cell.collapsed("{}", **window, group_by=by) for by in ("", "comm,node", "pid")]


@pytest.mark.parametrize("where", ["in its place", "beside it"])
def test_a_rebuilt_store_has_the_same_samples(servers, protos, figure, where):
    with Cell(servers, f"rebuild_{where.replace(' ', '_')}") as cell:
        cell.ingester_flags["compaction-age"] = "300ms"
        cell.ingester.flags["compaction-age"] = "300ms"
        cell.start()
        sent = list(messages(protos, random.Random(9)))
        cell.produce_all(sent)
        until_settled(cell.postgres_address, len(sent))
        before = Store(cell.postgres_address)
        expected = query_results(cell, cell.postgres_address)

        name, flags = cell.database, {}
        if where == "in its place":
            cell.ingester.stop()
        else:
            name, flags = f"{cell.database}_new", {"kafka-group": f"{cell.topic}-new"}
        began = time.monotonic()
        address = drop_and_create(cell, name)
        rebuild(cell, address, flags, len(sent))

        after = Store(address)
        took = time.monotonic() - began
        assert query_results(cell, address) == expected
    figure(f"a store rebuilt {where}: {sum(after.samples.values())} samples of {after.offsets}"
           f" in {took:.1f} s, with two kills; {dict(after.compared)}")
    assert not after.faults and not before.faults, after.faults + before.faults
    assert after.samples == before.samples
    assert after.hosts == before.hosts and after.offsets == before.offsets
    assert after.series == before.series and after.pairs == before.pairs
    assert sum(Counter(sample.type for sample in after.samples).values()) > 500
    assert after.compared["rollups"] and after.compared["gauges compared"]


def rebuild(cell, address, flags, end):
    """One ingester dies in its first flush, another in its second compaction; then both restart."""
    died = []
    for failpoint in ("after-fence=kill", "in-compaction=kill:2"):
        point = failpoint.partition("=")[0]
        died.append(cell.service("ingester", f"anew-{point}", flags | {"failpoints": failpoint}))
        died[-1].launch({"DECIMA_POSTGRES": address})
        wait_until(lambda: not died[-1].alive(), what=f"the ingester dead {point}")
    for ingester in died:
        ingester.flags["failpoints"] = ""
        ingester.launch({"DECIMA_POSTGRES": address})
    until_settled(address, end)


def test_the_comparison_of_rows_finds_damaged_rows(servers, protos):
    """The comparison that this file and tests/chaos use must not pass damaged rows."""
    with Cell(servers, "rebuild_damaged") as cell:
        cell.ingester.flags["compaction-age"] = "300ms"
        cell.start()
        sent = list(messages(protos, random.Random(9)))
        cell.produce_all(sent)
        until_settled(cell.postgres_address, len(sent))
        wait_until(lambda: cell.rows("SELECT 1 FROM rollup WHERE kind = 4"), what="sums of a day")
        cell.ingester.stop()

        with cell.connect() as db:
            assert not merge_faults(db)[0]
            for what, sql in DAMAGES.items():
                with db.transaction(force_rollback=True):
                    assert db.execute(sql).rowcount > 0, f"{what}: no row changed"
                    assert faults_of(db)[0], what
            assert not merge_faults(db)[0]
