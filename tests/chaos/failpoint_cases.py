# SPDX-License-Identifier: Apache-2.0
"""failpoint_cases - a process meets a failpoint, is away for a while and comes back: the stories of
test_failpoints.py.
"""
import os
import re
import signal
import time
from collections import Counter
from pathlib import Path

from blows import SERVERS
from harness import Cell, metrics
from merged import merge_faults
from otlp_messages import cpu_message, headers
from side_by_side import until
from topic import Truth
from truth import differences, offsets

PARTITIONS = 4
VOLLEY = 5         # batches of each host
TICKS = 3          # samples of a batch
EPOCH = 1_700_000_000_000_000_000
HELD_UP_S = 45     # sessions and transactions of one that is away end after 10 s each
STOPPED_S = 5      # an agent; an ingester until another one has stored everything
AT_VISIT = 2       # of an agent: the first batch went its way
BATCHES_AFTER = 3

# What PostgreSQL shows of the backend of one that stands there: state, event, last statement.
BACKENDS = {
    "after-series": ("idle", "ClientRead", "INSERT INTO series"),
    "in-copy": ("active", "ClientRead", "COPY chunk_raw"),
    "after-copy": ("idle in transaction", "ClientRead", "COPY chunk_raw"),
    "after-fence": ("idle in transaction", "ClientRead", "INSERT INTO consumer_offset"),
    "after-commit": ("idle", "ClientRead", "COMMIT"),
    "before-compaction": ("idle in transaction", "ClientRead", "SELECT first_ms"),
    "in-compaction": ("idle in transaction", "ClientRead", "COPY chunk ("),
    "in-rollup": ("idle in transaction", "ClientRead", "COPY rollup ("),
    "after-compaction": ("idle", "ClientRead", "COMMIT"),
}
MERGING = ("before-compaction", "in-compaction", "in-rollup", "after-compaction")
OVER_MS = 2 * 3600_000  # ago an hour is over, and is summed up once it is merged


def is_stopped(process):
    pid = process.pid()
    stat = Path(f"/proc/{pid}/stat").read_text() if pid else ""
    return stat.rpartition(")")[2].split()[:1] == ["T"]


