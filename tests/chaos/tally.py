# SPDX-License-Identifier: Apache-2.0
"""tally - what a run did and saw, added up: printed at its end, whether it held or not."""
import time
from collections import Counter


class Tally:
    def __init__(self, seed):
        self.seed = seed
        self.began = time.monotonic()
        self.rounds = self.batches = self.samples = self.plain = self.snapshots = 0
        self.faults, self.looks_by, self.lost = Counter(), Counter(), Counter()
        self.merged = Counter()
        self.met = set()  # failpoints
        self.rows = []    # that each ingester stored
        self.longest_s = self.took_s = 0.0

    @property
    def looks(self):
        return self.looks_by["looks at PostgreSQL"]

    def count_round(self):
        self.rounds += 1

    def add(self, game):
        """A game that has ended."""
        truth = game.truth
        self.took_s = time.monotonic() - self.began
        self.faults += game.chaos.counts
        self.snapshots += game.chaos.snapshot.made
        self.rows += game.chaos.stored.values()
        self.met |= set(game.chaos.met)
        self.looks_by += game.looker.counts
        self.longest_s = max(self.longest_s, game.looker.longest_s)
        self.merged += game.merged
        self.plain += game.sender.plain
        for batches in truth.said.values():
            self.batches += len(batches)
            self.samples += sum(said.samples for said in batches.values())
            self.lost += Counter(batches[max(batches)].lost)

    def lines(self):
        yield (f"chaos: {self.rounds} rounds held in {self.took_s:.0f} s, seed {self.seed}:"
               f" {self.batches} batches with {self.samples} samples,"
               f" {self.plain} messages without a number")
        yield from table("done to them", self.faults + Counter(snapshots_taken=self.snapshots))
        yield from table("looks", self.looks_by)
        yield f"    the longest time without one was {self.longest_s:.1f} s"
        yield from table("merged and summed up, and compared", self.merged)
        yield from table("lost by the agent, by name", self.lost)
        yield (f"ingesters that stored rows: {len(self.rows)}, each"
               f" {min(self.rows, default=0)} at least, {sum(self.rows)} in all")


def table(title, counts):
    yield f"{title}:"
    for name, count in sorted(counts.items()):
        yield f"{count:10,}  {name.replace('_', ' ')}"
    if not counts:
        yield "    nothing"
