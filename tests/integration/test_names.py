# SPDX-License-Identifier: Apache-2.0
"""Symbolized stacks from end to end: real agent with uploads, debuginfo, symbolizer, querier."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from harness import SLOW, metrics, wait_until
from named_cell import NamedCell

pytestmark = pytest.mark.machine

# `hot` is inlined into `warm`, and their lines differ; all CPU time is in `hot`. Reading the frame
# address makes gcc set up a frame pointer in a function that calls no other function.
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
        wait_until(lambda: named.total(made.query) > 0, what="the program's first samples")
        yield made
    finally:
        made.end()


def functions(named, program):
    """The frames of the program's stacks, as text."""
    return {frame for stack in named.collapsed(program.query) for frame in stack}


def is_addresses(named, program):
    names = functions(named, program)
    return any(name.startswith("heat+0x") for name in names) and not names & {"main", "hot", "warm"}


def test_a_program_is_symbolized_after_late_debug_info(named, program):
    assert is_addresses(named, program)
    rows = named.response("table", program.query)["data"]["rows"]
    assert any(row.get("reason") for row in rows if row["function"].startswith("heat+0x"))
    # Every cache is warm.
    cached = 'decima_querier_symbolize_addresses_total{from="cache"}'
    wait_until(lambda: metrics(named.querier)[cached] > 0 and is_addresses(named, program),
               what="addresses from the cache")

    # 200: the agent has already uploaded the stripped program.
    assert named.upload(program.build_id, program.debug) in (200, 201)
    uploaded = time.monotonic()
    wait_until(lambda: ("main", "warm", "hot") in
               {stack[-3:] for stack in named.collapsed(program.query)}, what="functions")
    took = time.monotonic() - uploaded

    assert took < SLOW * 10
    assert not any(name.startswith("heat+0x") for name in functions(named, program))


def test_lines_and_inlined_calls_equal_the_source(named, protos, program):
    named.upload(program.build_id, program.debug)
    wait_until(lambda: "hot" in functions(named, program), what="functions")

    profile = named.pprof(protos, program.query)
    text = [t.decode() for t in profile.string_table]
    of = {f.id: f for f in profile.function}
    at = {loc.id: [(text[of[line.function_id].name], line.line) for line in loc.line]
          for loc in profile.location}
    value, right = 0, 0
    for sample in profile.sample:
        lines = [line for location in sample.location_id for line in at[location]]
        value += sample.value[0]
        while lines and lines[0][0] != "hot":  # an interrupt, which is frequent on a busy machine
            lines.pop(0)
        names = [name for name, _ in lines]
        if names[:3] == ["hot", "warm", "main"]:
            assert lines[0][1] in HOT_LINES and lines[1][1] == WARM_LINE, lines
            assert lines[2][1] in MAIN_LINES, lines
            right += sample.value[0]
    assert right > 0.9 * value
    files = {text[f.filename] for f in profile.function if text[f.name] in ("hot", "warm", "main")}
    assert files == {program.source}


def test_if_the_symbolizer_is_stopped_or_killed_results_have_a_warning(named, program):
    def warnings():
        response = named.response("table", program.query)
        assert response["data"]["total"] > 0
        return response.get("warnings", [])

    named.symbolizer.send(signal.SIGSTOP)
    try:
        wait_until(warnings, what="a warning")
        assert named.total(program.query) > 0
    finally:
        named.symbolizer.send(signal.SIGCONT)
    wait_until(lambda: not warnings(), what="no warning")

    named.symbolizer.kill()
    wait_until(warnings, what="a warning")
    named.start_service(named.symbolizer)
    wait_until(lambda: not warnings(), what="no warning")


# the share of symbolized frames

BURN = """
import json, re
def words(text): return re.findall(r"[a-z]+", text)
def fibonacci(n): return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
while True:
    fibonacci(18)
    json.loads(json.dumps([{"n": i, "w": words("some words in a row")} for i in range(500)]))
"""
SCRIPT = """
const f = n => n < 2 ? n : f(n - 1) + f(n - 2);
const list = [...Array(2000).keys()].map(n => ({ n, s: `${n}` }));
for (;;) { f(22); JSON.parse(JSON.stringify(list)); }
"""
QUERIES = """
SELECT md5(string_agg(a::text, ',')) FROM generate_series(1, 200000) a GROUP BY a % 100
"""
COMPILED = """\
#include <map>
#include <string>
using words = std::map<std::string, int>;
__attribute__((noinline)) static int count(words &w, int n)
{
	for (int i = 0; i < 999; i++)
		w[std::to_string(i * n)]++;
	return w.size();
}
int main(int argc, char **)
{
	words w;
	int sum = 0;
	for (int i = 0; i < 20 * argc; i++)
		sum += count(w, i);
	return sum == 0;
}
"""
SHARE = 0.9