def local_ports(pid):
    """Of a process's connections over TCP. (To name its connections would hide it from the
    janitor, which ends those of its own kind alone.)"""
    sockets = {os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [row.split() for row in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return [int(row[1].partition(":")[2], 16) for row in rows if f"socket:[{row[9]}]" in sockets]


def stop(process):
    """As a service is stopped: in order."""
    os.close(process.send(signal.SIGTERM))
    yield from until(lambda: process.exit_code() is not None, f"{process.name} has stopped")
    assert process.exit_code() == 0, process.last_words()


class Case:
    """One process that meets a failpoint, on a topic of its own, and its story.

    `what` is done to it there: kill, stop; or it is stopped and, when all of the `meeting` are, one
    of SERVERS is done.
    """

    def __init__(self, servers, protos, point, what, meeting):
        self.point, self.what, self.protos, self.meeting = point, what, protos, meeting
        self.action = "stop" if what in SERVERS else what
        self.name = f"{point}-{what}"
        self.cell = Cell(servers, self.name.replace("-", "_"), partitions=PARTITIONS)
        self.truth = Truth(self.cell, protos)
        self.began, self.sent_from = time.monotonic(), time.time() - 1

    def say(self, text):
        print(f"{time.monotonic() - self.began:6.2f} s  {self.name}: {text}", flush=True)

    def fail(self, why):
        logs = [f"log of {process.name}:\n{process.last_words(15)}"
                for process in self.cell.processes()]
        raise AssertionError("\n".join([f"{self.name}: {why!r}", *logs])) from why

    def is_there(self, process):
        """It has said where it is, and there it ended or stands."""
        said = f'msg="failpoint" name={self.point} action={self.action}'
        assert said in process.last_words(20), process.last_words()
        if self.action == "stop":
            return is_stopped(process)
        assert process.exit_code() in (None, -signal.SIGKILL), process.last_words()
        return process.exit_code() == -signal.SIGKILL

    def launch(self, service):
        service.launch({"DECIMA_POSTGRES": self.cell.postgres_address})

    def compare(self, nodes):
        """What is stored is what the topic holds, and nothing is missing."""
        self.launch(self.cell.querier)
        yield from until(self.cell.querier.ready, "the querier is ready")
        self.truth.read()
        yield from until(lambda: offsets(self.cell) == self.truth.ends, "all is stored")
        found = differences(self.truth, self.sent_from)
        with self.cell.connect() as db:
            found += merge_faults(db)[0]
        assert not found, "\n".join(found)
        hosts = self.cell.data("fleet")
        assert {host["node"] for host in hosts} == nodes
        for host in hosts:
            lost = sum(host["lost"].values())
            assert host["sampled"] == host["stored"] + lost + host["in_flight"], host
            assert host["in_flight"] == 0 and host["missing"] == 0, host
        self.say("all is stored, once")


def numbers_of(truth, node):
    """[(epoch, number)] of a host's batches on the topic, in order."""
    return sorted((epoch, number) for (host, epoch), spool in truth.spools.items()
                  for number in spool.numbers if host.startswith(f"{node}/"))


class IngesterCase(Case):
    """Two ingesters share a topic; one of them meets the failpoint and is away, until the other has
    stored everything or a server was killed. Then it comes back."""

    def __init__(self, servers, protos, point, what, meeting):
        super().__init__(servers, protos, point, what, meeting)
        more = {"failpoints": f"{point}={self.action}"}
        if point == "in-revoke":
            more["flush-interval"] = "60s"  # it has something to drop
        # Rows are merged meanwhile, but where its COPY or its COMMIT would be taken for a flush's.
        merges = point != "in-copy" and not self.loses_commit
        self.cell.ingester.flags["compaction-age"] = "100ms" if merges else "0s"
        self.cell.ingester_flags["compaction-age"] = "100ms" if merges else "0s"
        if point in MERGING:
            self.cell.ingester.flags["compaction-age"] = "0s"  # until the other one has been there
        self.armed = self.cell.service("ingester", "armed", more)
        self.other = self.cell.ingester
        self.sequence, self.ends = 0, Counter()

    def volley(self):
        """Some batches of a host for each partition; the last comes twice."""
        for _ in range(VOLLEY):
            self.sequence += 1
            for host in range(PARTITIONS):
                self.send(host)
        for host in range(PARTITIONS):
            self.send(host)

    def send(self, host):
        node, number = f"host-{host}", self.sequence
        status = self.protos.status.AgentStatus(
            node=node.encode(), sampled=number * TICKS, batch_samples=TICKS)
        at_ms = int(time.time() * 1000) - OVER_MS * (self.point in MERGING)
        value = cpu_message(self.protos, "failpoints", {(0x10, number): TICKS}, node=node,
                            pid=number, at_ms=at_ms)
        self.cell.produce(value, key=f"{node}/id".encode(), partition=host, headers=headers(
            number, EPOCH, status.SerializeToString()))
        self.ends[host] += 1

    def is_stored(self):
        have = offsets(self.cell)
        assert have == self.ends, f"offsets {have}, and the topic ends at {dict(self.ends)}"
        return True

    def has_partitions(self, ingester, count):
        def has():
            assert ingester.alive(), ingester.last_words()
            assigned = metrics(ingester)["decima_ingester_partitions_assigned"]
            return ingester.ready() and assigned == count
        return until(has, f"{ingester.name} has {count} partitions")

    def story(self):
        self.launch(self.armed)
        yield from self.has_partitions(self.armed, PARTITIONS)
        if self.point == "in-revoke":
            yield from self.meet_in_revoke()
        else:
            yield from self.meet_in_flush()
        self.say("it is there")
        self.assert_place()
        if self.what in SERVERS:
            yield from self.meet_the_blow()
        else:
            self.volley()
            yield from until(self.is_stored, "the other one has stored all there is", HELD_UP_S)
            self.say("the other one has stored all there is")
        assert not self.armed.alive() or is_stopped(self.armed), "it did not stay away"
        self.come_back()
        for ingester in (self.armed, self.other):
            yield from self.has_partitions(ingester, PARTITIONS // 2)
        self.say("it is back")
        self.volley()
        yield from stop(self.armed)
        yield from until(self.is_stored, "both have stored all there is")
        yield from self.compare({f"host-{host}" for host in range(PARTITIONS)})
        assert self.truth.ends == self.ends

    @property
    def loses_commit(self):
        """It is alone then, and the last to commit, so that it is its commit that is lost."""
        return (self.point, self.what) == ("after-commit", "postgres-killed")

    def meet_in_flush(self):
        if self.loses_commit:
            yield from until(lambda: self.meeting.missing == 1, "all others are there")
        else:
            self.launch(self.other)
            for ingester in (self.armed, self.other):
                yield from self.has_partitions(ingester, PARTITIONS // 2)
        self.volley()
        yield from until(lambda: self.is_there(self.armed), "it is there")

    def meet_in_revoke(self):
        self.volley()
        sent = sum(self.ends.values())
        yield from until(lambda: metrics(self.armed)["decima_ingester_messages_total"] == sent,
                         "all is read and nothing stored")
        self.launch(self.other)
        yield from until(lambda: self.is_there(self.armed), "it is there")
        assert not offsets(self.cell), "it was to drop what it had read"

    def meet_the_blow(self):
        assert offsets(self.cell) or not self.loses_commit, "it was to have committed"
        yield from self.meeting.join()
        self.say(self.what)
        if self.loses_commit:
            assert not offsets(self.cell), "its commit was to be lost"
            self.launch(self.other)

    def assert_place(self):
        """What PostgreSQL shows is what the table says of the failpoint."""
        if self.action == "kill" or self.point not in BACKENDS:
            return
        state, event, statement = BACKENDS[self.point]
        ports = local_ports(self.armed.pid())
        found = self.cell.rows("SELECT state, wait_event, query FROM pg_stat_activity"
                               " WHERE datname = current_database() AND client_port = ANY (%s)",
                               ports)
        assert any(row[:2] == (state, event) and row[2].startswith(statement)
                   for row in found), found
        if self.point == "in-copy":
            came = self.cell.rows("SELECT bytes_processed FROM pg_stat_progress_copy JOIN"
                                  " pg_stat_activity USING (pid, datname) WHERE datname ="
                                  " current_database() AND client_port = ANY (%s)", ports)
            assert came and came[0][0] > 0, f"the COPY has brought {came} bytes"

    def come_back(self):
        if self.action == "stop":
            os.close(self.armed.send(signal.SIGCONT))
            return
        self.armed.flags["failpoints"] = None
        self.launch(self.armed)


class AgentCase(Case):
    """A real agent meets the failpoint and is away for a while; what was in its spool by then
    arrives once."""

    def __init__(self, servers, protos, point, what, meeting):
        super().__init__(servers, protos, point, what, meeting)
        self.agent = self.cell.service("agent", flags={
            "node": self.name, "profiling-duration": "1s",
            "failpoints": f"{point}={self.action}:{AT_VISIT}"})

    def story(self):
        self.launch(self.cell.ingester)
        yield from until(self.cell.ingester.ready, "the topic is there")
        self.agent.launch()
        yield from until(lambda: self.is_there(self.agent), "it is there")
        self.say("it is there")
        spooled = self.in_spool()
        self.truth.read()
        self.assert_place(spooled)
        yield from self.come_back()
        yield from until(self.has_gone_on, "it has gone on")
        yield from stop(self.agent)
        yield from self.compare({self.name})
        self.assert_all_came(spooled)

    def in_spool(self):
        """[(epoch, number)] of the batches in the spool."""
        names = [file.name for file in Path(self.agent.flags["state-directory"]).glob("spool/*")]
        found = [re.fullmatch(r"(\d+)-(\d+)\.batch", name) for name in names]
        return sorted((int(name[1]), int(name[2])) for name in found if name)

    def assert_place(self, spooled):
        """What the spool and the topic hold is what the table says of the failpoint."""
        arrived = numbers_of(self.truth, self.name)
        assert spooled, "there is nothing in the spool"
        if self.point == "at-report":
            assert max(spooled) in arrived, "Kafka does not have it"
        elif self.point != "after-produce":
            assert max(spooled) not in arrived, "Kafka has it already"

    def come_back(self):
        if self.action == "kill":
            self.agent.flags["failpoints"] = None
            self.agent.launch()
            return
        woken = time.monotonic() + STOPPED_S
        if self.what in SERVERS:
            yield from self.meeting.join()
            self.say(self.what)
        yield from until(lambda: time.monotonic() > woken, "time to wake it")
        assert is_stopped(self.agent)
        os.close(self.agent.send(signal.SIGCONT))

    def has_gone_on(self):
        sent = metrics(self.agent)["decima_agent_batches_sent_total"]
        return sent >= AT_VISIT + BATCHES_AFTER

    def assert_all_came(self, spooled):
        arrived = numbers_of(self.truth, self.name)
        assert len({epoch for epoch, _ in arrived}) == 1, f"the spool began anew: {arrived}"
        assert [number for _, number in arrived] == list(range(1, len(arrived) + 1))
        assert set(spooled) <= set(arrived), "what was in the spool did not come"
        if (self.point, self.action) == ("at-report", "kill"):
            account, = self.truth.spools.values()
            assert account.duplicates > 0, "what Kafka had was to be sent once more"
