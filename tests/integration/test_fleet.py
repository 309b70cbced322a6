# SPDX-License-Identifier: Apache-2.0
"""The fleet: for each host, sampled = stored + lost + in transit, for any fate of its batches."""
import itertools
import json
import subprocess
import time

import pytest

from harness import Cell, metrics, stays, wait_until
from otlp_messages import cpu_message, headers

DAY_MS = 86_400_000
AGENT_PERIOD = 10**9 // 19


def status(protos, sampled, batch=0, node=b"n1", lost=None, truncated=None, at=None, version=b"1.2",
           oldest=0, spooled=0, sent=0):
    """An AgentStatus, serialized."""
    made = protos.status.AgentStatus(
        node=node, version=version, sampled=sampled, batch_samples=batch, spool_oldest=oldest,
        spooled=spooled, sent=sent,
        time_unix_nano=round((time.time() if at is None else at) * 1000) * 1_000_000)
    for reason, samples in (lost or {}).items():
        made.lost.add(reason=reason.encode(), samples=samples)
    for reason, samples in (truncated or {}).items():
        made.truncated.add(reason=reason.encode(), samples=samples)
    return made.SerializeToString()


class Host:
    """A host that sends batches of `ticks` samples, each with a status."""

    def __init__(self, cell, protos, name, epoch=1):
        self.cell, self.protos, self.id, self.epoch = cell, protos, f"{name}/id", epoch
        self.sampled = 0

    def send(self, sequence, ticks, value=None, at_ms=None, **fields):
        self.sampled = fields.pop("sampled", self.sampled + ticks)
        value = value or cpu_message(self.protos, self.id, {(0x10,): ticks}, at_ms=at_ms)
        self.cell.produce(value, key=self.id.encode(), headers=headers(
            sequence, self.epoch, status(self.protos, self.sampled, ticks, **fields)))

    def seen(self):
        """The host's entry, which is balanced, or None."""
        found = [host for host in look(self.cell) if host["host"] == self.id]
        return found[0] if found else None

    def becomes(self, **wanted):
        """Wait until the host's entry has these fields, and return it."""
        def is_so():
            entry = self.seen() or {}
            assert {name: entry.get(name) for name in wanted} == wanted
            return entry
        return wait_until(is_so, what=f"{self.id} {wanted}")


def look(cell, **params):
    """The entries of the fleet; each is balanced."""
    hosts = cell.data("fleet", **params)
    for host in hosts:
        lost = sum(host["lost"].values())
        assert host["sampled"] == \
            host["stored"] + lost + host["in_flight"] + host["unaccounted"], host
        assert host["in_flight"] >= 0 and (host["unaccounted"] == 0) == ("why" not in host), host
    assert [h["host"] for h in hosts] == sorted((h["host"] for h in hosts), key=str.encode)
    return hosts


@pytest.fixture
def host(cell, protos, request):
    return Host(cell, protos, request.node.name.removeprefix("test_"))


def test_a_host_is_shown_with_its_agents_last_status(host):
    host.send(1, 5, sampled=8, lost={"ring_full": 3, "malformed": 0}, at=1_700_000_000.25)
    host.send(2, 2, node=b"web-1", version=b"9.9", sampled=11, lost={"ring_full": 4},
              truncated={"user_too_deep": 2, "user_unmapped": 0}, at=1_700_000_010.25)

    assert host.becomes(sampled=11) == {
        "node": "web-1", "host": host.id, "version": "9.9", "last_seen": 1_700_000_010.25,
        "sampled": 11, "spooled": 0, "sent": 0, "stored": 7, "in_flight": 0, "unaccounted": 0,
        "duplicate": 0, "conflict": 0, "missing": 0,
        "lost": {"ring_full": 4}, "truncated": {"user_too_deep": 2}}


def test_a_batch_without_samples_reports_losses(protos, host):
    nothing = protos.profiles.ProfilesData()
    nothing.dictionary.string_table.append(b"")
    host.send(1, 5)
    host.send(2, 0, value=nothing.SerializeToString(), sampled=9, lost={"agent_killed": 4})
    host.send(3, 0, value=b"", sampled=11, lost={"agent_killed": 4, "ring_full": 2})

    host.becomes(sampled=11, stored=5, in_flight=0, missing=0,
                 lost={"agent_killed": 4, "ring_full": 2})


def test_a_batch_that_arrives_twice_is_stored_once_and_counted_as_duplicate(host):
    batch = cpu_message(host.protos, host.id, {(0x10,): 5})
    for _ in range(2):
        host.send(1, 5, value=batch, sampled=5)
    host.send(2, 1)

    host.becomes(sampled=6, stored=6, in_flight=0, duplicate=1, conflict=0, lost={})


