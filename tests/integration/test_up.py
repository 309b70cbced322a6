# SPDX-License-Identifier: Apache-2.0
"""`make up` as a whole: from no process to this machine's profile, once more, and down."""
import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from harness import ROOT, SLOW, wait_until
from local.process import Process

NAMES = ("postgres", "redis", "kafka", "ingester", "debuginfo", "symbolizer", "querier", "agent")

pytestmark = pytest.mark.machine


def stack(action, run_dir):
    return subprocess.run([sys.executable, ROOT / "tools" / "stack.py", action,
                           "--run-dir", run_dir], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=900)


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    """(run directory, the finished `up`, seconds)."""
    run_dir = tmp_path_factory.mktemp("up")
    began = time.monotonic()
    done = stack("up", run_dir)
    took = time.monotonic() - began
    yield run_dir, done, took
    stack("clean", run_dir)


def environment(run_dir):
    return dict(line.split("=", 1) for line in (run_dir / "env").read_text().splitlines())


def test_up_ends_with_this_machines_profile(up):
    run_dir, done, took = up

    assert done.returncode == 0, done.stderr
    assert "this machine's profile has" in done.stdout
    assert f"Decima is up:      {environment(run_dir)['DECIMA_URL']}/" in done.stdout
    assert "ssh -L " in done.stdout
    assert took < SLOW * 60


def test_the_environment_file_has_the_addresses(up):
    env = environment(up[0])

    with urllib.request.urlopen(f"{env['DECIMA_URL']}/api/v1/label/comm/values") as response:
        values = json.load(response)
    assert values["status"] == "success" and values["data"]
    for kind in ("INGESTER", "DEBUGINFO", "SYMBOLIZER", "AGENT"):
        with urllib.request.urlopen(f"{env[f'DECIMA_{kind}_URL']}/ready") as response:
            assert response.status == 200


def test_this_machines_profile_is_symbolized(up):
    url = f"{environment(up[0])['DECIMA_URL']}/api/v1/query?query=%7B%7D&report=table"

    def named():
        with urllib.request.urlopen(url, timeout=180) as response:
            return json.load(response)["stats"]["symbols"]["symbolized"]

    # The programs of `make up` are built with debug info, and the agent uploads it.
    wait_until(lambda: named() > 0, what="symbolized addresses")


def test_the_agent_pins_its_counters_only_in_the_run_directory(up):
    state = (up[0] / "agent").stat()

    assert [pin.name for pin in (up[0] / "bpffs").glob("decima*")] == [
        f"decima_agent_{state.st_dev}_{state.st_ino}"]


def test_the_debug_info_of_running_programs_is_stored(up):
    """For example the agent's own debug info, with lines."""
    env = environment(up[0])
    agent = Path(__file__).resolve().parents[2] / "build" / "services" / "agent" / "decima-agent"
    notes = subprocess.run(["readelf", "-n", agent], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    build_id = notes.partition("Build ID:")[2].split()[0]

    def is_stored():
        request = urllib.request.Request(
            f"{env['DECIMA_DEBUGINFO_URL']}/buildid/{build_id}/section/.debug_line")
        with contextlib.suppress(urllib.error.HTTPError):
            with urllib.request.urlopen(request) as response:
                return len(response.read()) > 1000
        return False

    wait_until(is_stored, what="the agent's own lines")


def test_a_second_up_starts_dead_processes_and_leaves_the_others(up):
    run_dir = up[0]
    before = {name: Process(run_dir, name).pid() for name in NAMES}
    Process(run_dir, "querier").kill()
    began = time.monotonic()

    done = stack("up", run_dir)

    after = {name: Process(run_dir, name).pid() for name in NAMES}
    assert done.returncode == 0, done.stderr
    assert after["querier"] and after["querier"] != before["querier"]
    assert {**after, "querier": 0} == {**before, "querier": 0}
    assert time.monotonic() - began < SLOW * 30


def test_down_ends_all_processes(up):
    run_dir = up[0]
    began = time.monotonic()

    done = stack("down", run_dir)

    assert done.returncode == 0, done.stderr
    assert "killed" not in done.stdout, done.stdout
    assert not any(Process(run_dir, name).alive() for name in NAMES)
    assert not os.path.ismount(run_dir / "bpffs")
    assert time.monotonic() - began < SLOW * 30
