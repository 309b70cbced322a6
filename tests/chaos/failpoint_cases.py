# SPDX-License-Identifier: Apache-2.0
"""failpoint_cases - the scenarios of test_failpoints.py: a process meets a failpoint, is killed or
stopped there, and resumes after a while.
"""
import os
import re
import signal
import threading
import time
from collections import Counter
from pathlib import Path

from server_kills import SERVERS
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
DELAYED_S = 45     # the session and the transaction of an absent process end after 10 s each
STOPPED_S = 5      # an agent; an ingester is stopped until the other one has stored everything
AT_VISIT = 2       # of an agent: the first batch is sent normally
BATCHES_AFTER = 3

# The backend of a process that is stopped there: state, wait event, last statement.
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
OVER_MS = 2 * 3600_000  # so long ago that the hour is over: it is rolled up after compaction


def is_stopped(process):
    pid = process.pid()
    stat = Path(f"/proc/{pid}/stat").read_text() if pid else ""
    return stat.rpartition(")")[2].split()[:1] == ["T"]


def local_ports(pid):
    """The local ports of a process's TCP connections. (Its application_name must not be changed to
    find them: the ingester terminates only stuck writers that have its own application_name.)"""
    sockets = {os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [row.split() for row in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return [int(row[1].partition(":")[2], 16) for row in rows if f"socket:[{row[9]}]" in sockets]


def stop(process):
    """Stop it as a service is stopped, and wait for its exit."""
    os.close(process.send(signal.SIGTERM))
    yield from until(lambda: process.exit_code() is not None, f"{process.name} has exited")
    assert process.exit_code() == 0, process.last_words()


class Case:
    """One process that meets a failpoint, on a topic of its own.

    `what` is the fault there: kill, stop, or a key of SERVERS. In the last case the process is
    stopped, and the server is killed once all processes of the `barrier` are stopped.
    """

    def __init__(self, servers, protos, point, what, barrier):
        self.point, self.what, self.protos, self.barrier = point, what, protos, barrier
        self.action = "stop" if what in SERVERS else what
        self.name = f"{point}-{what}"
        self.cell = Cell(servers, self.name.replace("-", "_"), partitions=PARTITIONS)
        self.truth = Truth(self.cell, protos)
        self.began, self.sent_from = time.monotonic(), time.time() - 1

    def log(self, text):
        print(f"{time.monotonic() - self.began:6.2f} s  {self.name}: {text}", flush=True)

    def fail(self, why):
        logs = [f"log of {process.name}:\n{process.last_words(15)}"
                for process in self.cell.processes()]
        raise AssertionError("\n".join([f"{self.name}: {why!r}", *logs])) from why

    def has_met(self, process):
        """Whether it has logged the failpoint and is killed or stopped there."""
        line = f'msg="failpoint" name={self.point} action={self.action}'
        assert line in process.last_words(20), process.last_words()
        if self.action == "stop":
            return is_stopped(process)
        assert process.exit_code() in (None, -signal.SIGKILL), process.last_words()
        return process.exit_code() == -signal.SIGKILL

    def launch(self, service):
        service.launch({"DECIMA_POSTGRES": self.cell.postgres_address})

    def compare(self, nodes):
        """PostgreSQL stores exactly the batches of the topic."""
        self.launch(self.cell.querier)
        yield from until(self.cell.querier.ready, "the querier is ready")
        self.truth.read()
        yield from until(lambda: offsets(self.cell) == self.truth.ends, "all messages are stored")
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
        self.log("all messages are stored, each once")


def numbers_of(truth, node):
    """[(epoch, number)] of a host's batches on the topic, sorted."""
    return sorted((epoch, number) for (host, epoch), spool in truth.spools.items()
                  for number in spool.numbers if host.startswith(f"{node}/"))


class IngesterCase(Case):
    """Two ingesters share a topic. One of them meets the failpoint and is absent until the other
    one has stored everything or a server was killed. Then it resumes."""

    def __init__(self, servers, protos, point, what, barrier):
        super().__init__(servers, protos, point, what, barrier)
        more = {"failpoints": f"{point}={self.action}"}
        if point == "in-revoke":
            more["flush-interval"] = "60s"  # so that it has unstored messages to drop
        # Compaction runs meanwhile, except where its COPY or COMMIT could look like a flush's.
        merges = point != "in-copy" and not self.loses_commit
        self.cell.ingester.flags["compaction-age"] = "100ms" if merges else "0s"
        self.cell.ingester_flags["compaction-age"] = "100ms" if merges else "0s"
        if point in MERGING:
            self.cell.ingester.flags["compaction-age"] = "0s"  # until the other one has met it
        self.armed = self.cell.service("ingester", "armed", more)
        self.other = self.cell.ingester
        self.sequence, self.ends = 0, Counter()
        self.has_place = self.action == "stop" and point in BACKENDS
        self.place = None
        self.offsets = None

    def send_volley(self):
        """Send batches of one host to each partition; the last one is sent twice."""
        for _ in range(VOLLEY):
            self.sequence += 1
            sent = [self.batch_of(host) for host in range(PARTITIONS)]
            for batch in sent:
                self.send(*batch)
        for batch in sent:
            self.send(*batch)

    def batch_of(self, host):
        node, number = f"host-{host}", self.sequence
        status = self.protos.status.AgentStatus(
            node=node.encode(), sampled=number * TICKS, batch_samples=TICKS)
        at_ms = int(time.time() * 1000) - OVER_MS * (self.point in MERGING)
        value = cpu_message(self.protos, "failpoints", {(0x10, number): TICKS}, node=node,
                            pid=number, at_ms=at_ms)
        return host, value, headers(number, EPOCH, status.SerializeToString())

    def send(self, host, value, of_message):
        self.cell.produce(value, key=f"host-{host}/id".encode(), partition=host,
                          headers=of_message)
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

    def scenario(self):
        self.launch(self.armed)
        if self.has_place:
            threading.Thread(target=self.watch_place, daemon=True).start()
        yield from self.has_partitions(self.armed, PARTITIONS)
        if self.point == "in-revoke":
            yield from self.meet_in_revoke()
        else:
            yield from self.meet_in_flush()
        self.log("it has met the failpoint")
        yield from self.assert_place()
        if self.what in SERVERS:
            yield from self.meet_the_server_kill()
        else:
            self.send_volley()
            yield from until(self.is_stored, "the other one has stored all messages", DELAYED_S)
            self.log("the other one has stored all messages")
        assert not self.armed.alive() or is_stopped(self.armed), "it resumed by itself"
        self.resume()
        for ingester in (self.armed, self.other):
            yield from self.has_partitions(ingester, PARTITIONS // 2)
        self.log("it has resumed")
        self.send_volley()
        yield from stop(self.armed)
        yield from until(self.is_stored, "both have stored all messages")
        yield from self.compare({f"host-{host}" for host in range(PARTITIONS)})
        assert self.truth.ends == self.ends

    @property
    def loses_commit(self):
        """Whether its commit is lost. It is then the only ingester and the last to commit."""
        return (self.point, self.what) == ("after-commit", "postgres-killed")

    def meet_in_flush(self):
        if self.loses_commit:
            yield from until(lambda: self.barrier.missing == 1, "all others are at the barrier")
        else:
            self.launch(self.other)
            for ingester in (self.armed, self.other):
                yield from self.has_partitions(ingester, PARTITIONS // 2)
        self.send_volley()
        yield from until(lambda: self.has_met(self.armed), "it has met the failpoint")

    def meet_in_revoke(self):
        self.send_volley()
        sent = sum(self.ends.values())
        yield from until(lambda: metrics(self.armed)["decima_ingester_messages_total"] == sent,
                         "all messages are read and not stored")
        met = threading.Thread(target=self.watch_offsets, daemon=True)
        met.start()
        self.launch(self.other)
        yield from until(lambda: not met.is_alive(), "it has met the failpoint")
        assert self.has_met(self.armed)
        assert self.offsets == {}, "it did not drop the messages that it had read"

    def meet_the_server_kill(self):
        assert offsets(self.cell) or not self.loses_commit, "it has not committed"
        yield from self.barrier.join()
        self.log(self.what)
        if self.loses_commit:
            assert not offsets(self.cell), "its commit is not lost"
            self.launch(self.other)

    def watch_offsets(self):
        """Read what is stored as soon as it has met the failpoint: seconds later the other ingester
        has stored the messages, and on a busy machine the scenario may not have gone on by then."""
        while self.armed.alive() and not is_stopped(self.armed):
            time.sleep(0.02)
        self.offsets = offsets(self.cell)

    def watch_place(self):
        """Read what its backends do as soon as it is stopped: they end 10 s later, and on a busy
        machine the scenario may not have gone on by then."""
        while not is_stopped(self.armed):
            time.sleep(0.02)
        ports = local_ports(self.armed.pid())
        self.place = (self.cell.rows(
            "SELECT state, wait_event, query FROM pg_stat_activity"
            " WHERE datname = current_database() AND client_port = ANY (%s)", ports),
            self.cell.rows(
            "SELECT bytes_processed FROM pg_stat_progress_copy JOIN pg_stat_activity"
            " USING (pid, datname) WHERE datname = current_database()"
            " AND client_port = ANY (%s)", ports))

    def assert_place(self):
        """The backend is in the state that BACKENDS states."""
        if not self.has_place:
            return
        yield from until(lambda: self.place, "the states of its backends are read")
        found, copied = self.place
        state, event, statement = BACKENDS[self.point]
        assert any(row[:2] == (state, event) and row[2].startswith(statement)
                   for row in found), found
        if self.point == "in-copy":
            assert copied and copied[0][0] > 0, f"the COPY has sent {copied} bytes"

    def resume(self):
        if self.action == "stop":
            os.close(self.armed.send(signal.SIGCONT))
            return
        self.armed.flags["failpoints"] = None
        self.launch(self.armed)


class AgentCase(Case):
    """A real agent meets the failpoint and is absent for a while. The batches in its spool arrive
    once."""

    def __init__(self, servers, protos, point, what, barrier):
        super().__init__(servers, protos, point, what, barrier)
        self.agent = self.cell.service("agent", flags={
            "node": self.name, "profiling-duration": "1s",
            "failpoints": f"{point}={self.action}:{AT_VISIT}"})

    def scenario(self):
        self.launch(self.cell.ingester)
        yield from until(self.cell.ingester.ready, "the topic exists")
        self.agent.launch()
        yield from until(lambda: self.has_met(self.agent), "it has met the failpoint")
        self.log("it has met the failpoint")
        spooled = self.in_spool()
        self.truth.read()
        self.assert_place(spooled)
        yield from self.resume()
        yield from until(self.has_sent_more, "it sends more batches")
        yield from stop(self.agent)
        yield from self.compare({self.name})
        self.assert_all_arrived(spooled)

    def in_spool(self):
        """[(epoch, number)] of the batches in the spool."""
        names = [file.name for file in Path(self.agent.flags["state-directory"]).glob("spool/*")]
        found = [re.fullmatch(r"(\d+)-(\d+)\.batch", name) for name in names]
        return sorted((int(name[1]), int(name[2])) for name in found if name)

    def assert_place(self, spooled):
        """The spool and the topic contain the batches that belong to the failpoint."""
        arrived = numbers_of(self.truth, self.name)
        assert spooled, "the spool is empty"
        if self.point == "at-report":
            assert max(spooled) in arrived, "Kafka does not have the batch"
        elif self.point != "after-produce":
            assert max(spooled) not in arrived, "Kafka has the batch already"

    def resume(self):
        if self.action == "kill":
            self.agent.flags["failpoints"] = None
            self.agent.launch()
            return
        woken = time.monotonic() + STOPPED_S
        if self.what in SERVERS:
            yield from self.barrier.join()
            self.log(self.what)
        yield from until(lambda: time.monotonic() > woken, "the time to resume it has come")
        assert is_stopped(self.agent)
        os.close(self.agent.send(signal.SIGCONT))

    def has_sent_more(self):
        sent = metrics(self.agent)["decima_agent_batches_sent_total"]
        return sent >= AT_VISIT + BATCHES_AFTER

    def assert_all_arrived(self, spooled):
        arrived = numbers_of(self.truth, self.name)
        assert len({epoch for epoch, _ in arrived}) == 1, f"the spool has a new epoch: {arrived}"
        assert [number for _, number in arrived] == list(range(1, len(arrived) + 1))
        assert set(spooled) <= set(arrived), "a spooled batch did not arrive"
        if (self.point, self.action) == ("at-report", "kill"):
            account, = self.truth.spools.values()
            assert account.duplicates > 0, "the batch that Kafka had was not sent again"
