# SPDX-License-Identifier: Apache-2.0
"""The ingester's guarantees: each batch is counted once, and each loss is counted by a reason."""
import time
from datetime import datetime, timedelta, timezone

import confluent_kafka
import confluent_kafka.admin
import psycopg
import pytest

from harness import Cell, metrics, stays, wait_until
from otlp_messages import PERIOD, cpu_message, headers

DAY_MS = 86_400_000


def found(cell, comm, ticks, **window):
    """Assert that exactly `ticks` ticks of the comm are stored."""
    total = cell.total(f'{{comm="{comm}"}}', **window)
    assert total == ticks * PERIOD, f"{comm}: {total / PERIOD} ticks, want {ticks}"
    return True


def counter(cell, name):
    return metrics(cell.ingester)[f"decima_ingester_{name}"]


def offset_of(cell, partition):
    rows = cell.rows("SELECT next_offset FROM consumer_offset WHERE topic = %s AND partition = %s",
                     cell.topic, partition)
    return rows[0][0] if rows else None


def test_a_message_without_headers_is_stored_with_stack_and_labels(cell, protos):
    cell.produce(cpu_message(protos, "plain", {(0x10, 0x20): 3, (0x10,): 2}, pid=77))

    wait_until(lambda: found(cell, "plain", 5), what="five ticks")

    assert cell.collapsed('{comm="plain"}') == {
        ("test+0x10", "test+0x20"): 3 * PERIOD, ("test+0x10",): 2 * PERIOD}
    assert cell.total('{comm="plain",pid="77"}') == 5 * PERIOD
    assert found(cell, 'plain",service_name="plain",node="test",exe="/bin/test', 5)


def test_each_stage_reports_its_duration_and_freshness(cell, protos):
    now, before = time.time(), metrics(cell.ingester)
    for age in (90, 0):
        cell.produce(cpu_message(protos, "stages", {(0x10,): 3}, at_ms=int((now - age) * 1000)))
        wait_until(lambda: counter(cell, "lag_messages") == 0, what="no lag")
    wait_until(lambda: found(cell, "stages", 6), what="six ticks")
    wait_until(lambda: counter(cell, "samples_stored_total") >=
               before["decima_ingester_samples_stored_total"] + 6, what="six counted samples")

    after = metrics(cell.ingester)

    def moved(name):
        return after[f"decima_ingester_{name}"] - before[f"decima_ingester_{name}"]

    assert now - 10 < counter(cell, "newest_sample_timestamp_seconds") < time.time() + 601
    assert moved("messages_total") >= 2 and moved("rows_total") >= 1
    assert moved("flush_duration_seconds_count") >= 1
    assert moved("visible_delay_seconds_count") >= 1
    assert 0 < moved("visible_delay_seconds_sum") < 60 * moved("visible_delay_seconds_count")
    assert moved("sample_delay_seconds_count") >= 1
    assert 90 < moved("sample_delay_seconds_sum") < 90 + 60 * moved("sample_delay_seconds_count")
    assert moved("series_cache_misses_total") >= 1
    assert after["decima_ingester_rebalances_total"] >= 1
    assert after["decima_ingester_postgres_connections_total"] >= 1
    assert after["decima_ingester_lag_seconds"] < 60


@pytest.mark.reason("ingester.duplicate")
def test_a_batch_that_arrives_twice_is_counted_once(cell, protos, moves):
    batch = cpu_message(protos, "twice", {(0x10,): 7})

    with moves("ingester.duplicate", cell.ingester, by=1):
        for _ in range(2):
            cell.produce(batch, key=b"twice/1", headers=headers(1))
        cell.produce(cpu_message(protos, "twice", {(0x20,): 1}), key=b"twice/1", headers=headers(2))
        wait_until(lambda: found(cell, "twice", 8), what="both batches, once")
        stays(lambda: found(cell, "twice", 8), 1, what="counted once")

    assert cell.rows("SELECT highest, stored, duplicate_batches FROM agent_status"
                     " WHERE host = 'twice/1'") == [(2, 8, 1)]


