# SPDX-License-Identifier: Apache-2.0
"""snapshot - PostgreSQL's data as they were a while ago: taken with pg_basebackup while all goes
on, and put in the place of those there are.
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
MESSAGES = 20    # that going back takes away at least


@dataclass
class Gone:
    """What going back would take away."""
    seconds: float
    messages: int    # at least so many


class Snapshot:
    """One at a time: `tend` begins it and sees it through; `put_back` uses it up."""

    def __init__(self, cell):
        self.cell, self.postgres = cell, cell.fleet.postgres
        self.data = self.postgres.data.resolve()
        self.place = self.data.with_name("snapshot")
        self.running = self.taken = self.stored = None
        self.made = 0

    def tend(self):
        """To be called now and then."""
        if self.running is None and self.stored is None and self.postgres.alive():
            self._begin()
        elif self.running and self.running.poll() is not None:
            done, self.running = self.running.returncode == 0, None
            self.stored = self._count_stored() if done else None
            self.taken = time.monotonic()
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
        """Messages stored by now, and so at most in the snapshot."""
        try:
            return self.cell.rows("SELECT coalesce(sum(next_offset), 0)::bigint"
                                  " FROM consumer_offset WHERE topic = %s", self.cell.topic)[0][0]
        except psycopg.Error:
            return None

    def gone_since(self):
        """What put_back() would take away; None when there is no snapshot that is old enough."""
        if self.running or self.stored is None or time.monotonic() - self.taken < AGE_S:
            return None
        now = self._count_stored()
        if now is None or now - self.stored < MESSAGES:
            return None
        return Gone(time.monotonic() - self.taken, now - self.stored)

    def put_back(self):
        """PostgreSQL is down."""
        shutil.rmtree(self.data)
        self.place.rename(self.data)
        self.stored = None

    def forget(self):
        """Of another cell, or too old."""
        if self.running:
            self.running.kill()
            self.running.wait()
        self.running = self.stored = None
        self._clear()

    def _clear(self):
        shutil.rmtree(self.place, ignore_errors=True)
