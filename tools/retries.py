# SPDX-License-Identifier: Apache-2.0
"""retries - remembers which tests passed only when they were retried, in tests/retries.tsv.

Each whole `make test` adds a row: the date, the commit, and a column for each retried test. The
file is committed together with the change that was tested. A test that was retried in two of the
last ten runs fails the run until it is mended; the commit that mends it removes its name. A run
with failures and without a retried test adds no row.
"""
import datetime
import subprocess
from collections import Counter

from local.servers import ROOT

RECORD = ROOT / "tests" / "retries.tsv"
WINDOW = 10  # runs in which a test may be retried once
KEPT = 100  # rows of the file


def add(names, record=RECORD):
    """Adds this run's row; returns a sentence for each test that was retried too often."""
    rows = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    now = datetime.datetime.now(datetime.timezone.utc)
    rows.append("\t".join([now.strftime("%Y-%m-%dT%H:%MZ"), commit(), *sorted(names)]))
    rows.sort(key=lambda row: row.partition("\t")[0])  # a merge keeps the rows of both sides
    record.write_text("".join(f"{row}\n" for row in rows[-KEPT:]), encoding="utf-8")
    return list(too_often(rows))


def too_often(rows):
    last = [set(row.split("\t")[2:]) for row in rows[-WINDOW:]]
    counts = Counter(name for names in last for name in names)
    for name, count in sorted(counts.items()):
        if count > 1:
            yield (f"{name}: retried in {count} of the last {len(last)} runs; mend it, and remove "
                   f"its name from tests/{RECORD.name}")


def commit():
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, check=False,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.strip() or "unknown"
