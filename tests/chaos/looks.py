# SPDX-License-Identifier: Apache-2.0
"""looks - somebody who looks at the fleet the whole time, whatever is done to it.

Each look is three: at PostgreSQL, in one snapshot, at the querier's /api/v1/fleet, and at its
answer to a question about everything. The sum of each host has to close at each look. What "closes"
is measured against:

    at the querier     sampled = stored + lost + in_flight, in_flight not below 0, and sampled and the
                       agent's own losses are what that agent said with one of its batches;
    at PostgreSQL      the offsets of the look say which messages are stored. Out of these messages,
                       read from the topic by topic.py, follow the numbers seen, the samples stored,
                       duplicate and rejected batches of each host, and the samples in all chunks.
                       in_flight = sampled - stored - lost is what the missing batches hold;
    in an answer       the sum over all hours, of rows, chunks and sums of hours, is that of the
                       messages below the offsets, where these are the same before and after it.

While PostgreSQL runs, nothing goes back. A look that PostgreSQL or the querier does not answer is
counted by its reason.
"""
import json
import threading
import time
from collections import Counter

import psycopg

from senders import OLD_S
from topic import Ledger
from truth import HOUR_S, OFFSETS, look_at, look_faults, shown

PAUSE_S = 0.1
CONNECT_S = 5
AGE_S = OLD_S[1] + HOUR_S  # a question is about so much, and that begins no hour


def sum_faults(host):
    """What is wrong with a host's entry in /api/v1/fleet, in itself."""
    lost = sum(host["lost"].values())
    if host["sampled"] != host["stored"] + lost + host["in_flight"]:
        yield f"the sum does not close: {host}"
    if host["in_flight"] < 0 or host.get("why"):
        yield f"less than nothing is in flight: {host}"


class Looker(threading.Thread):
    """Looks, and keeps the looks until `judge` is asked for."""

    def __init__(self, cell, began):
        super().__init__(daemon=True)
        self.cell, self.began = cell, began  # by the monotonic clock
        self.counts = Counter()  # looks, and those that failed, by reason
        self.longest_s = 0.0     # without a look at PostgreSQL
        self.faults = []         # what was wrong at once
        self._looks, self._fleets, self._answers = [], [], []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._db = None
        self._last = time.monotonic()

    def run(self):
        while not self._ended.wait(PAUSE_S):
            before = self._look_at_postgres()
            self._look_at_querier()
            if before:
                self._ask(before)
        if self._db:
            self._db.close()

    def close(self):
        self._ended.set()
        self.join()

    def _look_at_postgres(self):
        try:
            if self._db is None:
                self._db = psycopg.connect(self.cell.postgres_address, autocommit=True,
                                           connect_timeout=CONNECT_S, options=(
                                               "-c statement_timeout=20s"))
            look = look_at(self._db, self.cell.topic)
        except psycopg.errors.UndefinedTable:
            self.counts["looks before there was a schema"] += 1
            return
        except psycopg.Error:
            self._db = self._db and self._db.close()
            self.counts["looks that PostgreSQL did not answer"] += 1
            return
        with self._lock:
            self._looks.append(look)
        self.longest_s = max(self.longest_s, look.at - self._last)
        self._last = look.at
        self.counts["looks at PostgreSQL"] += 1
        return look

    def _ask(self, before):
        """The answer stands for the offsets if nothing was stored meanwhile."""
        now = int(time.time())
        status, body = self.cell.querier.get(
            f"/api/v1/query?query={{}}&report=collapsed&start={now - AGE_S}"
            f"&end={now - now % HOUR_S + HOUR_S}", timeout=20)
        if status != 200:
            self.counts[f"questions that were answered with {status or 'nothing'}"] += 1
            return
        try:
            started, = self._db.execute("SELECT pg_postmaster_start_time()").fetchone()
            offsets = dict(self._db.execute(OFFSETS, (self.cell.topic,)).fetchall())
        except psycopg.Error:
            return  # the next look finds out
        if (started, offsets) == (before.started, before.offsets):
            total = sum(int(line.rpartition(b" ")[2]) for line in body.splitlines())
            with self._lock:
                self._answers.append((before, total))

    def _look_at_querier(self):
        status, body = self.cell.querier.get("/api/v1/fleet", timeout=20)
        if status != 200:
            self.counts[f"looks that the querier answered with {status or 'nothing'}"] += 1
            return
        hosts = json.loads(body)["data"]
        self.counts["looks at the querier"] += 1
        self.faults += [fault for host in hosts for fault in sum_faults(host)]
        with self._lock:
            self._fleets.append(hosts)

    def judge(self, truth):
        """A sentence for each thing that was wrong at a look since the last time."""
        with self._lock:
            looks, self._looks = self._looks, []
            fleets, self._fleets = self._fleets, []
            answers, self._answers = self._answers, []
            found, self.faults = self.faults, []
        ledger, before = Ledger(truth), None
        for look in looks:
            ledger.move(look.offsets)
            wrong = list(look_faults(look, ledger))
            if before and before.started == look.started:
                wrong += went_back(before, look)
            found += [f"at {look.at - self.began:.2f} s: {fault}" for fault in wrong]
            before = look
            self.counts["sums that closed"] += len(look.hosts)
        for look, total in answers:
            ledger.move(look.offsets)
            self.counts["answers that were compared"] += 1
            if total != ledger.value():
                found.append(f"at {look.at - self.began:.2f} s: an answer adds up to {total} ns,"
                             f" the messages up to {look.offsets} to {ledger.value()}")
        said = words_of(truth)
        for hosts in fleets:
            found += [fault for host in hosts for fault in word_faults(host, said)]
            self.counts["sums that closed"] += len(hosts)
        return shown(found)


def went_back(before, look):
    for partition, offset in before.offsets.items():
        if look.offsets.get(partition, 0) < offset:
            yield f"partition {partition} went back from {offset} to {look.offsets.get(partition)}"
    for spool, row in before.hosts.items():
        now = look.hosts.get(spool)
        for name in ("highest", "sampled", "stored"):
            if not now or vars(now)[name] < vars(row)[name]:
                yield f"{spool}: {name} went back from {row} to {now}"


def words_of(truth):
    """{host: {(sampled, lost)}}: all that its agent ever said."""
    found = {}
    for (host, _), batches in truth.said.items():
        found.setdefault(host, set()).update(
            (word.sampled, tuple(sorted(word.lost.items()))) for word in batches.values())
    return found


def word_faults(host, said):
    """The agent's own reasons and `sampled` come from one batch; the ingester adds its reasons."""
    lost = tuple(sorted((r, n) for r, n in host["lost"].items() if r not in ("rejected", "gap")))
    if (host["sampled"], lost) not in said.get(host["host"], ()):
        yield f"the agent never said that: {host}"
