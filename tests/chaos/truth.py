# SPDX-License-Identifier: Apache-2.0
"""truth - compares PostgreSQL with the topic (topic.py); each difference is a sentence."""
import re
import time
from collections import Counter
from dataclasses import dataclass

from harness import SAMPLES
from senders import OLD_S
from topic import Ledger, Truth

SHOWN = 20   # sentences of a list
HOUR_S = 3600

OFFSETS = "SELECT partition, next_offset FROM consumer_offset WHERE topic = %s"
HOSTS = """SELECT host, epoch, highest, missing::text, gap, sampled, lost, stored,
    duplicate_batches,
    rejected_batches, rejected_samples, skipped FROM agent_status"""


@dataclass
class Observation:
    """One snapshot of PostgreSQL."""
    at: float
    started: object     # when this PostgreSQL was started
    offsets: dict
    hosts: dict         # {(host, epoch): Row}
    samples: int        # in all chunks


@dataclass
class Row:
    highest: int
    missing: set
    gap: int
    sampled: int
    lost: int
    stored: int
    duplicates: int
    rejected: int
    rejected_samples: int
    skipped: int


def offsets(cell):
    return dict(cell.rows(OFFSETS, cell.topic))


def observe(db, topic):
    """Make an Observation over a connection."""
    with db.transaction():
        db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        started, = db.execute("SELECT pg_postmaster_start_time()").fetchone()
        offsets = dict(db.execute(OFFSETS, (topic,)).fetchall())
        hosts = {}
        for host, epoch, highest, missing, *numbers in db.execute(HOSTS).fetchall():
            ranges = re.findall(r"\[(\d+),(\d+)\)", missing)
            numbers_missing = {n for first, end in ranges for n in range(int(first), int(end))}
            hosts[host, epoch] = Row(highest, numbers_missing, *numbers)
        samples, = db.execute(SAMPLES).fetchone()
    return Observation(time.monotonic(), started, offsets, hosts, samples)


def observation_differences(observation, ledger):
    """Compare an observation with a ledger at the same offsets."""
    for spool in sorted(ledger.accounts.keys() | observation.hosts.keys()):
        if spool not in observation.hosts:
            yield (f"{spool} is not in agent_status, but its batches are stored up to"
                   f" {observation.offsets}")
        elif spool not in ledger.accounts:
            yield (f"{spool} is in agent_status, but no batch of it is stored:"
                   f" {observation.hosts[spool]}")
        else:
            yield from row_differences(spool, observation.hosts[spool], ledger)
    if observation.samples != ledger.total():
        yield (f"{observation.samples} samples are in the chunks, {ledger.total()} in the messages"
               f" up to {observation.offsets}")


def row_differences(spool, row, ledger):
    account, reported = ledger.accounts[spool], ledger.truth.reported[spool]
    unseen = set(range(1, account.highest + 1)) - account.numbers.keys()
    last = reported[account.highest]
    wanted = Row(account.highest, unseen, 0, last.sampled, sum(last.lost.values()), account.stored,
                 account.duplicates, account.rejected, account.rejected_samples, 0)
    for name, value in vars(wanted).items():
        if vars(row)[name] != value:
            yield (f"{spool}: {name} is {brief(vars(row)[name])} in agent_status,"
                   f" {brief(value)} in the messages"
                   f"{ledger_places(ledger, spool, vars(row)[name], value)}")
    in_flight = row.sampled - row.lost - row.stored - row.rejected_samples
    waiting = sum(reported[n].samples or reported[n].batch for n in unseen if n in reported)
    if in_flight != waiting:
        yield (f"{spool}: sampled {row.sampled} = stored {row.stored} + lost {row.lost} + rejected"
               f" {row.rejected_samples} + in flight {in_flight}, but {brief(unseen)} have"
               f" {waiting}")


def brief(value):
    if not isinstance(value, set):
        return value
    numbers = ", ".join(map(str, sorted(value)[:SHOWN]))
    return f"{{{numbers}{', ...' if len(value) > SHOWN else ''}}}"


def ledger_places(ledger, spool, have, wanted):
    """The places on the topic of the batches in which the two sets differ."""
    if not isinstance(have, set):
        return ""
    return "; they are at " + ", ".join(
        f"{n}: {ledger.truth.places.get((spool, n), 'nowhere')}"
        for n in sorted(have ^ wanted)[:SHOWN])


def agent_differences(truth, node, counted):
    """Check the batches of a real agent that has ended: its sequence numbers have no gaps, each
    balance holds, and the last one covers all samples that the kernel side has counted."""
    spools = [spool for spool in truth.reported if spool[0].startswith(f"{node}/")]
    if len(spools) != 1:
        yield f"{node} has {len(spools)} spools: {spools}"
    for spool in spools:
        batches, put = truth.reported[spool], 0
        if sorted(batches) != list(range(1, len(batches) + 1)):
            yield f"{spool}: the numbers have gaps: {sorted(batches)}"
        for number in sorted(batches):
            reported = batches[number]
            put += reported.samples
            if reported.batch != reported.samples:
                yield (f"{spool}: batch {number} holds {reported.samples} samples,"
                       f" but reports {reported}")
            if reported.sampled != put + sum(reported.lost.values()):
                yield f"{spool}: {put} samples are in batches 1 to {number}, reported: {reported}"
        if batches[max(batches)].sampled != counted:
            yield (f"{spool}: the kernel has sampled {counted},"
                   f" the last report is {batches[max(batches)]}")


def differences(truth: Truth, began):
    """A sentence for each difference; empty if each message of the topic is stored once."""
    ledger = Ledger(truth)
    ledger.move(truth.ends)
    with truth.cell.connect() as db:
        found = list(observation_differences(observe(db, truth.cell.topic), ledger))
    values = stored_values(truth.cell, began - OLD_S[1])
    for key in sorted(truth.values.keys() | values.keys()):
        if truth.values[key] == values[key]:
            continue
        places = {batch: truth.places[batch] for batch in sorted(truth.batches_of[key])[:SHOWN]}
        found.append(f"node {key[0]} pid {key[1]}: {values[key]} ns are stored,"
                     f" {truth.values[key]} were sent, by {places or 'messages without a number'}")
    return shown(found) + stack_differences(truth, began - OLD_S[1])


def stack_differences(truth, began):
    """Differences by stack. The window is whole hours, so the querier reads rollups if it can."""
    first = int(began) - int(began) % HOUR_S
    have = truth.cell.collapsed(group_by="node,comm", start=first,
                                end=first + (int(time.time() - first) // HOUR_S + 1) * HOUR_S)
    found = []
    wanted = Counter()
    for (node, comm, *stack), value in truth.stacks.items():
        wanted[(f"node={node}", f"comm={comm}", *map(printed, stack))] += value
    for key in sorted(wanted.keys() | have.keys()):
        if wanted[key] != have.get(key, 0):
            found.append(f"{key}: {have.get(key, 0)} ns are stored, {wanted[key]} were sent")
    return shown(found)


def printed(frame):
    return re.sub(r"[\x00-\x1f\x7f]", "?", frame).replace(";", ":")


def shown(found):
    return found[:SHOWN] + ([f"and {len(found) - SHOWN} more"] if found[SHOWN:] else [])


def stored_values(cell, began):
    """{(node, pid): nanoseconds}, read from the querier."""
    found = Counter()
    stacks = cell.collapsed(group_by="node,pid", start=f"{began:.3f}",
                            end=f"{time.time() + 1:.3f}")
    for stack, value in stacks.items():
        node, pid = (part.partition("=")[2] for part in stack[:2])
        found[node, int(pid)] += value
    return found