@pytest.mark.reason("ingester.late")
def test_a_late_batch_is_distinguished_from_a_duplicate(cell, protos, moves):
    batches = {sequence: cpu_message(protos, "late", {(sequence,): 1}) for sequence in range(1, 5)}
    for sequence in (1, 4, 1):
        cell.produce(batches[sequence], key=b"late/1", headers=headers(sequence))
    wait_until(lambda: found(cell, "late", 2), what="the first and the fourth batch")
    assert cell.rows("SELECT missing::text FROM agent_status WHERE host = 'late/1'") == [
        ("{[2,4)}",)]

    with moves("ingester.late", cell.ingester, by=2):
        for sequence in (3, 2, 3):
            cell.produce(batches[sequence], key=b"late/1", headers=headers(sequence))
        wait_until(lambda: found(cell, "late", 4), what="all four batches")

    assert cell.rows("SELECT highest, missing::text FROM agent_status WHERE host = 'late/1'") == [
        (4, "{}")]


def test_hosts_that_fill_the_memory_are_evicted(cell, protos, figure):
    """7,000 hosts need more than the share of 64 MB that is for data."""
    hosts = 7000
    with Cell(cell.fleet, f"{cell.name}_crowd", partitions=1) as small:
        small.ingester.flags["memory-limit"] = "64MB"
        small.start()
        producer = confluent_kafka.Producer(small.kafka_settings(**{"linger.ms": 5}))
        batch = cpu_message(protos, "crowd", {(0x10,): 1})
        for host in range(hosts):
            producer.produce(small.topic, batch, key=f"{host}/id".encode(), headers=headers(1))
            producer.poll(0)
        assert producer.flush(30) == 0

        wait_until(lambda: small.rows("SELECT count(*), sum(stored) FROM agent_status")
                   == [(hosts, hosts)], what="all hosts are stored")
        after = metrics(small.ingester)
        assert after["decima_ingester_hosts"] < hosts
        figure(f"{hosts} hosts in 64 MB: {after['decima_ingester_flushes_total']:.0f} flushes")


def test_a_new_spool_of_a_host_starts_again_at_sequence_number_1(cell, protos):
    for epoch in (10, 11):
        cell.produce(cpu_message(protos, "epochs", {(0x10,): 1}), key=b"epochs/1",
                     headers=headers(1, epoch=epoch))

    wait_until(lambda: found(cell, "epochs", 2), what="a batch of each spool")


def test_the_status_of_the_agent_is_stored(cell, protos):
    status = protos.status.AgentStatus(node=b"web-1", version=b"9.9", sampled=100)
    status.lost.add(reason=b"ring_full", samples=3)
    status.lost.add(reason=b"spool_full", samples=4)
    status.truncated.add(reason=b"too_deep", samples=5)

    cell.produce(cpu_message(protos, "status", {(0x10,): 1}), key=b"web-1/x",
                 headers=headers(1, status=status.SerializeToString()))

    wait_until(lambda: cell.rows(
        "SELECT node, version, sampled, lost, truncated FROM agent_status WHERE host = 'web-1/x'")
        == [("web-1", "9.9", 100, 7, 5)], what="the status")


@pytest.mark.parametrize("name, value, given, reason", [
    ("garbage", b"\xff\xff\xff not protobuf", None, "malformed"),
    ("cut", b"\x0a\x7f\x01", None, "truncated"),
    ("half a number", b"", {"decima-seq": b"1"}, "bad_headers"),
    ("no number", b"", {"decima-seq": b"x", "decima-epoch": b"1"}, "bad_headers"),
])
def test_an_invalid_message_is_rejected_and_the_partition_goes_on(
        cell, protos, name, value, given, reason):
    comm = "after " + name
    cell.produce(value, partition=0, headers=given, key=b"bad/1")
    cell.produce(cpu_message(protos, comm, {(0x10,): 1}), partition=0)

    wait_until(lambda: found(cell, comm, 1), what="the next message")

    count = int(sum(value for key, value in metrics(cell.ingester).items()
                    if key.startswith("decima_ingester_rejected_messages_total")))
    rejected = cell.consume(f"{cell.topic}.rejected", count)[-1]
    fields = dict(rejected.headers())
    assert (rejected.value() or b"") == value
    assert fields["decima-reason"].decode() == reason
    assert fields["decima-error"]
    assert fields["decima-source"].decode().startswith(f"{cell.topic}/0/")