def forge(host, sequence, ticks=1, status_=None):
    """Another program than the agent sends a batch under a number of the host."""
    host.cell.produce(cpu_message(host.protos, "forged", {(0x66,): ticks}), key=host.id.encode(),
                      headers=headers(sequence, host.epoch, status_))


@pytest.mark.reason("ingester.conflict")
def test_a_batch_under_the_number_of_another_batch_is_in_conflict(cell, host, moves):
    """Also if the ingester was killed in between; and the host's own batches are not duplicates."""
    own = cpu_message(host.protos, host.id, {(0x10,): 5})
    host.send(1, 5, value=own)
    forge(host, 2)
    forge(host, 3)
    host.becomes(stored=7)
    cell.ingester.kill()
    cell.start_service(cell.ingester)

    with moves("ingester.conflict", cell.ingester, by=2, told=host.seen):
        host.send(1, 5, value=own, sampled=5)
        host.send(2, 7)
        host.send(3, 4)
        host.send(4, 1)

    entry = host.becomes(sampled=17, stored=8, in_flight=0, unaccounted=-2, conflict=2,
                         duplicate=1, missing=0, lost={"conflict": 11})
    assert "another program sends under this host's name" in entry["why"]
    for sequence in (2, 3):
        assert f"batch {sequence} of host {host.id} was received with other contents" \
            in cell.ingester.log_file.read_text()


def test_a_forged_status_cannot_make_the_balance_useless(protos, host):
    host.send(1, 5)
    forge(host, 1, status_=status(protos, 0, batch=2**63))
    host.send(2, 1)

    entry = host.becomes(sampled=6, stored=6, conflict=1)
    assert 0 < entry["lost"]["conflict"] < 1000
    assert entry["unaccounted"] == -entry["lost"]["conflict"]


def test_samples_that_disappear_are_unaccounted_and_not_in_transit(host):
    """300 forged batches without samples: of the oldest, the hashes are no longer known."""
    known, forged = 256, 300
    host.send(1, 5, sent=0)
    for sequence in range(2, forged + 2):
        host.cell.produce(b"", key=host.id.encode(), headers=headers(sequence, host.epoch))
    host.becomes(stored=5, missing=0)
    for sequence in range(2, forged + 3):
        host.send(sequence, 3, spooled=host.sampled + 3, sent=host.sampled)

    entry = host.becomes(
        sampled=5 + 3 * (forged + 1), spooled=5 + 3 * (forged + 1), sent=5 + 3 * forged, stored=8,
        in_flight=0, unaccounted=3 * (forged - known), missing=0, conflict=known,
        duplicate=forged - known, lost={"conflict": 3 * known})
    assert "another program sends under this host's name" in entry["why"]


def test_hosts_whose_balance_stays_open_are_named_in_the_log(cell, protos):
    """Missing batches of a host that goes on sending, and unaccounted samples; no silent host."""
    with Cell(cell.fleet, f"{cell.name}_open", partitions=1) as own:
        own.ingester.flags["balance-wait"] = "2s"
        own.start()
        stuck, silent, broken, closed = (
            Host(own, protos, name) for name in ("stuck", "silent", "broken", "closed"))
        for host in (stuck, silent):
            host.send(1, 5)
            host.send(3, 2, sampled=10)
        broken.send(1, 5, sampled=9)
        closed.send(1, 5)
        numbers = itertools.count(4)

        def counted():
            values = metrics(own.ingester)
            return (values["decima_ingester_hosts_stuck_in_transit"],
                    values["decima_ingester_hosts_unaccounted"])

        def reported():
            stuck.send(next(numbers), 1)
            assert counted() == (1, 1)
            return True

        wait_until(reported, what="both hosts are reported")
        lines = [line for line in own.ingester.log_file.read_text().splitlines()
                 if "the balance of a host does not close" in line]
        for host, fields in ((stuck, "in_flight=3 unaccounted=0 missing=1"),
                             (broken, "in_flight=0 unaccounted=4 missing=0")):
            assert [fields in line for line in lines if host.id in line] == [True], lines
        assert len(lines) == 2

        stuck.send(2, 3, sampled=8)
        broken.send(2, 1, sampled=6)  # its agent was wrong
        wait_until(lambda: counted() == (0, 0), what="both hosts are closed")


