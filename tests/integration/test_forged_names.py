# SPDX-License-Identifier: Apache-2.0
"""A user's file with the build id and the DWARF of its own: from the agent to the names of a query.
Needs root, to start the agent."""
import pytest

from forged import Programs
from harness import wait_until
from named_cell import NamedCell

pytestmark = pytest.mark.machine

SECONDS = 1.0  # of CPU time of each run
OWN = ("main", "outer", "inner", "leaf")


@pytest.fixture(scope="module")
def cell(servers):
    with NamedCell(servers, "forged") as made:
        made.start()
        yield made


@pytest.fixture
def programs():
    made = Programs()
    yield made
    made.remove()


def stacks(cell, program):
    return cell.collapsed('{exe="%s"}' % program)


def run(cell, programs, program):
    """Run until samples of the program are stored."""
    before = cell.total('{exe="%s"}' % program)
    programs.run(SECONDS, program)
    wait_until(lambda: cell.total('{exe="%s"}' % program) > before, what="samples are stored")


def is_stored(cell, programs, trusted):
    files = cell.fleet.run_dir / "forged-files" / "files" / programs.id[:2] / programs.id[2:]
    return any((f.suffix == ".trusted") == trusted for f in files.glob("debuginfo-*"))


def own_part(stack):
    """The frames of main() to leaf(); fewer if the stack is cut off."""
    return stack[:stack.index("leaf") + 1][-len(OWN):] if "leaf" in stack else ()


def wait_named(cell, programs, figure):
    """All stacks of the victim, also those from before, get the names of the victim."""
    wait_until(lambda: any(own_part(stack) == OWN for stack in stacks(cell, programs.victim)),
               what="names of the victim")
    found = stacks(cell, programs.victim)
    forged = {name for stack in found for name in stack if name.startswith("forged_")}
    wrong = [stack for stack in found
             if own_part(stack) != OWN[len(OWN) - len(own_part(stack)):]]
    figure(f"{len(found)} stacks, {len(forged)} forged names, {len(wrong)} in another order")
    assert not forged and not wrong


def test_the_attacker_is_first(cell, programs, figure):
    run(cell, programs, programs.attacker)
    wait_until(lambda: is_stored(cell, programs, False), what="the file of the attacker is stored")
    run(cell, programs, programs.victim)
    wait_until(lambda: is_stored(cell, programs, True), what="the victim's file is stored")

    wait_named(cell, programs, figure)


def test_the_victim_is_first(cell, programs, figure):
    run(cell, programs, programs.victim)
    wait_named(cell, programs, figure)
    run(cell, programs, programs.attacker)
    assert cell.put(programs.id, programs.attacker, "rank=dwarf&trusted=false") == 409

    wait_named(cell, programs, figure)


def test_another_host_is_first(cell, programs, figure):
    assert cell.put(programs.id, programs.attacker, "rank=dwarf&trusted=false") == 201
    run(cell, programs, programs.victim)
    wait_until(lambda: is_stored(cell, programs, True), what="the victim's file is stored")

    wait_named(cell, programs, figure)
    run(cell, programs, programs.victim)
    wait_named(cell, programs, figure)