def test_a_rejected_batch_counts_as_received(cell, protos):
    cell.produce(b"\x0a\x7f\x01", key=b"reject/1", headers=headers(1))
    cell.produce(cpu_message(protos, "reject", {(0x10,): 1}), key=b"reject/1", headers=headers(2))

    wait_until(lambda: found(cell, "reject", 1), what="the second batch")

    assert cell.rows("SELECT highest, missing::text, rejected_batches FROM agent_status"
                     " WHERE host = 'reject/1'") == [(2, "{}", 1)]


def test_samples_of_yesterday_are_stored_in_their_day(cell, protos):
    at = int(time.time() * 1000) - DAY_MS
    cell.produce(cpu_message(protos, "yesterday", {(0x10,): 4}, at_ms=at))

    window = {"start": (at - 60_000) / 1000, "end": (at + 60_000) / 1000}
    wait_until(lambda: found(cell, "yesterday", 4, **window), what="ticks of yesterday")

    assert cell.total('{comm="yesterday"}') == 0
    assert "yesterday" in cell.data("label/comm/values", **window)


@pytest.mark.reason("ingester.too_old", "ingester.too_far_ahead")
def test_samples_too_old_or_too_far_ahead_are_skipped_and_counted(cell, protos, moves):
    now = int(time.time() * 1000)
    with (moves("ingester.too_old", cell.ingester, by=2),
          moves("ingester.too_far_ahead", cell.ingester, by=3)):
        cell.produce(cpu_message(protos, "timeless", {(0x10,): 2}, at_ms=now - 30 * DAY_MS))
        cell.produce(cpu_message(protos, "timeless", {(0x10,): 3}, at_ms=now + 3_600_000))
        cell.produce(cpu_message(protos, "timeless", {(0x10,): 1}))

    wait_until(lambda: found(cell, "timeless", 1), what="the sample of now")


def test_nothing_is_lost_or_doubled_by_kill_9(cell, protos):
    sent = 0
    for round_ in range(3):
        for i in range(20):
            sent += 1
            cell.produce(cpu_message(protos, "killed", {(i,): 1}), key=b"killed/1",
                         headers=headers(sent))
            cell.produce(cpu_message(protos, "killed plain", {(i,): 1}), partition=i % 4)
        cell.ingester.kill()
        cell.start_service(cell.ingester)

    wait_until(lambda: found(cell, "killed", sent) and found(cell, "killed plain", sent),
               what="every batch")
    stays(lambda: found(cell, "killed", sent) and found(cell, "killed plain", sent), 1)


def test_two_ingesters_share_the_partitions(cell, protos):
    second = cell.start_service(cell.service("ingester", "second"))
    wait_until(lambda: [metrics(s)["decima_ingester_partitions_assigned"]
                        for s in (cell.ingester, second)] == [2, 2], what="two partitions each")

    for i in range(40):
        cell.produce(cpu_message(protos, "shared", {(i,): 1}), partition=i % 4)
    wait_until(lambda: found(cell, "shared", 40), what="all forty messages")
    assert metrics(second)["decima_ingester_samples_total"] >= 20

    second.stop()
    wait_until(lambda: counter(cell, "partitions_assigned") == 4, what="all four partitions")
    cell.produce(cpu_message(protos, "shared", {(99,): 1}), partition=3)
    wait_until(lambda: found(cell, "shared", 41), what="a message of a reassigned partition")


