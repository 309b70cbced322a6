# SPDX-License-Identifier: Apache-2.0
"""Hours that are over are rolled up by series and stack: a query of whole hours reads the sums and
returns the same result; a query that needs more than the sums reads the chunks.
"""
import json
import time

import pytest

from harness import Cell, metrics, wait_until
from merged import merge_faults
from otlp_messages import PERIOD, cpu_message, heap_message

HEAP = "memory:inuse_space:bytes:space:bytes"
HOUR_MS = 3600_000
DAY_MS = 24 * HOUR_MS
HOURS = 3
ROUNDS = 6               # batches of a service in an hour, ten minutes apart
SERVICES = ("web", "db")
TICKS = {(1, 2): 3, (1, 3): 1, (4,): 2}
OF_BATCH = sum(TICKS.values())
WAITING = ("SELECT (SELECT count(*) FROM chunk_raw WHERE merged IS NULL AND NOT unreadable)"
           " + (SELECT count(*) FROM chunk WHERE rolled IS NULL AND NOT unreadable"
           " AND first_ms < %s)")


@pytest.fixture
def first_ms():
    """The beginning of the hours; the last of them ended at least an hour ago."""
    now_ms = int(time.time() * 1000)
    return now_ms - now_ms % HOUR_MS - (HOURS + 1) * HOUR_MS


def batches(first_ms):
    for hour in range(HOURS):
        for number in range(ROUNDS):
            for comm in SERVICES:
                at_ms = first_ms + hour * HOUR_MS + number * 600_000 + 1000
                yield comm, at_ms, hour * ROUNDS + number


@pytest.fixture
def cell(servers, protos, request, first_ms):
    name = request.node.originalname.removeprefix("test_")[:40]
    with Cell(servers, f"roll_{name}") as made:
        made.ingester.flags["compaction-age"] = "0s"
        made.start()
        for comm, at_ms, pid in batches(first_ms):
            made.produce(cpu_message(protos, comm, TICKS, at_ms=at_ms, pid=pid))
        total = HOURS * ROUNDS * len(SERVICES) * OF_BATCH
        wait_until(lambda: made.samples() == total, what="all is stored")
        yield made


def roll_up(cell, first_ms, **flags):
    """Start the ingester again and wait until all hours are rolled up."""
    cell.ingester.kill()
    cell.ingester.flags |= {"compaction-age": "100ms"} | flags
    cell.start_service(cell.ingester)
    until_rolled(cell, first_ms)


def until_rolled(cell, first_ms):
    wait_until(lambda: cell.rows(WAITING, first_ms + HOURS * HOUR_MS) == [(0,)],
               what="all hours are rolled up")


def windows(first_ms):
    """[start, end) in seconds: whole hours, and others."""
    first = first_ms // 1000
    yield from ((first, first + HOURS * 3600), (first + 3600, first + 7200),
                (first - 5000, first + 9999), (first + 1, first + HOURS * 3600 - 1),
                (first + 1800, first + 5400))


def results_of(cell, first_ms):
    found = []
    for start, end in windows(first_ms):
        window = {"start": start, "end": end}
        found += [cell.collapsed("{}", **window, group_by=by) for by in ("", "comm", "pid")]
        found += [cell.flamegraph('{comm="web"}', **window), cell.collapsed('{pid="3"}', **window)]
        table = cell.data("query", query="{}", report="table", **window)
        found.append((table["total"], sorted(map(str, table["rows"]))))
    for step in (60, 3600, 7200, 5000):
        start, end = next(windows(first_ms))
        graph = cell.data("query_range", query="{}", sum_by="comm", step=step, start=start, end=end)
        found.append(sorted(map(str, graph["result"])))
    return found


def samples_read(cell, query="{}", **params):
    """The number of samples that a response reports as read."""
    _, body = cell.api(params.pop("path", "query"), query=query, **params)
    return json.loads(body)["stats"]["samples_read"]


