# SPDX-License-Identifier: Apache-2.0
"""unwind_agents - agents that build unwind tables, and programs that need unwind tables."""
import contextlib
import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import metrics, servers_of_a_run, wait_until
from local.services import Service

BUILDER = "decima-agent-builder"

# Five nested functions without frame pointers; runs for the number of seconds in its argument.
SOURCE = """
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
#define DEEPER(name, next) __attribute__((noinline)) unsigned long name(unsigned long n) \\
  { volatile char room[48 + sizeof #name]; room[n %% 40] = 1; return next(n) + room[n %% 40]; }
__attribute__((noinline)) unsigned long leaf(unsigned long n)
{ for (int i = 0; i < 20000; i++) sink += n; return sink; }
DEEPER(third, leaf) DEEPER(second, third) DEEPER(first, second)
asm(".rept %d\\n.cfi_startproc\\npush %%rbx\\n.cfi_def_cfa_offset 16\\nnop\\nnop\\nnop\\n"
    "pop %%rbx\\n.cfi_def_cfa_offset 8\\nret\\n.skip 16\\n.cfi_endproc\\n.endr\\n");
int main(int argc, char **argv)
{
  struct timespec a, b;
  double s = argc > 1 ? atof(argv[1]) : 3600;
  clock_gettime(CLOCK_MONOTONIC, &a);
  do { first(argc); clock_gettime(CLOCK_MONOTONIC, &b); }
  while (b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9 < s);
  return 0;
}
"""
CHAIN = ["first", "second", "third", "leaf"]

@pytest.fixture(scope="module")
def fleet():
    """A run directory without servers."""
    with servers_of_a_run("-unwind", without=("postgres", "redis", "kafka")) as made:
        yield made


@pytest.fixture
def start(fleet, request):
    """start(name, flag=value, ...): an agent that samples, and spools, as there is no Kafka."""
    started = []

    def make(name="agent", **flags):
        name = f"{request.node.name[:40]}-{name}"
        own_flags = {"kafka-brokers": "127.0.0.1:1", "profiling-duration": "1s",
                     "log-level": "debug"}
        own_flags |= {k.replace("_", "-"): v for k, v in flags.items()}
        agent = Service(fleet, "agent", name, own_flags)
        agent.launch()
        started.append(agent)
        agent.wait_ready(agent.ready)
        return agent

    yield make
    for agent in started:
        agent.kill()
        shutil.rmtree(fleet.run_dir / agent.name, ignore_errors=True)


class Program:
    """A program that is built for the test; `functions` unused functions make its table large."""

    def __init__(self, where, name, functions=1, flags=()):
        where.mkdir(parents=True, exist_ok=True)
        source, self.path = where / f"{name}.c", where / name
        source.write_text(SOURCE % functions + f"const char mark[] = \"{name}\";\n")
        subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls",
                        "-Wl,--build-id=sha1", *flags, "-o", self.path, source], check=True)
        notes = subprocess.run(["readelf", "-n", self.path], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        self.id = notes.partition("Build ID:")[2].split()[0]

    @contextlib.contextmanager
    def running(self):
        process = subprocess.Popen([self.path])
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def sampled_by(self, agent):
        """Run the program until its unwind table is loaded."""
        before = loads(agent, self)
        with self.running():
            wait_until(lambda: loads(agent, self) > before, what="the table is loaded")


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "bin", "busy")


def loads(agent, program):
    return agent.log_file.read_text().count(f'"unwind table loaded" build_id={program.id} ')


def builds(agent, program):
    return agent.log_file.read_text().count(f'"unwind table built" build_id={program.id} ')


def outcomes(agent):
    """{reason: count}, without zeros."""
    found = re.compile(r'decima_agent_unwind_table_build_errors_total{reason="(\w+)"}')
    return {found.fullmatch(k)[1]: int(v) for k, v in metrics(agent).items()
            if found.fullmatch(k) and v}


def troubles(agent, reason):
    return metrics(agent)[f'decima_agent_unwind_cache_errors_total{{reason="{reason}"}}']


def builders_of(agent):
    children = Path(f"/proc/{agent.pid()}/task").glob("*/children")
    pids = [int(pid) for file in children for pid in file.read_text().split()]
    return [pid for pid in pids if BUILDER in Path(f"/proc/{pid}/cmdline").read_text()]


def cached(agent, program):
    """The cached file of the program's table."""
    files = list((Path(agent.flags["state-directory"]) / "unwind").glob(f"{program.id}-*.v*"))
    return files[0] if files else None


def samples_lost(agent):
    return sum(v for k, v in metrics(agent).items()
               if k.startswith("decima_agent_samples_lost_total"))


def stacks(directory, protos, program):
    """[[function or "?", ... root first]] of a program, named by its own symbol table."""
    table = subprocess.run(["nm", "-S", "--defined-only", program.path], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    spans = [(int(at, 16), int(size, 16), name) for at, size, name in
             re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [Tt] (\S+)$", table, re.MULTILINE)]
    found = []
    for path in sorted(directory.glob("*.pb.gz")):
        profile = protos.pprof.Profile()
        profile.ParseFromString(gzip.decompress(path.read_bytes()))
        text = [s.decode() if isinstance(s, bytes) else s for s in profile.string_table]
        ours = {m.id for m in profile.mapping if text[m.build_id] == program.id}
        places = {p.id: p for p in profile.location}
        for sample in profile.sample:
            frames = [places[i] for i in reversed(sample.location_id)]
            if not any(p.mapping_id in ours for p in frames):
                continue
            found.append([next((name for at, size, name in spans
                                if p.mapping_id in ours and at <= p.address < at + size), "?")
                          for p in frames])
    return found
