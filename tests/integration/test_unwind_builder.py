# SPDX-License-Identifier: Apache-2.0
"""The process that builds unwind tables: killed, hanging, bounded."""
import hashlib
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from harness import metrics, wait_until
from unwind_agents import (  # fleet: a fixture that start() uses
    Program, builders_of, builds, fleet, loads, outcomes, program, samples_lost,
    start)

pytestmark = pytest.mark.machine


def test_a_killed_builder_is_restarted(start, program):
    agent = start()
    program.sampled_by(agent)
    wait_until(lambda: builders_of(agent), what="a builder")
    before = metrics(agent)
    for pid in builders_of(agent):
        os.kill(pid, signal.SIGKILL)
    other = Program(program.path.parent, "other")
    other.sampled_by(agent)

    after = metrics(agent)
    assert builds(agent, other) == 1
    assert after["decima_agent_unwind_builder_starts_total"] >= 2
    assert after["decima_agent_samples_total"] > before["decima_agent_samples_total"]
    assert samples_lost(agent) == 0
    assert "crashed" not in outcomes(agent)


def test_while_a_builder_hangs_sampling_continues(start, program):
    agent = start()
    program.sampled_by(agent)
    wait_until(lambda: builders_of(agent), what="a builder")
    pid = builders_of(agent)[0]
    os.kill(pid, signal.SIGSTOP)
    other = Program(program.path.parent, "waits")
    with other.running():
        wait_until(lambda: metrics(agent)["decima_agent_unwind_tables_waiting"] >= 1,
                   what="a waiting table")
        sampled = metrics(agent)["decima_agent_samples_total"]
        wait_until(lambda: metrics(agent)["decima_agent_samples_total"] >= sampled + 40,
                   what="40 samples meanwhile")
        assert samples_lost(agent) == 0
        assert loads(agent, other) == 0
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: loads(agent, other), what="the table of another builder")


def test_the_builder_is_sandboxed_and_ends_with_its_agent(start, program):
    agent = start()
    program.sampled_by(agent)
    wait_until(lambda: builders_of(agent), what="a builder")
    pid = builders_of(agent)[0]

    assert int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[16]) == 10
    assert Path(f"/proc/{pid}/oom_score_adj").read_text().strip() == "1000"
    limits = Path(f"/proc/{pid}/limits").read_text()
    assert re.search(r"Max address space +536870912 +536870912", limits)
    assert re.search(r"Max cpu time +300 +301", limits)
    status = Path(f"/proc/{pid}/status").read_text()
    for line in [r"Uid:(\t61000){4}", r"Gid:(\t61000){4}", "Groups:\t *", "NoNewPrivs:\t1",
                 "Seccomp:\t2", "Cap(Inh|Prm|Eff|Bnd|Amb):\t0{16}"]:
        assert re.search(f"^{line}$", status, re.MULTILINE), line
    assert metrics(agent)['decima_sandbox_ends_total{reason="forbidden_call"}'] == 0
    agent.kill()
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), what="the builder's end")


def test_a_program_without_a_build_id_has_a_table(start, program):
    subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", program.path], check=True)
    image = program.path.read_bytes()
    hashed = hashlib.sha256(image[:4096] + image[-4096:] + len(image).to_bytes(8, "big"))
    program.id = f"htlhash:{hashed.hexdigest()[:32]}"
    agent = start()

    program.sampled_by(agent)

    assert metrics(agent)['decima_sandbox_ends_total{reason="forbidden_call"}'] == 0
