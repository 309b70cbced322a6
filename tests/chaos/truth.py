# SPDX-License-Identifier: Apache-2.0
"""truth - what is stored, and every difference in words between that and the topic (topic.py)."""
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
HOSTS = """SELECT host, epoch, highest, missing::text, gap, sampled, lost, stored, duplicate_batches,
    rejected_batches, rejected_samples, skipped FROM agent_status"""


@dataclass
class Look:
    """One snapshot of PostgreSQL."""
    at: float
    started: object     # when this PostgreSQL was
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


def look_at(db, topic):
    """A Look through a connection."""
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
    return Look(time.monotonic(), started, offsets, hosts, samples)


def look_faults(look, ledger):
    """A ledger at the look's offsets, and what is stored."""
    for spool in sorted(ledger.accounts.keys() | look.hosts.keys()):
        if spool not in look.hosts:
            yield f"{spool} is not stored, and its batches up to {look.offsets} are"
        elif spool not in ledger.accounts:
            yield f"{spool} is stored, and no batch of it is: {look.hosts[spool]}"
        else:
            yield from row_faults(spool, look.hosts[spool], ledger)
    if look.samples != ledger.total():
        yield (f"{look.samples} samples are in the chunks, {ledger.total()} in the messages"
               f" up to {look.offsets}")


def row_faults(spool, row, ledger):
    account, said = ledger.accounts[spool], ledger.truth.said[spool]
    unseen = set(range(1, account.highest + 1)) - account.numbers.keys()
    word = said[account.highest]
    wanted = Row(account.highest, unseen, 0, word.sampled, sum(word.lost.values()), account.stored,
                 account.duplicates, account.rejected, account.rejected_samples, 0)
    for name, value in vars(wanted).items():
        if vars(row)[name] != value:
            yield (f"{spool}: {name} is {brief(vars(row)[name])} in agent_status,"
                   f" {brief(value)} in the messages"
                   f"{ledger_places(ledger, spool, vars(row)[name], value)}")
    in_flight = row.sampled - row.lost - row.stored - row.rejected_samples
    waiting = sum(said[n].samples or said[n].batch for n in unseen if n in said)
    if in_flight != waiting:
        yield (f"{spool}: sampled {row.sampled} = stored {row.stored} + lost {row.lost} + rejected"
               f" {row.rejected_samples} + in flight {in_flight}, and {brief(unseen)} hold"
               f" {waiting}")


def brief(value):
    if not isinstance(value, set):
        return value
    numbers = ", ".join(map(str, sorted(value)[:SHOWN]))
    return f"{{{numbers}{', ...' if len(value) > SHOWN else ''}}}"


def ledger_places(ledger, spool, have, wanted):
    """Where on the topic the batches are that one knows and the other does not."""
    if not isinstance(have, set):
        return ""
    return "; they are at " + ", ".join(
        f"{n}: {ledger.truth.places.get((spool, n), 'nowhere')}"
        for n in sorted(have ^ wanted)[:SHOWN])


def agent_faults(truth, node, counted):
    """What the topic says of a real agent that has ended: its numbers have no gaps, each of its
    sums closes, and the last one is of all that the kernel has counted."""
    spools = [spool for spool in truth.said if spool[0].startswith(f"{node}/")]
    if len(spools) != 1:
        yield f"{node} has {len(spools)} spools: {spools}"
    for spool in spools:
        batches, put = truth.said[spool], 0
        if sorted(batches) != list(range(1, len(batches) + 1)):
            yield f"{spool}: the numbers have gaps: {sorted(batches)}"
        for number in sorted(batches):
            said = batches[number]
            put += said.samples
            if said.batch != said.samples:
                yield f"{spool}: batch {number} holds {said.samples} samples, its word: {said}"
            if said.sampled != put + sum(said.lost.values()):
                yield f"{spool}: {put} samples are in batches to {number}, the agent's word: {said}"
        if batches[max(batches)].sampled != counted:
            yield f"{spool}: the kernel has sampled {counted}, the last word: {batches[max(batches)]}"


def differences(truth: Truth, began):
    """A sentence for each; none when all that is on the topic is stored, once."""
    ledger = Ledger(truth)
    ledger.move(truth.ends)
    with truth.cell.connect() as db:
        found = list(look_faults(look_at(db, truth.cell.topic), ledger))
    values = stored_values(truth.cell, began - OLD_S[1])
    for key in sorted(truth.values.keys() | values.keys()):
        if truth.values[key] == values[key]:
            continue
        places = {batch: truth.places[batch] for batch in sorted(truth.batches_of[key])[:SHOWN]}
        found.append(f"node {key[0]} pid {key[1]}: {values[key]} ns are stored,"
                     f" {truth.values[key]} were sent, by {places or 'messages without a number'}"
                     )
    return shown(found) + stack_faults(truth, began - OLD_S[1])


def stack_faults(truth, began):
    """Of whole hours, which are answered from their sums where there are any."""
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
    """{(node, pid): nanoseconds}, as the querier tells it."""
    found = Counter()
    stacks = cell.collapsed(group_by="node,pid", start=f"{began:.3f}",
                            end=f"{time.time() + 1:.3f}")
    for stack, value in stacks.items():
        node, pid = (part.partition("=")[2] for part in stack[:2])
        found[node, int(pid)] += value
    return found
