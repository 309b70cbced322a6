# SPDX-License-Identifier: Apache-2.0
"""cards_servers - what is done to what the ingesters depend on: Kafka and PostgreSQL are killed,
PostgreSQL is put back to what it was a while ago, its disk fills, partitions are added, feeds are
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
ROOM_BYTES = 1 << 20   # at most so many are left on PostgreSQL's disk when it is filled


class ServerCards:
    def __init__(self):
        self.partitions = 0
        self.aged = set()  # names of partitions of what was merged long ago
        self.snapshot = Snapshot(self.cell)

    def kill_feed(self):
        feed = self.chance.choice(self.feeds)
        if not feed.alive():
            return False
        self.say(f"kill -9 {feed.name}")
        feed.kill()
        self.later(0, 1, f"start {feed.name}", lambda: self.launch(feed, feed.launch))
        return True

    def add_partitions(self):
        count = self.partitions + self.chance.randint(1, 2)
        if count > PARTITIONS_MAX or not self.servers.kafka.ready():
            return False
        wish = confluent_kafka.admin.NewPartitions(self.cell.topic, count)
        admin = self.cell.admin()
        try:
            admin.create_partitions([wish])[self.cell.topic].result(10)
        except confluent_kafka.KafkaException as e:
            self.say(f"partitions were not added: {e}")
            return False
        self.say(f"{count} partitions")
        self.partitions = self.sender.partitions = count
        return True

    def kill_kafka(self):
        kafka = self.servers.kafka
        if not kafka.alive():
            return False
        self.say("kill -9 Kafka")
        kafka.kill()
        self.later(0, 3, "start Kafka", lambda: self.launch(kafka, kafka.launch))
        return True

    def fill_postgres(self):
        """What it was writing fails; where that was its WAL, it ends, and cannot start."""
        disk, room = self.servers.postgres_disk, self.chance.randrange(ROOM_BYTES)
        if not disk or disk.is_full or not self.servers.postgres.ready() or not disk.fill(room):
            return False
        self.say(f"PostgreSQL's disk fills, {room} bytes are left")
        if self.chance.random() < 0.5:
            self._want_wal()
        self.later(1, 4, "room on PostgreSQL's disk", disk.make_room)
        return True

    def _want_wal(self):
        """A new segment, which is more than there is room for: PostgreSQL ends for it."""
        with contextlib.suppress(psycopg.Error), self.cell.connect() as db:
            for _ in range(3):
                db.execute("SELECT pg_switch_wal()")
                db.execute("SELECT txid_current()")

    def age_merged(self):
        """What was merged is as if that had been long ago: the next who looks drops it."""
        hour = datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0)
        first = hour - timedelta(hours=self.chance.randint(2, 20))
        name = f"chunk_raw_{first:%Y%m%d%H}"
        with psycopg.connect(self.cell.postgres_address) as db:
            db.execute("SET lock_timeout = '500ms'")
            db.execute(f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF chunk_raw FOR VALUES"
                       f" FROM ('{first}') TO ('{first + timedelta(hours=1)}')")
            done = db.execute("UPDATE chunk_raw SET arrival = %s, merged = %s"
                              " WHERE merged IS NOT NULL", (first, first))
            aged = done.rowcount
        self.aged.add(name)
        self.say(f"{aged} rows were merged long ago")
        self.counts["rows that were merged long ago"] += aged
        return True

    def count_gone(self, db):
        gone = [name for name in self.aged
                if db.execute("SELECT to_regclass(%s)", (name,)).fetchone() == (None,)]
        self.counts["partitions that were dropped"] = len(gone)

    def keep_postgres(self):
        """It may have ended for want of room, or not have come up: once there is some."""
        disk, postgres = self.servers.postgres_disk, self.servers.postgres
        is_owed = any(what == "start PostgreSQL" for _, what, _ in self.owed)
        if postgres.alive() or is_owed or not disk or disk.is_full:
            return
        self.say("start PostgreSQL, which had ended for want of room")
        self.counts["ends of PostgreSQL for want of room"] += 1
        self.launch(postgres, postgres.launch)

    def kill_postgres(self, number=signal.SIGKILL, how="kill -9 PostgreSQL"):
        postgres = self.servers.postgres
        if not postgres.alive():
            return False
        self.say(how)
        children = Path(f"/proc/{postgres.pid()}/task/{postgres.pid()}/children")
        pids = children.read_text().split()
        postgres.stop(number)
        # Orphans end by themselves, soon; until then nobody else may have the data.
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids),
                   what="PostgreSQL's children have ended")
        self.later(0, 2, "start PostgreSQL", lambda: self.launch(postgres, postgres.launch))
        return True

    def shut_postgres(self):
        return self.kill_postgres(signal.SIGQUIT, "immediate shutdown of PostgreSQL")

    def put_postgres_back(self, dead=None):
        """As a failover to a standby that lagged does, or a restored backup."""
        gone = self.snapshot.gone_since()
        if not gone:
            return False
        dead = self.chance.random() < 0.5 if dead is None else dead
        if dead:
            for ingester in self.running():
                self.kill_ingester(ingester, "before PostgreSQL goes back")
        self.kill_postgres(signal.SIGQUIT,
                           f"PostgreSQL goes back {gone.seconds:.1f} s, {gone.messages} messages,"
                           f" its ingesters {'dead' if dead else 'alive'}")
        self.snapshot.put_back()
        self.counts["messages that PostgreSQL went back by"] += gone.messages
        self.counts[f"put back with ingesters {'dead' if dead else 'alive'}"] += 1
        return True

    def end_backends(self):
        if not self.servers.postgres.ready():
            return False
        ended = self.cell.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            " AND application_name LIKE '%%ingester%%'", self.cell.database)
        if ended:
            self.say(f"end {len(ended)} backends of ingesters")
        return bool(ended)
