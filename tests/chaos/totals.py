# SPDX-License-Identifier: Apache-2.0
"""totals - the counts of a run, printed at its end, whether it passed or not."""
import time
from collections import Counter


class Totals:
    def __init__(self, seed):
        self.seed = seed
        self.began = time.monotonic()
        self.rounds = self.batches = self.samples = self.plain = self.snapshots = 0
        self.faults, self.observations_by, self.lost = Counter(), Counter(), Counter()
        self.merged = Counter()
        self.met = set()  # failpoints
        self.rows = []    # stored, of each ingester
        self.longest_s = self.took_s = 0.0

    @property
    def observations(self):
        return self.observations_by["observations of PostgreSQL"]

    def count_round(self):
        self.rounds += 1

    def add(self, chaos_run):
        """Add the counts of a run that has ended."""
        truth = chaos_run.truth
        self.took_s = time.monotonic() - self.began
        self.faults += chaos_run.chaos.counts
        self.snapshots += chaos_run.chaos.snapshot.made
        self.rows += chaos_run.chaos.stored.values()
        self.met |= set(chaos_run.chaos.met)
        self.observations_by += chaos_run.observer.counts
        self.longest_s = max(self.longest_s, chaos_run.observer.longest_s)
        self.merged += chaos_run.merged
        self.plain += chaos_run.sender.plain
        for batches in truth.reported.values():
            self.batches += len(batches)
            self.samples += sum(reported.samples for reported in batches.values())
            self.lost += Counter(batches[max(batches)].lost)

    def lines(self):
        yield (f"chaos: {self.rounds} rounds passed in {self.took_s:.0f} s, seed {self.seed}:"
               f" {self.batches} batches with {self.samples} samples,"
               f" {self.plain} messages without a number")
        yield from table("injected faults", self.faults + Counter(snapshots_made=self.snapshots))
        yield from table("observations", self.observations_by)
        yield f"    the longest time without an observation was {self.longest_s:.1f} s"
        yield from table("merged rows and rollups that were compared", self.merged)
        yield from table("lost by the agent, by reason", self.lost)
        yield (f"ingesters that stored rows: {len(self.rows)}, each"
               f" {min(self.rows, default=0)} at least, {sum(self.rows)} in all")


def table(title, counts):
    yield f"{title}:"
    for name, count in sorted(counts.items()):
        yield f"{count:10,}  {name.replace('_', ' ')}"
    if not counts:
        yield "    nothing"
