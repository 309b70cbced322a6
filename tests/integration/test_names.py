"""Names from end to end: agent, debuginfo, symbolizer and querier, all of them real."""
import json
import os
import signal
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from harness import Cell, metrics, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not Path("/sys/kernel/btf/vmlinux").exists(),
                                reason="the agent needs root and BTF")

# `hot` is inlined into `warm`, whose lines are told apart; all CPU time is in `hot`. Asking for the
# frame's address makes gcc set up a frame pointer in a function that calls nobody.
SOURCE = """\
static volatile unsigned long sink;
static void *volatile frame;

static inline __attribute__((always_inline)) void hot(unsigned long units)
{
	for (unsigned long i = 0; i < units; i++)
		sink = sink * 1000003 + i;
}

__attribute__((noinline)) static void warm(unsigned long units)
{
	frame = __builtin_frame_address(0);
	hot(units);
	sink++;
}

int main(void)
{
	for (;;)
		warm(SEED);
}
"""
HOT_LINES, WARM_LINE, MAIN_LINES = (6, 7), 13, (19, 20)


def run(*argv, **more):
    return subprocess.run([str(a) for a in argv], check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, **more).stdout


class NamedCell(Cell):
    """A Cell with debuginfo, a symbolizer that asks it, and a querier that asks that."""

    def __init__(self, fleet, name):
        super().__init__(fleet, name)
        made = self.fleet.run_dir
        self.debuginfo = self.service("debuginfo",
                                      flags={"state-directory": made / f"{name}-files"})
        self.symbolizer = self.service("symbolizer", flags={
            "state-directory": made / f"{name}-tables", "debuginfod-urls": self.debuginfo.url,
            "redis": fleet.redis.address()})
        self.querier.flags["symbolizer-url"] = self.symbolizer.url
        self.agent = self.service("agent", flags={"profiling-duration": "1s"})

    def start(self):
        for service in (self.ingester, self.debuginfo, self.symbolizer, self.querier, self.agent):
            self.start_service(service, 60)

    def upload(self, build_id, file):
        url = f"{self.debuginfo.url}/buildid/{build_id}/debuginfo?rank=dwarf"
        request = urllib.request.Request(url, Path(file).read_bytes(), method="PUT")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status

    def answer(self, report, query="{}", **params):
        """An answer as a whole, warnings too."""
        status, body = self.api("query", query=query, report=report, **params)
        assert status == 200, body[:300]
        return json.loads(body)


@pytest.fixture(scope="module")
def named(servers):
    with NamedCell(servers, "names") as made:
        made.start()
        yield made


class Program:
    """SOURCE as a stripped program that runs, and its debug info elsewhere."""

    def __init__(self, directory, seed):
        source, whole = directory / "heat.c", directory / "whole"
        self.path, self.debug = directory / "heat", directory / "elsewhere.debug"
        self.source = str(source)
        source.write_text(SOURCE)
        run("cc", "-O2", "-g", f"-DSEED={seed}ul", "-fno-omit-frame-pointer", "-Wl,--build-id=sha1",
            "-o", whole, source)
        run("objcopy", "--only-keep-debug", whole, self.debug)
        run("strip", "-s", "-o", self.path, whole)
        self.build_id = run("readelf", "-n", whole).partition("Build ID:")[2].split()[0]
        whole.unlink()
        self.process = subprocess.Popen([self.path], stdin=subprocess.DEVNULL)
        self.query = '{exe="%s"}' % self.path

    def end(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def program(named, tmp_path, request):
    made = Program(tmp_path, 100_000 + sum(request.node.name.encode()))
    try:
        wait_until(lambda: named.total(made.query) > 0, 100, "its first samples")
        yield made
    finally:
        made.end()


def functions(named, program):
    """Those of the program that stacks go through, as their frames read."""
    return {frame for stack in named.collapsed(program.query) for frame in stack}


def is_addresses(named, program):
    names = functions(named, program)
    return any(name.startswith("heat+0x") for name in names) and not names & {"main", "hot", "warm"}


def test_a_program_is_named_after_its_debug_info_came_late(named, program):
    assert is_addresses(named, program)
    rows = named.answer("table", program.query)["data"]["rows"]
    assert any(row.get("reason") for row in rows if row["function"].startswith("heat+0x"))
    # Every cache is warm.
    cached = 'decima_querier_name_addresses_total{from="cache"}'
    wait_until(lambda: metrics(named.querier)[cached] > 0 and is_addresses(named, program),
               60, "addresses out of the cache")

    assert named.upload(program.build_id, program.debug) == 201
    uploaded = time.monotonic()
    wait_until(lambda: ("main", "warm", "hot") in
               {stack[-3:] for stack in named.collapsed(program.query)}, 100, "names")
    took = time.monotonic() - uploaded

    assert took < 10
    assert not any(name.startswith("heat+0x") for name in functions(named, program))


def test_lines_and_inlined_calls_are_those_of_the_source(named, protos, program):
    named.upload(program.build_id, program.debug)
    wait_until(lambda: "hot" in functions(named, program), 100, "names")

    profile = named.pprof(protos, program.query)
    text = [t.decode() for t in profile.string_table]
    of = {f.id: f for f in profile.function}
    at = {loc.id: [(text[of[line.function_id].name], line.line) for line in loc.line]
          for loc in profile.location}
    value, right = 0, 0
    for sample in profile.sample:
        lines = [line for location in sample.location_id for line in at[location]]
        value += sample.value[0]
        names = [name for name, _ in lines]
        if names[:3] == ["hot", "warm", "main"]:
            assert lines[0][1] in HOT_LINES and lines[1][1] == WARM_LINE, lines
            assert lines[2][1] in MAIN_LINES, lines
            right += sample.value[0]
    assert right > 0.9 * value
    files = {text[f.filename] for f in profile.function if text[f.name] in ("hot", "warm", "main")}
    assert files == {program.source}


def test_a_symbolizer_that_stands_still_or_is_killed_costs_names_alone(named, program):
    def ask():
        answer = named.answer("table", program.query)
        assert answer["data"]["total"] > 0
        return answer.get("warnings", [])

    named.symbolizer.send(signal.SIGSTOP)
    try:
        wait_until(ask, 100, "a warning")
        assert named.total(program.query) > 0
    finally:
        named.symbolizer.send(signal.SIGCONT)
    wait_until(lambda: not ask(), 100, "it is asked again")

    named.symbolizer.kill()
    wait_until(ask, 100, "a warning")
    named.start_service(named.symbolizer)
    wait_until(lambda: not ask(), 100, "it is asked again")