@pytest.mark.reason("ingester.fence_lost")
def test_a_partition_that_another_ingester_stored_is_read_again(cell, protos, moves):
    """The fence: an ingester that lost its partition flushes a buffer that is out of date."""
    name = f"{cell.name}_fence"
    with Cell(cell.fleet, name, partitions=1, flush_interval="3s") as slow:
        slow.start()
        slow.produce(cpu_message(protos, "fence", {(1,): 1}), partition=0)
        wait_until(lambda: offset_of(slow, 0) == 1, what="the first flush")

        for address in (2, 3, 4):
            slow.produce(cpu_message(protos, "fence", {(address,): 1}), partition=0)
        wait_until(lambda: counter(slow, "messages_total") == 4, what="three more in memory")
        with moves("ingester.fence_lost", slow.ingester, by=1):
            slow.rows("UPDATE consumer_offset SET next_offset = 3, last_timestamp_ms = NULL"
                      " RETURNING 1")

        wait_until(lambda: offset_of(slow, 0) == 4, what="the remaining messages")
        assert slow.collapsed('{comm="fence"}') == {("test+0x1",): PERIOD, ("test+0x4",): PERIOD}


@pytest.mark.reason("ingester.topic_reset")
def test_a_recreated_topic_is_reported_and_read_from_its_beginning(cell, protos, moves):
    with Cell(cell.fleet, f"{cell.name}_again", partitions=1) as again:
        again.start()
        for i in range(5):
            again.produce(cpu_message(protos, "old", {(i,): 1}), partition=0)
        wait_until(lambda: offset_of(again, 0) == 5, what="five stored")
        again.ingester.kill()

        admin = again.admin()
        admin.delete_topics([again.topic])[again.topic].result()
        wait_until(lambda: again.topic not in admin.list_topics(timeout=180).topics, what="deleted")
        topic = confluent_kafka.admin.NewTopic(again.topic, 1, 1)
        admin.create_topics([topic])[again.topic].result()
        for i in range(8):
            again.produce(cpu_message(protos, "new", {(i,): 1}), partition=0)
        with moves("ingester.topic_reset", again.ingester, by=1):
            again.start_service(again.ingester)

        wait_until(lambda: found(again, "new", 8), what="all messages of the new topic")
        assert found(again, "old", 5)


@pytest.mark.reason("ingester.missed")
def test_messages_deleted_by_retention_before_they_were_read_are_counted(cell, protos, moves):
    with Cell(cell.fleet, f"{cell.name}_gap", partitions=1) as gap:
        gap.start()
        gap.produce(cpu_message(protos, "kept", {(1,): 1}), partition=0)
        wait_until(lambda: offset_of(gap, 0) == 1, what="one stored")
        gap.ingester.kill()
        for i in range(6):
            gap.produce(cpu_message(protos, "kept", {(i,): 1}), partition=0)
        gap.delete_records(0, before=5)
        with moves("ingester.missed", gap.ingester, by=4):
            gap.start_service(gap.ingester)

        wait_until(lambda: found(gap, "kept", 3), what="the remaining messages")


def test_data_waits_in_kafka_while_postgresql_is_away(cell, protos):
    with Cell(cell.fleet, f"{cell.name}_away", partitions=1) as away:
        away.start()
        with cell.connect() as db:
            db.execute(f"ALTER DATABASE {away.database} ALLOW_CONNECTIONS false")
            db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                       (away.database,))
            away.produce(cpu_message(protos, "away", {(1,): 1}), key=b"away/1", headers=headers(1))
            wait_until(lambda: away.ingester.get("/ready")[0] == 503, what="not ready")
            assert away.ingester.get("/healthy")[0] == 200
            db.execute(f"ALTER DATABASE {away.database} ALLOW_CONNECTIONS true")

        wait_until(lambda: found(away, "away", 1), what="the batch")
        wait_until(lambda: away.ingester.get("/ready")[0] == 200, what="ready again")


