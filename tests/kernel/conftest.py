# SPDX-License-Identifier: Apache-2.0
"""What runs on each kernel, and what it left behind; test_kernels.py judges it.

The kernels are those that fetch.sh put into build/kernels, booted in QEMU, and the one that is
running, without QEMU. `make test-kernels` fetches and runs; one of them:
`/usr/bin/python3 -m pytest tests/kernel -k 6.1-cloud`.
"""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import guest
from guest import BUILD, DEADLINE
from local.ports import any_free
from outcome import Outcome

HERE = Path(__file__).resolve().parent

KERNELS = ("5.10-cloud", "6.1-cloud", "6.12-cloud", "6.12-rt")
RUNNING = "running"


def programs():
    made = BUILD / "tests" / "programs"
    agent = BUILD / "services" / "agent"
    return {"decima-agent": agent / "decima-agent",
            "decima-agent-builder": agent / "decima-agent-builder",
            "decima-agent-opener": agent / "decima-agent-opener",
            "decima-agent-reader": agent / "decima-agent-reader",
            "burn": made / "burn", "spawn": made / "spawn", "chains": made / "chains",
            "busybox": shutil.which("busybox"), "checks.sh": HERE / "checks.sh"}


def run_here(out):
    """The same on this machine's kernel."""
    if os.geteuid() != 0:
        pytest.skip("the agent needs root")
    place = out / "programs"
    place.mkdir()
    for name, path in programs().items():
        (place / name).symlink_to(path)
    subprocess.run(["sh", HERE / "checks.sh", place, out, str(any_free())], timeout=DEADLINE,
                   stdin=subprocess.DEVNULL, check=True)


@pytest.fixture(scope="session", params=(*KERNELS, RUNNING))
def kernel(request, tmp_path_factory, protos):
    """The Outcome of the checks on one kernel."""
    out = tmp_path_factory.mktemp(request.param.replace(".", "_"))
    if request.param == RUNNING:
        run_here(out)
    else:
        guest.run(request.param, {f"decima/{name}": path for name, path in programs().items()},
                  "init.sh", out)
    return Outcome(request.param, out, BUILD / "tests" / "programs", protos,
                   emulated=request.param != RUNNING)