def compile_often(directory, stop):
    """Run g++ and the program that it made, which has debug info."""
    source = directory / "many.cc"
    source.write_text(COMPILED)
    while not stop.is_set():
        run("g++", "-O1", "-g", "-o", directory / "many", source)
        run(directory / "many", "2", "3")


def query_often(cell, stop):
    with cell.connect() as db:
        while not stop.is_set():
            db.execute(QUERIES).fetchall()


@contextlib.contextmanager
def mixed_load(cell, directory):
    """A compiler, PostgreSQL, Python, Node if it is here, and a program of ours."""
    stop, commands = threading.Event(), [
        [sys.executable, "-c", BURN], [cell.fleet.build / "tests" / "programs" / "burn"]]
    if shutil.which("node"):
        commands.append(["node", "-e", SCRIPT])
    threads = [threading.Thread(target=compile_often, args=(directory, stop)),
               threading.Thread(target=query_often, args=(cell, stop))]
    running = []
    try:
        running += [subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL)
                    for command in commands]
        for thread in threads:
            thread.start()
        yield
    finally:
        stop.set()
        for process in running:
            process.kill()
            process.wait()
        for thread in threads:
            thread.join()


def sections(path):
    shown = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=False)
    return shown.stdout


class Binaries:
    """The kinds of symbols in the file at a path, or in its Debian debug package."""

    def __init__(self):
        self.known = {}

    def kind(self, path, build_id):
        """"debug": symbols or debug info; "exports": only dynamic symbols; "gone"; "none"."""
        if (path, build_id) not in self.known:
            self.known[path, build_id] = self.inspect(path, build_id)
        return self.known[path, build_id]

    @staticmethod
    def inspect(path, build_id):
        if os.path.exists(f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"):
            return "debug"
        if not os.path.isfile(path):
            return "gone"
        there = sections(path)
        if any(f" {name} " in there
               for name in (".symtab", ".debug_info", ".gnu_debugdata", ".gopclntab")):
            return "debug"
        return "exports" if " .dynsym " in there else "none"


class Shares:
    """User frames in binaries: {kind: [weight, named weight, {addresses}, {named addresses}]}."""

    def __init__(self, profile, binaries):
        text = [t.decode() for t in profile.string_table]
        mapping = {m.id: (text[m.filename], text[m.build_id]) for m in profile.mapping}
        of = {loc.id: (mapping.get(loc.mapping_id, ("", "")), loc) for loc in profile.location}
        self.kinds, self.unnamed = {}, {}
        for sample in profile.sample:
            for (path, build_id), location in (of[i] for i in sample.location_id):
                if not path.startswith("/") or not build_id:
                    continue
                kind = binaries.kind(path, build_id)
                share = self.kinds.setdefault(kind, [0, 0, set(), set()])
                share[0] += sample.value[0]
                share[2].add((build_id, location.address))
                if location.line:
                    share[1] += sample.value[0]
                    share[3].add((build_id, location.address))
                else:
                    key = path, kind
                    self.unnamed[key] = self.unnamed.get(key, 0) + sample.value[0]

    def share(self, kind):
        weight, named, _, _ = self.kinds.get(kind, (0, 0, (), ()))
        return named / weight if weight else 0

    def lines(self):
        """The report, line by line."""
        for kind, (weight, named, addresses, resolved) in sorted(self.kinds.items()):
            yield (f"names: {named / weight:.1%} of the user frames by weight, "
                   f"{len(resolved)} of {len(addresses)} different ones, in binaries: {kind}")
        total = sum(share[0] for share in self.kinds.values())
        for (path, kind), value in sorted(self.unnamed.items(), key=lambda u: -u[1])[:10]:
            yield f"names: unnamed, {value / total:.1%} of all: {path} ({kind})"


def names_of_a_load(named, protos, directory, seconds):
    binaries, began = Binaries(), time.time()
    with mixed_load(named, directory):
        time.sleep(seconds)
    window = {"start": f"{began:.3f}", "end": f"{time.time() + 1:.3f}"}

    def shares():
        return Shares(named.pprof(protos, "{}", **window), binaries)

    # Files that are uploaded last are symbolized a little later.
    with contextlib.suppress(AssertionError):
        wait_until(lambda: shares().share("debug") >= SHARE, what="functions", every=2)
    return shares()


def report(found, figure):
    for line in found.lines():
        figure(line)
        print(line)
    assert found.share("debug") >= SHARE


def test_frames_of_a_mixed_load_are_symbolized(named, protos, tmp_path, figure):
    report(names_of_a_load(named, protos, tmp_path, 20), figure)


@pytest.mark.long
def test_frames_of_two_minutes_of_mixed_load_are_symbolized(named, protos, tmp_path, figure):
    report(names_of_a_load(named, protos, tmp_path, 120), figure)