@pytest.mark.reason("ingester.rejected_by_store")
def test_messages_that_postgresql_rejects_are_found_by_bisection(
        cell, protos, moves, figure):
    """PostgreSQL rejects no known message, so a trigger makes it reject one."""
    with Cell(cell.fleet, f"{cell.name}_refused", partitions=3, flush_interval="1s") as picky:
        picky.start()
        with picky.connect() as db:
            db.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                       " $$ BEGIN RAISE 'not this' USING ERRCODE = '22000'; END $$")
            db.execute("CREATE TRIGGER picky BEFORE INSERT ON label_pair FOR EACH ROW"
                       " WHEN (NEW.value = 'poison') EXECUTE FUNCTION refuse()")
        sound, bad = (cpu_message(protos, comm, {(1,): 1}) for comm in ("sound", "poison"))
        messages = [(sound, i % 3, None) for i in range(396)]
        messages[7:7] = [(bad, 0, 1)]
        messages[200:200] = [(bad, 1, None), (bad, 1, None)]
        messages[399:399] = [(bad, 2, None)]
        with moves("ingester.rejected_by_store", picky.ingester, by=4):
            picky.produce_all((value, {"partition": partition, "key": b"picky/1",
                                       "headers": headers(sequence) if sequence else {}})
                              for value, partition, sequence in messages)
            wait_until(lambda: found(picky, "sound", 396), 240, "all valid messages")

        wait_until(lambda: sum(offset_of(picky, p) for p in range(3)) == 400, what="all offsets")
        assert len(picky.consume(f"{picky.topic}.rejected", 4)) == 4
        assert picky.rows("SELECT rejected_batches FROM agent_status") == [(1,)]
        flushes = counter(picky, "flushes_total") + counter(picky, "flush_errors_total")
        figure(f"4 messages that PostgreSQL rejects found among 400 in {flushes:.0f} flushes")
        assert flushes < 250, "4 times log2(400), some retried; one by one it would be 400"

        picky.produce(cpu_message(protos, "sound", {(77,): 1}), partition=0)
        wait_until(lambda: found(picky, "sound", 397), what="a later message")


def test_after_postgresql_lost_commits_they_are_stored_again(cell, protos):
    """A crash loses the last commits (synchronous_commit=off), a failover may lose more."""
    with Cell(cell.fleet, f"{cell.name}_back", partitions=2) as back:
        back.start()
        for sequence in (1, 2, 3):
            back.produce(cpu_message(protos, "back", {(1,): 1}), partition=0, key=b"back/1",
                         headers=headers(sequence))
        back.produce(cpu_message(protos, "back plain", {(1,): 1}), partition=1)
        wait_until(lambda: found(back, "back", 3) and found(back, "back plain", 1), what="stored")

        with psycopg.connect(back.postgres_address) as db:
            db.execute("TRUNCATE chunk_raw, chunk, series, label_pair, agent_status,"
                       " consumer_offset")
            db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                       " WHERE datname = current_database() AND pid <> pg_backend_pid()")
        assert not offset_of(back, 0)

        wait_until(lambda: found(back, "back", 3) and found(back, "back plain", 1), what="restored")
        assert back.rows("SELECT highest, stored, duplicate_batches FROM agent_status") == [
            (3, 3, 0)]


def test_a_raw_hour_past_its_retention_is_dropped(cell):
    old = datetime.now(timezone.utc) - timedelta(days=8)
    name = f"chunk_raw_{old:%Y%m%d%H}"
    first, after = (f"{at:%Y-%m-%d %H}:00:00+00" for at in (old, old + timedelta(hours=1)))
    with cell.connect() as db:
        db.execute(f"CREATE TABLE {name} PARTITION OF chunk_raw"
                   f" FOR VALUES FROM ('{first}') TO ('{after}')")
    cell.ingester.kill()
    cell.start_service(cell.ingester)

    wait_until(lambda: cell.rows("SELECT to_regclass(%s)", name) == [(None,)], what="dropped")