def test_what_an_older_ingester_stored_last_is_estimated(cell, host):
    """An older ingester writes the row without the samples of missing batches."""
    host.send(1, 5)
    host.send(3, 2, sampled=10)
    host.becomes(sampled=10, in_flight=3, unaccounted=0)
    cell.ingester.kill()
    cell.rows("UPDATE agent_status SET revision = revision + 1, missing_samples = 77"
              " WHERE host = %s RETURNING 1", host.id)
    host.becomes(sampled=10, in_flight=3, unaccounted=0)
    cell.start_service(cell.ingester)

    host.send(6, 1, sampled=16)
    host.becomes(sampled=16, stored=8, in_flight=8, unaccounted=0, missing=3)
    host.send(2, 3, sampled=8)
    host.becomes(sampled=16, stored=11, in_flight=5, unaccounted=0, missing=2)


def test_a_missing_batch_is_in_transit_until_it_arrives(host):
    host.send(1, 5, sampled=5)
    host.send(3, 2, sampled=10)
    host.becomes(sampled=10, stored=7, in_flight=3, missing=1)

    host.send(2, 3, sampled=8)

    host.becomes(sampled=10, stored=10, in_flight=0, missing=0)


def test_a_missing_batch_that_left_the_spool_is_a_gap_until_it_arrives(host):
    host.send(1, 5, sampled=5, oldest=1)
    host.send(4, 2, sampled=14, oldest=2)
    host.becomes(sampled=14, stored=7, in_flight=7, missing=2, lost={})

    host.send(5, 1, sampled=15, oldest=3)
    host.becomes(sampled=15, stored=8, in_flight=7, missing=1, lost={})
    host.send(6, 1, sampled=16, oldest=5)
    host.becomes(sampled=16, stored=9, in_flight=0, missing=0, lost={"gap": 7})

    # From a partition to which the host produced before.
    host.send(2, 3, sampled=8, oldest=1)
    host.becomes(sampled=16, stored=12, in_flight=0, missing=0, lost={"gap": 4}, duplicate=0)
    host.send(3, 4, sampled=12, oldest=1)
    host.becomes(sampled=16, stored=16, in_flight=0, missing=0, lost={})


def test_batches_deleted_by_retention_before_they_were_read_are_a_gap(cell, protos):
    with Cell(cell.fleet, f"{cell.name}_expired", partitions=1) as own:
        own.start()
        host = Host(own, protos, "expired")
        host.send(1, 5, oldest=1)
        host.becomes(sampled=5, stored=5)
        own.ingester.kill()
        for sequence in (2, 3):
            host.send(sequence, 4, oldest=sequence)
        own.delete_records(0, before=3)
        host.send(4, 1, oldest=3)  # before the acknowledgement arrived
        own.start_service(own.ingester)

        host.becomes(sampled=14, stored=6, in_flight=8, missing=1, lost={})
        host.send(5, 1, oldest=5)
        host.becomes(sampled=15, stored=7, in_flight=0, missing=0, lost={"gap": 8})


def test_a_rejected_batch_is_lost_as_rejected(host):
    host.send(1, 5)
    host.send(2, 7, value=b"\x0a\x7f\x01")
    host.becomes(sampled=12, stored=5, in_flight=0, lost={"rejected": 7})

    host.send(3, 1)

    host.becomes(sampled=13, stored=6, in_flight=0, lost={"rejected": 7})


def test_a_rejected_batch_that_is_late_is_lost_too(host):
    host.send(2, 5, sampled=12)
    host.send(1, 7, sampled=7, value=b"\x0a\x7f\x01")

    host.becomes(sampled=12, stored=5, in_flight=0, lost={"rejected": 7})


def test_samples_too_old_or_too_far_ahead_are_lost_by_reason(host):
    now = int(time.time() * 1000)
    host.send(1, 5, at_ms=now - 30 * DAY_MS)
    host.send(2, 3, at_ms=now + 3_600_000)
    host.send(3, 2)

    host.becomes(sampled=10, stored=2, in_flight=0, lost={"too_old": 5, "too_far_ahead": 3})


def test_missing_batches_that_are_given_up_are_lost_as_gap(cell, host):
    host.send(1, 5)
    host.send(3, 2, sampled=10)
    host.becomes(in_flight=3, missing=1)
    cell.rows("UPDATE agent_status SET missing = '{}', gap = 1 WHERE host = %s RETURNING 1",
              host.id)

    host.becomes(sampled=10, stored=7, in_flight=0, missing=0, lost={"gap": 3})


def test_a_new_spool_continues_the_counts_of_its_host(cell, protos, host):
    host.send(1, 5)
    host.send(2, 4, lost={"ring_full": 2}, sampled=11)
    after = Host(cell, protos, host.id.removesuffix("/id"), epoch=2)
    after.send(1, 3, version=b"2.0", lost={"ring_full": 1}, sampled=4)

    host.becomes(sampled=15, stored=12, in_flight=0, lost={"ring_full": 3}, version="2.0")


