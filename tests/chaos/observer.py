# SPDX-License-Identifier: Apache-2.0
"""observer - a thread that observes the fleet all the time while faults are injected.

An observation reads PostgreSQL in one snapshot, the querier's /api/v1/fleet, and the querier's
result of a query of all samples. The balance of each host is checked at each observation:

    querier        sampled = stored + lost + in_flight, in_flight is not negative, and `sampled` and
                   the agent's own losses are those that the agent reported with one of its batches.
    PostgreSQL     The offsets of the snapshot state which messages are stored. topic.py reads these
                   messages from the topic and derives the received sequence numbers, the stored
                   samples, the duplicate and rejected batches of each host, and the samples in all
                   chunks. in_flight = sampled - stored - lost equals the samples of the missing
                   batches.
    query result   The sum over all hours (rows, chunks and rollups) equals that of the messages
                   below the offsets, if the offsets are the same before and after the query.

While PostgreSQL runs, no count decreases. If PostgreSQL or the querier does not respond, the
observation is counted by its reason.
"""
import json
import threading
import time
from collections import Counter

import psycopg

from senders import OLD_S
from topic import Ledger
from truth import HOUR_S, OFFSETS, observe, observation_differences, shown

PAUSE_S = 0.1
CONNECT_S = 5
AGE_S = OLD_S[1] + HOUR_S  # the window of a query; it does not start at a full hour


def sum_differences(host):
    """Inconsistencies within a host's entry in /api/v1/fleet."""
    lost = sum(host["lost"].values())
    if host["sampled"] != host["stored"] + lost + host["in_flight"]:
        yield f"the balance is wrong: {host}"
    if host["in_flight"] < 0 or host.get("why"):
        yield f"in_flight is negative: {host}"


class Observer(threading.Thread):
    """Observes, and keeps the observations until `judge` is called."""

    def __init__(self, cell, began):
        super().__init__(daemon=True)
        self.cell, self.began = cell, began  # by the monotonic clock
        self.counts = Counter()  # observations, and failed ones by reason
        self.longest_s = 0.0     # without an observation of PostgreSQL
        self.faults = []         # differences found at once
        self._observations, self._fleets, self._results = [], [], []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._db = None
        self._last = time.monotonic()

    def run(self):
        while not self._ended.wait(PAUSE_S):
            before = self._observe_postgres()
            self._observe_querier()
            if before:
                self._query(before)
        if self._db:
            self._db.close()

    @property
    def is_closed(self):
        return self._ended.is_set()

    def close(self):
        self._ended.set()
        self.join()

    def _observe_postgres(self):
        try:
            if self._db is None:
                self._db = psycopg.connect(self.cell.postgres_address, autocommit=True,
                                           connect_timeout=CONNECT_S, options=(
                                               "-c statement_timeout=20s"))
            observation = observe(self._db, self.cell.topic)
        except psycopg.errors.UndefinedTable:
            self.counts["observations before there was a schema"] += 1
            return
        except psycopg.Error:
            self._db = self._db and self._db.close()
            self.counts["observations that failed at PostgreSQL"] += 1
            return
        with self._lock:
            self._observations.append(observation)
        self.longest_s = max(self.longest_s, observation.at - self._last)
        self._last = observation.at
        self.counts["observations of PostgreSQL"] += 1
        return observation

    def _query(self, before):
        """The result belongs to the offsets if they are the same before and after the query."""
        now = int(time.time())
        status, body = self.cell.querier.get(
            f"/api/v1/query?query={{}}&report=collapsed&start={now - AGE_S}"
            f"&end={now - now % HOUR_S + HOUR_S}", timeout=20)
        if status != 200:
            self.counts[f"queries with status {status or 'no response'}"] += 1
            return
        try:
            started, = self._db.execute("SELECT pg_postmaster_start_time()").fetchone()
            offsets = dict(self._db.execute(OFFSETS, (self.cell.topic,)).fetchall())
        except psycopg.Error:
            return  # the next observation counts it
        if (started, offsets) == (before.started, before.offsets):
            total = sum(int(line.rpartition(b" ")[2]) for line in body.splitlines())
            with self._lock:
                self._results.append((before, total))

    def _observe_querier(self):
        status, body = self.cell.querier.get("/api/v1/fleet", timeout=20)
        if status != 200:
            self.counts[f"observations of the querier with status {status or 'no response'}"] += 1
            return
        hosts = json.loads(body)["data"]
        self.counts["observations of the querier"] += 1
        self.faults += [fault for host in hosts for fault in sum_differences(host)]
        with self._lock:
            self._fleets.append(hosts)

    def judge(self, truth):
        """A sentence for each difference in the observations since the last call."""
        with self._lock:
            observations, self._observations = self._observations, []
            fleets, self._fleets = self._fleets, []
            results, self._results = self._results, []
            found, self.faults = self.faults, []
        ledger, before = Ledger(truth), None
        for observation in observations:
            ledger.move(observation.offsets)
            wrong = list(observation_differences(observation, ledger))
            if before and before.started == observation.started:
                wrong += went_back(before, observation)
            found += [f"at {observation.at - self.began:.2f} s: {fault}" for fault in wrong]
            before = observation
            self.counts["balances that were checked"] += len(observation.hosts)
        for observation, total in results:
            ledger.move(observation.offsets)
            self.counts["query results that were compared"] += 1
            if total != ledger.value():
                found.append(f"at {observation.at - self.began:.2f} s: a query adds up to {total}"
                             f" ns, the messages up to {observation.offsets} to {ledger.value()}")
        reported = reported_counts(truth)
        for hosts in fleets:
            found += [fault for host in hosts for fault in reported_differences(host, reported)]
            self.counts["balances that were checked"] += len(hosts)
        return shown(found)


def went_back(before, observation):
    for partition, offset in before.offsets.items():
        if observation.offsets.get(partition, 0) < offset:
            yield (f"partition {partition} went back from {offset} to"
                   f" {observation.offsets.get(partition)}")
    for spool, row in before.hosts.items():
        now = observation.hosts.get(spool)
        for name in ("highest", "sampled", "stored"):
            if not now or vars(now)[name] < vars(row)[name]:
                yield f"{spool}: {name} went back from {row} to {now}"


def reported_counts(truth):
    """{host: {(sampled, lost)}}: every pair that its agent has reported."""
    found = {}
    for (host, _), batches in truth.reported.items():
        pairs = {(counts.sampled, tuple(sorted(counts.lost.items())))
                 for counts in batches.values()}
        # The host's counts are the sums over its spools, of which one may not have been seen yet.
        before = found.get(host, set())
        found[host] = before | pairs | {added(one, other) for one in before for other in pairs}
    return found


def added(one, other):
    lost = Counter(dict(one[1])) + Counter(dict(other[1]))
    return one[0] + other[0], tuple(sorted(lost.items()))


def reported_differences(host, reported):
    """The agent's own reasons and `sampled` come from one batch; the ingester adds its reasons."""
    lost = tuple(sorted((r, n) for r, n in host["lost"].items() if r not in ("rejected", "gap")))
    if (host["sampled"], lost) not in reported.get(host["host"], ()):
        yield f"the agent has not reported these counts: {host}"
