# SPDX-License-Identifier: Apache-2.0
"""Mutants of valid programs are run under an agent, uploaded, and symbolized: only sandboxed
processes may end, and memory stays within its bounds.

The mutants are made by the generator of the fuzzers (tests/fuzz/support/elf_mutant.h). The kernel
executes most of them; of the others, the code is run out of a mapping of the file.
"""
import hashlib
import json
import os
import re
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import symbol_oracles as oracles
from debuginfo_store import put
from harness import metrics, wait_until
from local_agent import LocalAgent
from mutants import BUILD, Watch, execute, make_mutants, make_originals, renamed, run
from symbolizer_service import (  # fleet: a fixture that start() uses
    NO_FILE, PENDING, fleet, post, start, upload)

pytestmark = pytest.mark.machine

SEED = int(os.environ.get("DECIMA_MUTANTS_SEED", "17"))
SHORT, LONG, BATCH = 100, 2000, 50
HERTZ = 97
CLIENT = "127.0.0.2"  # which does not share the agent's part of the uploads
# Of the samples of a program that uses 5 s: 485, so the error of random ticks is 5 % of them.
RATE_ERROR = 0.2
MB = 1 << 20
FETCHER = "symbolizer: exe"  # which executes its own file again
# The largest peak of each process. docs/limits.md: UPLOADER_MEMORY_MAX, UNWIND_BUILDER_MEMORY_MAX,
# FILE_OPENER_MEMORY_MAX, FILE_READER_MEMORY_MAX. The agent: 40 MB as under every attack, and what
# waits for tables if the machine is busy otherwise, DEFERRED_BYTES_MAX. The other services: their
# containers' limits in compose.yaml; the symbolizer shares its 2 GB with its processes.
PEAKS_MAX = {
    "decima-agent": (40 + 16) * MB,
    "agent: decima-agent-builder": 512 * MB,
    "agent: decima-agent-opener": 64 * MB,
    "agent: decima-agent-reader": 64 * MB,
    "agent: decima-agent-uploader": 256 * MB,
    "agent: decima-agent-parser": 256 * MB,
    "decima-debuginfo": 512 * MB,
    "decima-symbolizer": 512 * MB,
    FETCHER: 512 * MB,
    "symbolizer: decima-symbolizer-builder": 512 * MB,
}
# These parse no file, so they may not end. The agent's opener and uploader do not either, but they
# are stopped when they are idle, so only the reason of their end is known.
LASTING = {"decima-agent", "decima-debuginfo", "decima-symbolizer", FETCHER}
ALLOWED_ENDS = {"stopped", "timeout", "cpu_time", "memory", "file_size"}