def test_a_new_spool_may_report_the_loss_of_batches_of_the_old_spool(cell, protos, host):
    host.send(1, 5)
    host.send(3, 4, sampled=12)
    host.becomes(in_flight=3)
    after = Host(cell, protos, host.id.removesuffix("/id"), epoch=2)
    after.send(1, 3, lost={"spool_full": 3})

    host.becomes(sampled=15, stored=12, in_flight=0, lost={"spool_full": 3})


def test_samples_counted_twice_are_unaccounted_and_explained(cell, protos, host):
    host.send(1, 5, lost={"spool_full": 2})
    silent = Host(cell, protos, host.id.removesuffix("/id") + "_silent")
    cell.produce(cpu_message(protos, "silent", {(1,): 4}), key=silent.id.encode(),
                 headers=headers(1))

    entry = host.becomes(sampled=5, stored=5, in_flight=0, unaccounted=-2)
    assert "had arrived after all" in entry["why"]
    entry = silent.becomes(sampled=0, stored=4, in_flight=0, unaccounted=-4, node="",
                           version="")
    assert "without the agent's status" in entry["why"]
    assert abs(entry["last_seen"] - time.time()) < 120


def test_counts_survive_kill_9_of_the_ingester(cell, host):
    for i in range(1, 21):
        host.send(i, 3)
        if i % 7 == 0:
            cell.ingester.kill()
            cell.start_service(cell.ingester)

    host.becomes(sampled=60, stored=60, in_flight=0, duplicate=0, lost={})


# pages

def test_a_fleet_is_read_in_pages(cell, protos):
    for i in range(7):
        Host(cell, protos, f"page-{i}").send(1, 1)
    wait_until(lambda: sum(h["host"].startswith("page-") for h in look(cell)) == 7,
               what="seven hosts")

    hosts, after = [], ""
    while page := look(cell, limit=3, after=after):
        assert len(page) <= 3
        hosts, after = hosts + page, page[-1]["host"]

    assert hosts == look(cell)


def test_more_hosts_than_the_limit_of_a_response_are_422(cell, protos):
    with Cell(cell.fleet, f"{cell.name}_many", partitions=1) as many:
        many.start()
        many.rows("INSERT INTO agent_status SELECT 'h' || i, 1, 1, 1, '{}', 0, %s, 'n', 'v', 3, 0,"
                  " 0, now(), 3, 0, 0, 0 FROM generate_series(1, 10001) AS i RETURNING 1",
                  status(protos, 3))

        status_, body = many.api("fleet")
        assert (status_, json.loads(body)["errorType"]) == (422, "execution")
        assert "limit=10000" in json.loads(body)["error"]
        first = look(many, limit=10000)
        rest = look(many, limit=10000, after=first[-1]["host"])
        assert (len(first), len(rest)) == (10000, 1)


@pytest.mark.parametrize("params, sentence", [
    ({"limit": "0"}, "from 1 to 10000"), ({"limit": "10001"}, "from 1 to 10000"),
    ({"limit": "all"}, "from 1 to 10000"), ({"after": b"\xff"}, "host id")])
def test_an_invalid_page_is_400(cell, params, sentence):
    status_, body = cell.api("fleet", **params)

    assert (status_, json.loads(body)["errorType"]) == (400, "bad_data")
    assert sentence in json.loads(body)["error"]


# a real agent

@pytest.mark.machine
def test_a_real_agent_is_balanced_at_every_poll(cell):
    agent = cell.service("agent", flags={"profiling-duration": "1s", "node": "real"})

    def real():
        return next((h for h in look(cell) if h["node"] == "real"), None)

    def run_for(seconds):
        cell.start_service(agent)
        with subprocess.Popen([cell.fleet.build / "tests" / "programs" / "burn", str(seconds)],
                              stdout=subprocess.DEVNULL) as burn:
            while burn.poll() is None:
                real()
                time.sleep(0.1)

    run_for(4)
    agent.kill()
    killed = wait_until(real, what="the agent's host")
    run_for(4)
    agent.stop()

    def is_settled():
        entry = real()
        assert entry["in_flight"] == 0 and entry["missing"] == 0
        assert entry["sampled"] > killed["sampled"] > 0
        assert entry["stored"] * AGENT_PERIOD == cell.total('{node="real"}')
        return entry

    last = wait_until(is_settled, what="all samples stored")
    stays(lambda: real() == last, 1, what="no further change")
