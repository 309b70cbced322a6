# SPDX-License-Identifier: Apache-2.0
"""snapshot - an older copy of PostgreSQL's data: made with pg_basebackup while the load runs, and
restored in place of the current data.
"""
import os
import shutil
import subprocess
import time
from dataclasses import dataclass

import psycopg

from local.process import as_user, clean_environment
from local.servers import PG_BIN

AGE_S = 2        # ten flush intervals
MESSAGES = 20    # that a restore loses at least


@dataclass
class RestoreLoss:
    """What a restore would lose."""
    seconds: float
    messages: int    # a lower bound


class Snapshot:
    """One at a time: `poll` starts and completes it; `restore` consumes it."""

    def __init__(self, cell):
        self.cell, self.postgres = cell, cell.fleet.postgres
        self.data = self.postgres.data.resolve()
        self.place = self.data.with_name("snapshot")
        self.running = self.made_at = self.stored = None
        self.made = 0

    def poll(self):
        """Start a snapshot or record that it is complete. To be called periodically."""
        if self.running is None and self.stored is None and self.postgres.alive():
            self._begin()
        elif self.running and self.running.poll() is not None:
            done, self.running = self.running.returncode == 0, None
            self.stored = self._count_stored() if done else None
            self.made_at = time.monotonic()
            self.made += done

    def _begin(self):
        self._clear()
        self.place.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(self.place, "postgres", "postgres")
        self.running = subprocess.Popen(
            [PG_BIN / "pg_basebackup", "--dbname", self.postgres.address("postgres"), "--pgdata",
             self.place, "--checkpoint=fast", "--wal-method=fetch", "--no-sync"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=clean_environment(), cwd="/", **as_user("postgres"))

    def _count_stored(self):
        """Messages stored now: an upper bound of those in the snapshot."""
        try:
            return self.cell.rows("SELECT coalesce(sum(next_offset), 0)::bigint"
                                  " FROM consumer_offset WHERE topic = %s", self.cell.topic)[0][0]
        except psycopg.Error:
            return None

    def lost_by_restore(self):
        """What restore() would lose; None if no snapshot is old enough."""
        if self.running or self.stored is None or time.monotonic() - self.made_at < AGE_S:
            return None
        now = self._count_stored()
        if now is None or now - self.stored < MESSAGES:
            return None
        return RestoreLoss(time.monotonic() - self.made_at, now - self.stored)

    def restore(self):
        """Replace the data. PostgreSQL must be down."""
        shutil.rmtree(self.data)
        self.place.rename(self.data)
        self.stored = None

    def discard(self):
        """Remove the snapshot."""
        if self.running:
            self.running.kill()
            self.running.wait()
        self.running = self.stored = None
        self._clear()

    def _clear(self):
        shutil.rmtree(self.place, ignore_errors=True)
