# SPDX-License-Identifier: Apache-2.0
"""Programs that run for the first time: their stacks reach their root from the first tick on.

The test compiles each program with a new build id, so no unwind table of it exists when it starts,
and the agent has just started too. The first stacks are deferred to user space and wait in the
agent for their tables.
"""
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import shares
from harness import wait_until
from local.services import http
from local_agent import LocalAgent
from test_short_lived import in_exec, is_whole

pytestmark = pytest.mark.machine

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))
PROGRAMS = 6
SECONDS = 1.0  # of CPU time of each
HERTZ = 19
PERIOD = 10**9 // HERTZ

# Frames without frame pointers, and many functions: building their table takes some time.
SOURCE = """
#include <stdlib.h>
#include <time.h>
volatile unsigned long sink = SALT;
__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 100000; i++) sink += i; }
__attribute__((noinline)) void inner(int n) { char room[64]; room[n] = 1; leaf(); sink += room[n]; }
__attribute__((noinline)) void outer(int n) { inner(n); sink++; }
int main(int argc, char **argv)
{
	double limit = atof(argv[1]);

	while (clock() < limit * CLOCKS_PER_SEC)
		outer(argc);
	return 0;
}
"""


def compiled(place, number):
    """Each program has a build id of its own."""
    source, program = place / f"young{number}.c", place / f"young{number}"
    source.write_text(SOURCE + "".join(
        f"int filler{i}(int n) {{ return n > 1 ? filler{i}(n / 2) + rand() : {i}; }}\n"
        for i in range(3000)))
    subprocess.run(["gcc", "-O1", "-fomit-frame-pointer", f"-DSALT={os.getpid() * 100 + number}",
                    source, "-o", program], check=True)
    return program


def counter(agent, name):
    status, body = http(f"http://{agent.address}/metrics")
    found = re.search(rf"^{re.escape(name)} (\d+)$", body.decode(), re.MULTILINE)
    return int(found[1]) if status == 200 and found else None


@pytest.fixture(scope="module")
def young(protos, tmp_path_factory):
    """(samples of the programs, stacks that were not shipped, stolen seconds)"""
    place = tmp_path_factory.mktemp("young")
    (place / "profiles").mkdir()
    programs = [compiled(place, i) for i in range(PROGRAMS)]
    agent = LocalAgent(BUILD / "services" / "agent" / "decima-agent", place / "profiles",
                       f"--profiling-cpu-sampling-frequency={HERTZ}")
    pids, stolen = set(), shares.stolen_seconds()
    for program in programs:
        with subprocess.Popen([program, str(SECONDS)]) as process:
            assert process.wait(100) == 0
        pids.add(str(process.pid))
    stolen = shares.stolen_seconds() - stolen
    deferred = 'decima_agent_samples_deferred_ended_total{end="loaded"}'
    wait_until(lambda: counter(agent, deferred), what="a deferred stack walked")
    not_shipped = counter(agent, 'decima_agent_stacks_unfinished_in_bpf_total{fate="not_shipped"}')
    agent.stop()
    samples = [(labels, frames) for labels, frames, value in agent.samples(protos)
               if labels.get("pid") in pids for _ in range(round(value / PERIOD))]
    return samples, not_shipped, stolen


def test_their_samples_are_stored_once(young):
    """The count fits the CPU time; deferred samples are neither lost nor stored twice."""
    samples, _, stolen = young

    assert shares.fits_cpu_time(len(samples), PROGRAMS * SECONDS, HERTZ, stolen)


def test_every_stack_reaches_its_root_from_the_first_tick_on(young, figure):
    samples, not_shipped, _ = young
    stacks = [([f for f in frames if not f[3]], [f[3] for f in frames if f[3]])
              for labels, frames in samples if labels["comm"].startswith("young")]
    walked = [user for user, kernel in stacks if user and not in_exec(user, kernel)]
    broken = Counter((user[-1][0], hex(user[-1][2]), len(user))
                     for user in walked if not is_whole(user))

    figure(f"{len(walked) - sum(broken.values())} of {len(walked)} user stacks of new programs "
           f"reach their root; {not_shipped} of the machine's stacks were not shipped")
    assert len(walked) >= shares.ticks(0.9 * PROGRAMS * SECONDS, HERTZ)[0]
    assert sum(broken.values()) <= not_shipped, broken
