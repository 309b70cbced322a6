# SPDX-License-Identifier: Apache-2.0
"""merged - checks that chunks and rollups contain exactly the samples of their source rows.

Compacted raw rows remain for a quarter of an hour, so one snapshot can read both sides.
tests/chunk_dump decodes the rows one at a time and this module adds them up; it shares no code with
compaction, rollup or queries.
"""
import os
import struct
import subprocess
from collections import Counter, defaultdict, namedtuple
from pathlib import Path

from harness import ROOT

SHOWN = 10
WRAPS = 1 << 64
HOUR_MS = 3600_000
DAY_MS = 24 * HOUR_MS
GAUGE = ("memory:inuse_", "goroutine:", "threadcreate:")
ALONE, SERIES, FLEET, GAUGES, DAY = range(5)  # the kinds of store/compact/rollup.h
SUMMED = "in chunks that were rolled up", "in their rollups"

Sample = namedtuple("Sample", "series type time_ms value stack labels")


def read_rows(db, table, where="true"):
    """[[Sample]] of rows; their columns must agree with their payloads."""
    columns = db.execute("SELECT tableoid::regclass::text, first_ms, last_ms, samples, payload"
                         f" FROM {table} WHERE {where}").fetchall()
    samples = dump([payload for *_, payload in columns])
    found = []
    for number, (partition, first_ms, last_ms, count, _) in enumerate(columns):
        row = samples[number]
        times = [sample.time_ms for sample in row]
        by_columns, by_payload = (first_ms, last_ms, count), (min(times), max(times), len(times))
        assert by_columns == by_payload, f"{partition}: columns {by_columns}, payload {by_payload}"
        found.append(row)
    return found


def dump(payloads):
    """{index of the row: [Sample]}"""
    program = Path(os.environ.get("DECIMA_TEST_BUILD", ROOT / "build")) / "tests" / "chunk_dump"
    given = b"".join(struct.pack(">I", len(payload)) + payload for payload in payloads)
    done = subprocess.run([program], input=given, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found = defaultdict(list)
    for line in done.stdout.decode().splitlines():
        number, series, type_, time_ms, value, stack, labels = line.split("\t")
        found[int(number)].append(Sample(series, type_, int(time_ms), int(value), stack, labels))
    return found


def each(rows):
    """{sample: number of its occurrences}"""
    return Counter(sample for row in rows for sample in row)


def sums(rows, key_of):
    """{key: sum modulo 2^64}"""
    found = Counter()
    for sample in (sample for row in rows for sample in row):
        key = key_of(sample)
        found[key] = (found[key] + sample.value) % WRAPS
    return found


def hour_of(sample):
    return sample.time_ms - sample.time_ms % HOUR_MS


def by_series(sample):
    return hour_of(sample), sample.series, sample.type, sample.stack


def by_stack(sample):
    return hour_of(sample), sample.type, sample.stack


def by_stack_and_day(sample):
    return sample.time_ms - sample.time_ms % DAY_MS, sample.type, sample.stack


def by_process(sample):
    pids = [label for label in sample.labels.split(",") if label.startswith("pid=")]
    return hour_of(sample), sample.series, sample.type, *pids


def by_stack_of_process(sample):
    return *by_process(sample), sample.stack


def times(rows):
    """{(process, time): 1}: the times of each process's profiles, without repetitions."""
    return Counter({(*by_process(sample), sample.time_ms): 1 for row in rows for sample in row})


def gauges(rows, are_wanted):
    return [[sample for sample in row if sample.type.startswith(GAUGE) == are_wanted]
            for row in rows]


def merge_faults(db, is_whole=True):
    """(sentences, counts): the differences in one snapshot, and the numbers of compared objects.

    is_whole: no compacted raw row was dropped yet. Otherwise chunks may contain more samples.
    """
    with db.transaction():
        db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return faults_of(db, is_whole)


def faults_of(db, is_whole=True):
    """The same as merge_faults(), in the current transaction of the caller."""
    raw = read_rows(db, "chunk_raw", "merged IS NOT NULL AND NOT joined")
    joined = read_rows(db, "chunk_raw", "merged IS NULL AND joined AND NOT unreadable")
    chunks = read_rows(db, "chunk", "NOT unreadable")
    rolled = read_rows(db, "chunk", "rolled IS NOT NULL AND NOT unreadable")
    alone, of_series, of_fleet, of_gauges, of_days = (
        read_rows(db, "rollup", f"kind = {kind}")
        for kind in (ALONE, SERIES, FLEET, GAUGES, DAY))
    folded = read_rows(db, "rollup", "folded IS NOT NULL")
    summed, with_gauges = gauges(rolled, False), gauges(rolled, True)
    wanted = sums(summed, by_series)
    merged, chunked = each(raw), each(chunks + joined)
    found = differences(merged, chunked if is_whole else merged & chunked,
                        "in compacted raw rows", "in chunks and coalesced rows")
    found += differences(wanted, sums(alone + of_series, by_series), *SUMMED)
    found += differences(sums(summed, by_stack), sums(alone + of_fleet, by_stack), *SUMMED)
    found += differences(sums(folded, by_stack_and_day), sums(of_days, by_stack_and_day),
                         "in rollups of hours", "in the rollups of their days")
    found += differences(sums(with_gauges, by_stack_of_process),
                         sums(of_gauges, by_stack_of_process), *SUMMED)
    found += differences(times(with_gauges), times(of_gauges), *SUMMED)
    return found, Counter({"rows that were merged": len(raw), "chunks": len(chunks),
                           "joined rows": len(joined),
                           "chunks that were summed up": len(rolled),
                           "rollups": len(alone + of_series),
                           "rollups of gauges": len(of_gauges),
                           "samples compared with what was merged": sum(map(len, raw)),
                           "sums compared": len(wanted),
                           "gauges compared": sum(map(len, with_gauges)),
                           "hours that were summed up by the day": len(folded)})


def differences(wanted, found, where_wanted, where_found):
    """Sentences about keys whose values differ; a missing value counts as 0."""
    wrong = [f"{key}: {wanted[key]} {where_wanted}, {found[key]} {where_found}"
             for key in sorted(wanted.keys() | found.keys()) if wanted[key] != found[key]]
    return wrong[:SHOWN] + ([f"and {len(wrong) - SHOWN} more"] if wrong[SHOWN:] else [])