def test_results_are_the_same_from_sums(cell, first_ms, figure):
    before = results_of(cell, first_ms)

    roll_up(cell, first_ms)

    assert results_of(cell, first_ms) == before
    sums, = cell.rows("SELECT count(*), sum(samples)::bigint FROM rollup WHERE kind < 4")
    figure(f"rollup: {HOURS * ROUNDS * len(SERVICES) * OF_BATCH} samples became {sums[1]} sums in"
           f" {sums[0]} rows")
    assert sums[1] == HOURS * len(SERVICES) * len(TICKS)
    counters = metrics(cell.ingester)
    assert counters["decima_ingester_rolled_up_samples_total"] == (
        HOURS * ROUNDS * len(SERVICES) * OF_BATCH)
    assert counters["decima_ingester_rollups_total"] == sums[0]


def test_whole_hours_are_read_from_sums_alone(cell, first_ms):
    roll_up(cell, first_ms)
    hours = {"start": first_ms // 1000, "end": first_ms // 1000 + HOURS * 3600}
    sums = HOURS * len(SERVICES) * len(TICKS)
    all_samples = HOURS * ROUNDS * len(SERVICES) * OF_BATCH

    assert samples_read(cell, report="table", **hours) == sums
    assert samples_read(cell, report="table", group_by="comm", **hours) == sums
    assert samples_read(cell, report="table", group_by="pid", **hours) == all_samples
    assert samples_read(cell, path="query_range", step=3600, sum_by="comm", **hours) == sums
    assert samples_read(cell, path="query_range", step=600, sum_by="comm", **hours) == all_samples
    hours["end"] -= 1  # the last hour is not whole any more
    assert samples_read(cell, report="table", **hours) == (
        sums * (HOURS - 1) // HOURS + all_samples // HOURS)


def test_stacks_that_hosts_have_in_common_are_read_once(cell, protos, first_ms, figure):
    """A query without host labels reads sums of all hosts. An hour that has samples of one host is
    read by series, and an hour that is not rolled up yet is read from chunks."""
    hosts = 7
    for comm, at_ms, pid in batches(first_ms):
        if at_ms < first_ms + 2 * HOUR_MS:  # in the third hour there is one host
            for host in range(hosts):
                cell.produce(cpu_message(protos, comm, TICKS, node=f"n{host}", at_ms=at_ms,
                                         pid=pid))
    now_ms = int(time.time() * 1000)
    cell.produce(cpu_message(protos, "web", TICKS, node="n1", at_ms=now_ms))
    one_host = HOURS * ROUNDS * len(SERVICES) * OF_BATCH
    total = one_host + 2 * ROUNDS * len(SERVICES) * OF_BATCH * hosts + OF_BATCH
    wait_until(lambda: cell.samples() == total, what="all is stored")
    window = {"start": first_ms // 1000, "end": now_ms // 1000 + 10}

    def all_results():
        queries = [(query, by)
                   for by in ("", "comm", "comm,service_name", "node", "comm,node", "pid")
                   for query in ("{}", '{comm="web"}', '{service_name=~"d.*"}', '{comm!~"w.b"}',
                                 '{node="n3"}', '{nobody=""}', '{nobody="x"}', '{service_name=""}')]
        found = [cell.collapsed(query, **window, group_by=by) for query, by in queries]
        for by in ("", "comm", "node"):
            found.append(cell.data("query_range", query="{}", sum_by=by, step=3600, **window))
        found.append(cell.data("query_range", query="{}", step=3600, **window))
        return [str(sorted(map(str, result["result"]))) if "result" in result else result
                for result in found]
    raw = all_results()

    roll_up(cell, first_ms)

    assert all_results() == raw
    with cell.connect() as db:
        wrong, _ = merge_faults(db)
    assert wrong == []
    alone, sums, fleet = (dict(cell.rows("SELECT kind, sum(samples)::bigint FROM rollup"
                                         " GROUP BY kind")).get(kind) for kind in range(3))
    figure(f"rollup: {sums} sums of {hosts + 1} hosts became {fleet} without them")
    distinct = len(SERVICES) * len(TICKS)
    assert (alone, sums, fleet) == (distinct, 2 * distinct * (hosts + 1), 2 * distinct)
    for by in ("", "comm"):
        assert samples_read(cell, report="table", group_by=by, **window) == 3 * distinct + OF_BATCH
    assert samples_read(cell, report="table", group_by="node", **window) == sums + alone + OF_BATCH
    assert samples_read(cell, query='{node!=""}', report="table",
                        **window) == sums + alone + OF_BATCH
    assert samples_read(cell, path="query_range", step=3600, sum_by="comm",
                        **window) == 3 * distinct + OF_BATCH


def test_whole_days_are_read_from_sums_of_days(cell, protos, first_ms, figure):
    """Hours of one host and of several, in two days that are over; late samples are added."""
    first_day_ms = first_ms - first_ms % DAY_MS - 4 * DAY_MS
    expected = cell.samples()

    def send(days, hosts):
        for day in days:
            for number, (comm, at_ms, pid) in enumerate(batches(first_day_ms + day * DAY_MS)):
                for host in range(hosts if number % 2 else 1):
                    cell.produce(cpu_message(protos, comm, TICKS, node=f"n{host}", at_ms=at_ms,
                                             pid=pid))
                    yield OF_BATCH
    expected += sum(send(range(2), 4))
    wait_until(lambda: cell.samples() == expected, what="all is stored")
    first = first_day_ms // 1000
    days = {"start": first, "end": first + 2 * 86400}

    def all_results():
        found = []
        for start, end in ((0, 2), (0, 1), (1, 2), (-1, 5), (0.5, 2), (0, 1.01), (0.02, 1.9)):
            window = {"start": first + start * 86400, "end": first + end * 86400}
            for query in ("{}", '{comm="web"}', '{node="n0"}', '{pid="3"}'):
                found += [cell.collapsed(query, **window, group_by=by)
                          for by in ("", "comm", "node")]
        for step, align in ((3600, 0), (86400, 0), (86400, 1), (43200, 1)):
            graph = cell.data("query_range", query="{}", sum_by="comm", step=step, align=align,
                              **days)
            found.append({str(line["metric"]) + str(at): int(value)
                          for line in graph["result"] for at, value in line["values"]})
        return found
    raw = all_results()

    roll_up(cell, first_ms)

    def until_folded():
        until_rolled(cell, first_ms)
        wait_until(lambda: cell.rows("SELECT count(*) FROM rollup WHERE folded IS NULL"
                                     " AND kind IN (0, 2) AND first_ms < %s",
                                     first_day_ms + 2 * DAY_MS) == [(0,)],
                   what="the days are rolled up")
    until_folded()
    assert all_results() == raw
    with cell.connect() as db:
        wrong, _ = merge_faults(db)
    assert wrong == []
    distinct = len(SERVICES) * len(TICKS)
    kinds = dict(cell.rows("SELECT kind, sum(samples)::bigint FROM rollup WHERE first_ms < %s"
                           " GROUP BY kind", first_day_ms + 2 * DAY_MS))
    figure(f"rollup: sums of two days by kind: {kinds}")
    assert kinds[4] == 2 * distinct
    assert samples_read(cell, report="table", **days) == 2 * distinct
    assert samples_read(cell, report="table", group_by="comm", **days) == 2 * distinct
    assert samples_read(cell, path="query_range", step=86400, sum_by="", **days) == 2 * distinct
    by_hours = samples_read(cell, path="query_range", step=3600, sum_by="", **days)
    assert by_hours == 2 * HOURS * distinct

    expected += sum(send(range(2), 4))
    wait_until(lambda: cell.samples() == expected, what="all is stored twice")
    until_folded()
    assert cell.total("{}", **days) == 2 * sum(raw[0].values())
    assert cell.collapsed("{}", **days, group_by="node") == {
        key: 2 * value for key, value in raw[2].items()}


def heaps(cell, protos, first_ms):
    """Sends heap profiles of two processes of web in the first two hours, one each minute: one
    process grows, the other ends after half an hour. Returns the number of samples."""
    for minute in range(120):
        at_ms = first_ms + minute * 60_000 + 7
        cell.produce(heap_message(protos, "web", at_ms, {(1, 2): 1000 * minute, (4,): 10}, pid=1))
        if minute < 30:
            cell.produce(heap_message(protos, "web", at_ms, {(1, 2): 600}, pid=2))
    return 120 * 2 + 30


def test_a_gauge_is_the_same_mean_from_sums(cell, protos, first_ms, figure):
    """Raw and rolled up: by process, by the hour, and in windows that begin within an hour."""
    before = cell.samples()
    count = heaps(cell, protos, first_ms)
    wait_until(lambda: cell.samples() == before + count, what="heaps are stored")

    def all_results():
        found = []
        for start, end in windows(first_ms):
            window = {"start": start, "end": end}
            found += [cell.collapsed(HEAP + "{}", **window, group_by=by)
                        for by in ("", "comm", "pid", "thread_name")]
            found.append(cell.collapsed(HEAP + '{pid="2"}', **window))
        start, end = next(windows(first_ms))
        for step in (600, 3600, 7200):
            found.append(cell.data("query_range", query=HEAP + "{}", step=step, start=start,
                                     end=end, sum_by="comm")["result"])
        return found
    raw = all_results()
    # an hour's mean: pid 1 grew from 0 to 59,000 bytes; pid 2 existed for half of the hour
    hour = {"start": first_ms // 1000, "end": first_ms // 1000 + 3600}
    assert cell.total(HEAP + "{}", **hour) == 29_500 + 10 + 300

    roll_up(cell, first_ms)

    assert all_results() == raw
    kept, = cell.rows("SELECT sum(samples)::bigint FROM rollup WHERE kind = 3")[0]
    figure(f"rollup: {count} samples of heaps became {kept}")
    assert kept == 60 + 60 + 30  # one for each profile, since there are fewer stacks
    assert samples_read(cell, query=HEAP + "{}", report="table", **hour) == 60 + 30
    assert samples_read(cell, query=HEAP + "{}", report="table", group_by="pid", **hour) == 60 + 30


def test_gauges_of_chunks_rolled_up_without_gauges_are_read_from_chunks(cell, protos, first_ms):
    """An older ingester rolled chunks up without their gauges."""
    before = cell.samples()
    count = heaps(cell, protos, first_ms)
    wait_until(lambda: cell.samples() == before + count, what="heaps are stored")
    hours = {"start": first_ms // 1000, "end": first_ms // 1000 + HOURS * 3600}
    raw = cell.collapsed(HEAP + "{}", **hours), cell.collapsed("{}", **hours)

    roll_up(cell, first_ms)
    cell.ingester.kill()
    with cell.connect() as db:
        db.execute("DELETE FROM rollup WHERE kind > 1")
        db.execute("UPDATE rollup SET kind = 0")
        db.execute("UPDATE chunk SET gauges = false")

    assert (cell.collapsed(HEAP + "{}", **hours), cell.collapsed("{}", **hours)) == raw


def test_late_samples_are_added_to_the_sums(cell, protos, first_ms):
    roll_up(cell, first_ms)
    hours = {"start": first_ms // 1000, "end": first_ms // 1000 + HOURS * 3600}
    before = cell.collapsed("{}", **hours, group_by="comm")

    for comm, at_ms, pid in batches(first_ms):
        cell.produce(cpu_message(protos, comm, TICKS, at_ms=at_ms + 60_000, pid=pid))

    doubled = {stack: 2 * value for stack, value in before.items()}
    wait_until(lambda: cell.collapsed("{}", **hours, group_by="comm") == doubled, what="the sums")
    until_rolled(cell, first_ms)
    assert cell.collapsed("{}", **hours, group_by="comm") == doubled
    assert cell.total("{}", **hours) == 2 * HOURS * ROUNDS * len(SERVICES) * OF_BATCH * PERIOD


def test_a_damaged_chunk_stays_and_the_others_are_rolled_up(cell, first_ms):
    with cell.connect() as db:  # the first hour's chunks are damaged at their INSERT
        db.execute("CREATE FUNCTION damage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                   " IF NEW.first_ms < %s THEN NEW.payload := set_byte(NEW.payload, 40,"
                   " 255 - get_byte(NEW.payload, 40)); END IF; RETURN NEW; END $$"
                   % (first_ms + HOUR_MS))
        db.execute("CREATE TRIGGER damage BEFORE INSERT ON chunk FOR EACH ROW"
                   " EXECUTE FUNCTION damage()")

    roll_up(cell, first_ms)

    (aside,), = cell.rows("SELECT sum(samples)::bigint FROM chunk WHERE unreadable")
    assert aside == ROUNDS * len(SERVICES) * OF_BATCH
    assert cell.rows("SELECT sum(samples)::bigint FROM rollup WHERE kind <> 4") == [
        ((HOURS - 1) * len(SERVICES) * len(TICKS),)]


def test_sums_are_kept_longer_than_samples(cell, first_ms):
    """A day's series and sums stay for --retention-rollup, its chunks for --retention-raw."""
    days = (5, 12)
    names = {}
    with cell.connect() as db:
        for ago in days:
            (day,), = db.execute("SELECT to_char(now() AT TIME ZONE 'UTC' - %s * interval '1 day',"
                                 " 'YYYYMMDD')", (ago,)).fetchall()
            for table in ("chunk", "rollup", "series", "label_pair"):
                names[ago, table] = f"{table}_{day}"
                db.execute(f"CREATE TABLE IF NOT EXISTS {table}_{day} PARTITION OF {table} FOR"
                           f" VALUES FROM ('{day}') TO (date '{day}' + 1)")

    roll_up(cell, first_ms, **{"retention-raw": "3d", "retention-rollup": "8d"})

    def left(ago):
        return {table for (days_ago, table), name in names.items() if days_ago == ago
                and cell.rows("SELECT to_regclass(%s)", name) != [(None,)]}
    wait_until(lambda: not left(12), what="the day past both retentions is dropped")
    assert left(5) == {"rollup", "series", "label_pair"}


def test_a_warning_names_the_time_of_which_only_sums_are_left(cell, protos, first_ms):
    """Chunks of four days ago are gone: a response that needs them warns of the missing time."""
    old_ms = first_ms - first_ms % DAY_MS - 4 * DAY_MS + 10 * HOUR_MS
    before = cell.samples()
    for comm, at_ms, pid in batches(old_ms):
        cell.produce(cpu_message(protos, comm, TICKS, at_ms=at_ms, pid=pid))
    count = HOURS * ROUNDS * len(SERVICES) * OF_BATCH
    wait_until(lambda: cell.samples() == before + count, what="the old samples are stored")
    roll_up(cell, first_ms)
    day = time.strftime("%Y%m%d", time.gmtime(old_ms / 1000))
    with cell.connect() as db:
        db.execute(f"ALTER TABLE chunk DETACH PARTITION chunk_{day}")

    def result(path="query", **more):
        params = {"query": "{}", "start": old_ms // 1000, "end": old_ms // 1000 + HOURS * 3600}
        if path == "query":
            params["report"] = "table"
        status, body = cell.api(path, **(params | more))
        assert status == 200, body
        response = json.loads(body)
        data = response["data"]
        total = data["total"] if path == "query" else sum(
            int(value) for line in data["result"] for _, value in line["values"])
        return total // PERIOD, response.get("warnings", [])

    def moment(seconds):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(old_ms // 1000 + seconds))

    def series(selector, start=0, end=HOURS * 3600):
        found = cell.data("series", **{"match[]": selector}, start=old_ms // 1000 + start,
                          end=old_ms // 1000 + end)
        return sorted(labels["comm"] for labels in found)

    assert series("{}") == series("{}", 3600, 7200) == sorted(SERVICES)
    assert series('{comm!="web"}') == sorted(set(SERVICES) - {"web"})
    assert series('{pid="3"}') == series("{}", 1200, 2400) == []
    assert result() == (count, [])
    total, (warning,) = result(start=old_ms // 1000 + 1200)
    assert total == count * 2 // 3
    assert warning.startswith(f"retention: of {moment(1200)} to {moment(3600)} only sums")
    total, (first, last) = result(start=old_ms // 1000 + 1200, end=old_ms // 1000 + 3 * 3600 - 1)
    assert total == count // 3
    assert f"{moment(2 * 3600)} to {moment(3 * 3600 - 1)}" in last and first == warning
    total, (warning,) = result(group_by="pid")
    assert total == 0 and f"{moment(0)} to {moment(3 * 3600)}" in warning
    assert result("query_range", step=3600) == (count, [])
    total, (warning,) = result("query_range", step=1800)
    assert total == 0 and warning.startswith("retention: ")
    # where no sample was, no sample is missing; without a step, long windows use whole hours
    wide = {"start": old_ms // 1000 - 3 * 86400 - 77, "end": int(time.time())}
    assert result(**wide) == (2 * count, [])
    assert result("query_range", **wide) == (2 * count, [])
    assert result("query_range", **wide, step=7200, align=1) == (2 * count, [])
    total, (warning,) = result("query_range", **wide, step=7200)
    assert total < 2 * count
