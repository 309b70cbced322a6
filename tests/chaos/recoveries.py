# SPDX-License-Identifier: Apache-2.0
"""recoveries - events that destroy data for good. One of them ends each cell of test_chaos.py.

    topic recreated   The topic is deleted and created again, with fewer, the same number of, or
                      more partitions.
    old backup        PostgreSQL is restored from a backup, and Kafka no longer has all messages
                      that were stored since.
    both empty        The database and the topic are dropped.

The feeds send through their spools meanwhile. What may be missing is computed: the messages that
neither Kafka nor PostgreSQL has any more. All others must be stored, each once, by themselves, and
the numbers of the missing batches must be in agent_status.
"""
from collections import Counter

import confluent_kafka
import confluent_kafka.admin
import psycopg

from evidence import keep_log
from harness import wait_until
from observer import sum_differences
from senders import OLD_S
from topic import Ledger, Message
from truth import observation_differences, observe, offsets, shown, stored_values

FEED_S = 3
DEADLINE_S = 300
FEED_PERIOD = 1000       # nanoseconds of each sample of spool_feed
RECOVERIES = ("recreate_with_fewer", "recreate_with_same", "recreate_with_more",
              "restore_old_backup", "lose_both")


class Recovery:
    def __init__(self, run):
        self.run, self.cell, self.chaos = run, run.cell, run.chaos
        self.truth, self.sender, self.feeds = run.truth, run.sender, run.feeds
        nodes = Counter(feed.node for feed in self.feeds)
        self.alone = [feed for feed in self.feeds if nodes[feed.node] == 1]

    def play(self, name):
        """Everything is stored and was compared before. Returns a sentence for each fault."""
        self.chaos.log(f"recovery: {name.replace('_', ' ')}")
        found = getattr(self, name)()
        self.chaos.counts[name] += 1
        self.chaos.log("recovered")
        return shown(found)

    # The topic is recreated

    def recreate_with_fewer(self):
        return self.recreate(max(1, self.chaos.partitions - 2))

    def recreate_with_same(self):
        return self.recreate(self.chaos.partitions)

    def recreate_with_more(self):
        return self.recreate(self.chaos.partitions + 2)

    def recreate(self, partitions):
        before = self.all_messages()
        self.start_feeds()
        self.delete_topic()
        self.run.let_pass(self.chaos.rng.uniform(0, 2))
        self.create_topic(partitions)
        after = self.send_to_new_topic()
        return self.compare(before + self.stored_in_between() + after)

    # Kafka and PostgreSQL are empty

    def lose_both(self):
        self.start_feeds()
        with psycopg.connect(self.cell.fleet.postgres.address("postgres"), autocommit=True) as db:
            db.execute(f"DROP DATABASE {self.cell.database} WITH (FORCE)")
            self.delete_topic()
            db.execute(f"CREATE DATABASE {self.cell.database}")
        # The test does not create the topic: an ingester must.
        self.wait(self.has_topic, "an ingester has created the topic")
        after = self.send_to_new_topic()
        return self.compare(self.stored_in_between() + after)

    # PostgreSQL is restored from a backup

    def restore_old_backup(self):
        snapshot = self.chaos.snapshot
        snapshot.discard()
        self.wait(lambda: snapshot.poll() or snapshot.stored, "the backup is made")
        kept = offsets(self.cell)
        self.send_everywhere()
        self.truth.read()
        self.wait(self.is_settled, "all messages are stored")
        gone = self.expire(kept)
        self.start_feeds()
        if self.chaos.rng.random() < 0.5:
            for ingester in self.chaos.running():
                self.chaos.kill_ingester(ingester, "before PostgreSQL is restored")
        self.chaos.shut_postgres()
        snapshot.restore()
        self.chaos.heal()
        self.send_everywhere()
        self.truth.read()
        self.wait(self.is_settled, "all messages are stored")
        self.chaos.counts["messages that Kafka lost"] += sum(map(len, gone.values()))
        return self.compare([message for partition, messages in self.truth.messages.items()
                             for offset, message in enumerate(messages)
                             if offset not in gone.get(partition, ())])

    def expire(self, kept):
        """Kafka's retention removes messages that were stored after the backup. Returns
        {partition: range of offsets} of those that are then lost."""
        gone = {}
        for partition, end in self.truth.ends.items():
            first = kept.get(partition, 0)
            low = self.chaos.rng.randint(first, end)
            if low > first:
                self.cell.delete_records(partition, low)
                gone[partition] = range(first, low)
        return gone

    # The load

    def start_feeds(self):
        """Those that have a node of their own: the stored pids are the numbers of one spool."""
        for feed in self.alone:
            keep_log(feed)
            feed.feed(FEED_S)

    def send_everywhere(self):
        """All senders send for a while, and Kafka has it all."""
        for feed in self.feeds:
            if not feed.alive():
                keep_log(feed)
                feed.feed(FEED_S)
        if self.run.agent:
            self.chaos.launch_agent()
        self.sender.go_on()
        self.run.let_pass(FEED_S)
        self.run.settle_senders(DEADLINE_S)

    def send_to_new_topic(self):
        """Returns the messages of the new topic, once all are stored."""
        self.truth.restart()
        self.sender.reconnect()
        self.send_everywhere()
        self.truth.read()
        self.wait(self.is_settled, "all messages of the new topic are stored")
        return self.all_messages()

    # Kafka

    def topics(self):
        try:
            return self.cell.admin().list_topics(timeout=30).topics
        except confluent_kafka.KafkaException as e:
            raise AssertionError(str(e)) from None

    def has_topic(self):
        """The topic, if all of its partitions have a leader."""
        topic = self.topics().get(self.cell.topic)
        if not topic or topic.error or any(p.error for p in topic.partitions.values()):
            return False
        self.chaos.partitions = self.sender.partitions = len(topic.partitions)
        return True

    def delete_topic(self):
        admin = self.cell.admin()
        admin.delete_topics([self.cell.topic])[self.cell.topic].result(60)
        self.wait(self.is_deleted, "the topic is deleted")
        self.chaos.log("the topic is deleted")

    def is_deleted(self):
        """True also if an ingester has created it again already: it then has fewer messages."""
        topic = self.topics().get(self.cell.topic)
        if not topic or topic.error:
            return True
        consumer = confluent_kafka.Consumer(self.cell.kafka_settings(**{"group.id": "recovery"}))
        try:
            return sum(self.truth.ends.values()) > sum(
                consumer.get_watermark_offsets(
                    confluent_kafka.TopicPartition(self.cell.topic, partition), timeout=5)[1]
                for partition in topic.partitions)
        except confluent_kafka.KafkaException as e:
            raise AssertionError(str(e)) from None
        finally:
            consumer.close()

    def create_topic(self, partitions):
        """Create it, or if an ingester was faster, add partitions."""
        admin = self.cell.admin()
        topic = confluent_kafka.admin.NewTopic(self.cell.topic, partitions, 1)
        try:
            admin.create_topics([topic])[self.cell.topic].result(60)
        except confluent_kafka.KafkaException as e:
            assert e.args[0].code() == confluent_kafka.KafkaError.TOPIC_ALREADY_EXISTS, e
        self.wait(self.has_topic, "the topic is created")
        self.chaos.log(f"the topic has {self.chaos.partitions} partitions")

    # The comparison

    def wait(self, predicate, what):
        def is_so():
            self.run.let_pass(0.1)
            return predicate()
        wait_until(is_so, DEADLINE_S, what)

    def is_settled(self):
        """Offsets of partitions that the new topic no longer has stay in the table."""
        self.run.check_alive()
        try:
            have = offsets(self.cell)
        except psycopg.Error:  # the tables are not created yet
            return False
        have = {partition: have.get(partition, 0) for partition in range(self.chaos.partitions)}
        ends = {partition: self.truth.ends.get(partition, 0) for partition in have}
        assert have == ends, f"offsets {have}, and the topic ends at {ends}"
        return True

    def all_messages(self):
        return [message for messages in self.truth.messages.values() for message in messages]

    def stored_in_between(self):
        """The batches of the feeds that were on the deleted topic after it was read, and are
        stored. The pid of a feed's sample is the batch's number."""
        stored = stored_values(self.cell, self.run.began - OLD_S[1])
        found = []
        for feed in self.alone:
            spool, = (s for s in self.truth.reported if s[0].startswith(f"{feed.node}/"))
            for number in range(1, feed.last + 1):
                if number not in self.truth.reported[spool]:
                    self.truth.report_feed(spool, number)
                    if stored[feed.node, number]:
                        found.append(Message(spool, number, 1, FEED_PERIOD))
        self.chaos.counts["batches stored from a deleted topic"] += len(found)
        return found

    def compare(self, messages):
        """PostgreSQL stores these messages, each once, and agent_status names the missing
        batches."""
        ledger = Ledger(self.truth)
        ledger.put(messages)
        with self.cell.connect() as db:
            observation = observe(db, self.cell.topic)
        for spool, account in ledger.accounts.items():
            is_feed = spool[0].split("/")[0] in {feed.node for feed in self.feeds}
            if is_feed and spool in observation.hosts:
                # A feed repeats a batch whose acknowledgement was lost with the topic.
                account.duplicates = observation.hosts[spool].duplicates
        found = list(observation_differences(observation, ledger))
        self.chaos.counts["batches reported as missing"] += sum(
            len(row.missing) for row in observation.hosts.values())
        stored = sum(stored_values(self.cell, self.run.began - OLD_S[1]).values())
        if stored != ledger.value():
            found.append(f"{stored} ns are stored, {ledger.value()} were expected")
        return found + self.fleet_faults(ledger)

    def fleet_faults(self, ledger):
        """The fleet shows the same: its hosts are balanced, and what is missing is not hidden."""
        stored = Counter()
        for (host, _), account in ledger.accounts.items():
            stored[host] += account.stored
        hosts = self.cell.data("fleet")
        found = [fault for host in hosts for fault in sum_differences(host)]
        for host in hosts:
            if host["stored"] != stored.pop(host["host"], None):
                found.append(f"the fleet shows another count of stored samples: {host}")
        return found + [f"{host} is not in the fleet" for host in stored]