@pytest.fixture
def place():
    """A directory that every user can read; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(prefix="decima-mutants-") as path:
        os.chmod(path, 0o755)
        yield Path(path)


@pytest.fixture
def services(start, tmp_path):
    """(agent, debuginfo, symbolizer); the first one uploads to the second one."""
    debuginfo = start("debuginfo")
    symbolizer = start("symbolizer", debuginfod_urls=debuginfo.url)
    (tmp_path / "profiles").mkdir()
    agent = LocalAgent(BUILD / "services" / "agent" / "decima-agent", tmp_path / "profiles",
                       f"--profiling-cpu-sampling-frequency={HERTZ}",
                       f"--debuginfo-url={debuginfo.url}", "--log-level=debug")
    yield agent, debuginfo, symbolizer
    if agent.process.poll() is None:
        agent.process.kill()
        agent.process.wait()


def labelled(service, metric):
    """{label's value: count} of a counter with one label, without zeros."""
    return {name.split('"')[1]: int(value) for name, value in metrics(service).items()
            if name.startswith(f"{metric}{{") and value}


def sampled_rate(agent, protos):
    """The CPU time of a program by its samples, divided by what the kernel says."""
    report = json.loads(run(BUILD / "tests" / "programs" / "burn", "5", timeout=600))

    def nanoseconds():
        return sum(value for labels, _, value in agent.samples(protos)
                   if labels.get("pid") == str(report["pid"]))
    expected = report["cpu_seconds"] * 1e9
    wait_until(lambda: nanoseconds() > (1 - RATE_ERROR) * expected, what="the program's samples")
    return nanoseconds() / expected


def symbolize(symbolizer, addresses):
    """{build id: [location]} of {build id: [address]}, when no name is pending any more."""
    body = json.dumps({"requests": [{"build_id": build_id, "addresses": numbers}
                                    for build_id, numbers in addresses.items()]}).encode()

    def known():
        status, answer = post(symbolizer, body)
        assert status == 200, answer
        responses = json.loads(answer)["responses"]
        locations = dict(zip(addresses, (response["locations"] for response in responses),
                             strict=True))
        pending = [location for found in locations.values() for location in found
                   if location.get("reason") == PENDING]
        return None if pending else locations
    return wait_until(known, what="no name is pending")


def frames(location):
    return tuple(oracles.frame(line["system_name"] or line["function"], line["file"], line["line"])
                 for line in location["lines"])


def check_names(services, originals, where):
    """Valid programs with new build ids are named as llvm-symbolizer names them."""
    _, debuginfo, symbolizer = services
    where.mkdir()
    for name, original in originals.items():
        fresh = renamed(original, where / name)
        upload(debuginfo, fresh.build_id, fresh.path)
        found = symbolize(symbolizer, {fresh.build_id: fresh.addresses()})[fresh.build_id]
        names = [function for function in fresh.functions for _ in range(2)]
        assert [frames(each)[-1][0].removeprefix("main.") for each in found] == names, name
        if name.endswith("-zstd"):  # llvm-symbolizer 14 does not read them
            run("objcopy", "--decompress-debug-sections", fresh.path)
        if not name.endswith("-mini"):  # likewise .gnu_debugdata
            assert [frames(each) for each in found] == oracles.llvm(fresh.path, fresh.addresses())


def htlhash(image):
    hashed = hashlib.sha256(image[:4096] + image[-4096:] + len(image).to_bytes(8, "big"))
    return f"htlhash:{hashed.hexdigest()[:32]}"


class Round:
    """Gives mutants to the services, and counts what became of them."""

    def __init__(self, services, originals, where):
        self.agent, self.debuginfo, self.symbolizer = services
        self.originals, self.where = originals, where
        self.kinds, self.ran, self.answers = Counter(), Counter(), Counter()
        self.statuses, self.build_ids = Counter(), set()

    def put(self, mutant):
        """If the file does not have its build id any more, under its hash."""
        image = mutant.path.read_bytes()
        status, _ = put(self.debuginfo, mutant.build_id, image, source=CLIENT)
        self.statuses[status] += 1
        if status == 400:
            mutant.build_id = htlhash(image)
            status, _ = put(self.debuginfo, mutant.build_id, image, source=CLIENT)
            self.statuses[f"{status} by hash"] += 1

    def give(self, first, count):
        self.where.mkdir()
        self.where.chmod(0o755)
        mutants = make_mutants(SEED, first, count, self.where, self.originals)
        self.build_ids |= {mutant.build_id for mutant in mutants}
        for mutant in mutants[::2]:  # before the agent offers it
            self.put(mutant)
        with ThreadPoolExecutor(3) as pool:
            self.ran.update(pool.map(execute, mutants))
        for mutant in mutants[1::2]:
            self.put(mutant)
        self.kinds.update(kind for mutant in mutants for kind in mutant.kinds)
        asked = {mutant.build_id: mutant.original.addresses() for mutant in mutants}
        for locations in symbolize(self.symbolizer, asked).values():
            self.answers[locations[0].get("reason") or "named"] += 1
        for mutant in mutants:
            mutant.path.unlink()
        self.where.rmdir()


def reached(rounds):
    """How many mutants with their build ids the agent's builder and uploader had."""
    logged = rounds.agent.words()
    build_ids = {event: set(re.findall(rf'msg="{event}" build_id=(\S+)', logged))
                 for event in ("unwind table built", "no unwind table", "debug info offered")}
    built, not_built, offered = (rounds.build_ids & found for found in build_ids.values())
    return len(built | not_built), len(offered)


def give_all(rounds, count, services):
    agent, debuginfo, symbolizer = services
    for first in range(0, count, BATCH):
        rounds.give(first, min(BATCH, count - first))
        for pid in (agent.process.pid, debuginfo.pid(), symbolizer.pid()):
            assert Path(f"/proc/{pid}").exists(), f"after mutant {first} of seed {SEED}"
    # other programs of the machine may keep the agent's processes busy
    wait_until(lambda: min(reached(rounds)) >= 0.3 * count, deadline=600, every=1,
               what="the agent's builder and uploader have most mutants")


def report(figure, rounds, watch, services, took):
    agent, _, symbolizer = services
    figure(f"{sum(rounds.ran.values())} mutants of seed {SEED} in {took:.0f} s; kinds: "
           f"{dict(rounds.kinds.most_common())}")
    figure("mutants with their build ids: %d at the agent's builder, %d at its uploader"
           % reached(rounds))
    figure(f"mutants ran: {dict(rounds.ran)}; PUT: {dict(rounds.statuses)}; symbolizer: "
           f"{dict(rounds.answers)}")
    figure(f"mutants, agent: uploads {labelled(agent, 'decima_agent_debuginfo_uploads_total')}, "
           f"tables not built {labelled(agent, 'decima_agent_unwind_table_build_errors_total')}, "
           f"files {labelled(agent, 'decima_agent_files_read_total')}")
    for name, service in (("agent", agent), ("symbolizer", symbolizer)):
        figure(f"mutants, ends of processes of the {name}: "
               f"{labelled(service, 'decima_sandbox_ends_total')}")
    peaks = {who: f"{peak / MB:.1f}" for who, peak in sorted(watch.peaks.items())}
    figure(f"mutants, peaks in MiB: {peaks}")


@pytest.mark.parametrize("count", [SHORT, pytest.param(LONG, marks=pytest.mark.long)])
def test_mutants_end_at_most_sandboxed_processes(services, place, tmp_path, protos, figure, count):
    agent, debuginfo, symbolizer = services
    (place / "originals").mkdir()
    originals = make_originals(place / "originals")
    rounds = Round(services, originals, place / "mutants")
    check_names(services, originals, tmp_path / "before")

    began = time.monotonic()
    with Watch(agent=agent.process.pid, debuginfo=debuginfo.pid(),
               symbolizer=symbolizer.pid()) as watch:
        give_all(rounds, count, services)
        took = time.monotonic() - began
        check_names(services, originals, tmp_path / "after")
        rate = sampled_rate(agent, protos)
    report(figure, rounds, watch, services, took)
    figure(f"mutants, afterwards: {rate:.3f} of a program's CPU time was sampled")

    assert set(watch.peaks) == set(PEAKS_MAX)
    assert {who: peak for who, peak in watch.peaks.items() if peak > PEAKS_MAX[who]} == {}
    assert {who: pids for who, pids in watch.seen.items() if who in LASTING
            if len(pids) > watch.first[who]} == {}
    for service in (agent, symbolizer):
        ends = labelled(service, "decima_sandbox_ends_total")
        assert set(ends) <= ALLOWED_ENDS, ends
    assert labelled(agent, "decima_agent_debuginfo_uploads_total").get("crashed", 0) == 0
    assert abs(1 - rate) < RATE_ERROR
    # the mutants reached the parsers, and were not all rejected at the first check
    assert rounds.ran["as a program"] >= 0.7 * count
    assert rounds.ran["not"] <= 0.1 * count
    assert rounds.answers["named"] >= 0.4 * count and rounds.answers[NO_FILE] <= 0.4 * count
    assert set(rounds.kinds) >= {"header", "section", "compression", "unit", "line", "symbol"}
