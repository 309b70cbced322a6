# SPDX-License-Identifier: Apache-2.0
"""faults_servers - faults of what the ingesters depend on: Kafka and PostgreSQL are killed,
PostgreSQL is restored from an older snapshot, its disk fills, partitions are added, feeds are
killed.
"""
import contextlib
import signal
from datetime import datetime, timedelta, timezone
from pathlib import Path

import confluent_kafka.admin
import psycopg

from harness import wait_until
from snapshot import Snapshot

PARTITIONS_MAX = 12
ROOM_BYTES = 1 << 20   # upper bound of the free bytes of PostgreSQL's full disk


class ServerFaults:
    def __init__(self):
        self.partitions = 0
        self.aged = set()  # partitions whose rows were marked as merged long ago
        self.snapshot = Snapshot(self.cell)

    def kill_feed(self):
        feed = self.rng.choice(self.feeds)
        if not feed.alive():
            return False
        self.log(f"kill -9 {feed.name}")
        feed.kill()
        self.schedule(0, 1, f"start {feed.name}", lambda: self.launch(feed, feed.launch))
        return True

    def add_partitions(self):
        count = self.partitions + self.rng.randint(1, 2)
        if count > PARTITIONS_MAX or not self.servers.kafka.ready():
            return False
        request = confluent_kafka.admin.NewPartitions(self.cell.topic, count)
        admin = self.cell.admin()
        try:
            admin.create_partitions([request])[self.cell.topic].result(10)
        except confluent_kafka.KafkaException as e:
            self.log(f"partitions were not added: {e}")
            return False
        self.log(f"{count} partitions")
        self.partitions = self.sender.partitions = count
        return True

    def kill_kafka(self):
        kafka = self.servers.kafka
        if not kafka.alive():
            return False
        self.log("kill -9 Kafka")
        kafka.kill()
        self.schedule(0, 3, "start Kafka", lambda: self.launch(kafka, kafka.launch))
        return True

    def fill_postgres(self):
        """Its writes fail. If a write of the WAL fails, PostgreSQL exits and cannot start."""
        disk, room = self.servers.postgres_disk, self.rng.randrange(ROOM_BYTES)
        if not disk or disk.is_full or not self.servers.postgres.ready() or not disk.fill(room):
            return False
        self.log(f"PostgreSQL's disk fills, {room} bytes are left")
        if self.rng.random() < 0.5:
            self._request_wal()
        self.schedule(1, 4, "free PostgreSQL's disk", disk.make_room)
        return True

    def _request_wal(self):
        """Require a new WAL segment, for which there is no space: PostgreSQL exits."""
        with contextlib.suppress(psycopg.Error), self.cell.connect() as db:
            for _ in range(3):
                db.execute("SELECT pg_switch_wal()")
                db.execute("SELECT txid_current()")

    def age_merged(self):
        """Mark merged rows as merged long ago: the next maintenance drops their partition."""
        hour = datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0)
        first = hour - timedelta(hours=self.rng.randint(2, 20))
        name = f"chunk_raw_{first:%Y%m%d%H}"
        with psycopg.connect(self.cell.postgres_address) as db:
            db.execute("SET lock_timeout = '500ms'")
            db.execute(f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF chunk_raw FOR VALUES"
                       f" FROM ('{first}') TO ('{first + timedelta(hours=1)}')")
            done = db.execute("UPDATE chunk_raw SET arrival = %s, merged = %s"
                              " WHERE merged IS NOT NULL", (first, first))
            aged = done.rowcount
        self.aged.add(name)
        self.log(f"{aged} rows are marked as merged long ago")
        self.counts["rows that were merged long ago"] += aged
        return True

    def count_dropped(self, db):
        dropped = [name for name in self.aged
                   if db.execute("SELECT to_regclass(%s)", (name,)).fetchone() == (None,)]
        self.counts["partitions that were dropped"] = len(dropped)

    def restart_postgres(self):
        """Start PostgreSQL if it exited because its disk was full, once the disk is freed."""
        disk, postgres = self.servers.postgres_disk, self.servers.postgres
        is_scheduled = any(what == "start PostgreSQL" for _, what, _ in self.pending)
        if postgres.alive() or is_scheduled or not disk or disk.is_full:
            return
        self.log("start PostgreSQL, which exited because its disk was full")
        self.counts["exits of PostgreSQL because its disk was full"] += 1
        self.launch(postgres, postgres.launch)

    def kill_postgres(self, number=signal.SIGKILL, how="kill -9 PostgreSQL"):
        postgres = self.servers.postgres
        if not postgres.alive():
            return False
        self.log(how)
        children = Path(f"/proc/{postgres.pid()}/task/{postgres.pid()}/children")
        pids = children.read_text().split()
        postgres.stop(number)
        # Orphans exit by themselves soon; until then no other PostgreSQL may use the data.
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids),
                   what="PostgreSQL's children have exited")
        self.schedule(0, 2, "start PostgreSQL", lambda: self.launch(postgres, postgres.launch))
        return True

    def shut_postgres(self):
        return self.kill_postgres(signal.SIGQUIT, "immediate shutdown of PostgreSQL")

    def restore_postgres(self, dead=None):
        """Lose the last commits, as a failover to a lagging standby or a restored backup does."""
        loss = self.snapshot.lost_by_restore()
        if not loss:
            return False
        dead = self.rng.random() < 0.5 if dead is None else dead
        if dead:
            for ingester in self.running():
                self.kill_ingester(ingester, "before PostgreSQL is restored")
        self.kill_postgres(signal.SIGQUIT,
                           f"PostgreSQL is restored: {loss.seconds:.1f} s, {loss.messages} messages"
                           f" lost, its ingesters {'dead' if dead else 'alive'}")
        self.snapshot.restore()
        self.counts["messages that restores lost"] += loss.messages
        self.counts[f"restored with ingesters {'dead' if dead else 'alive'}"] += 1
        return True

    def end_backends(self):
        if not self.servers.postgres.ready():
            return False
        ended = self.cell.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            " AND application_name LIKE '%%ingester%%'", self.cell.database)
        if ended:
            self.log(f"terminate {len(ended)} backends of ingesters")
        return bool(ended)
