# SPDX-License-Identifier: Apache-2.0
"""The agent's errors if the kernel or the host's permissions do not let it work.

setarch makes the kernel report another version; setpriv and unshare remove root's privileges. The
cases that need a guest's boot options (lockdown, no BTF) are in tests/kernel.
"""
import os
import re
import subprocess
from pathlib import Path

import pytest

from local.ports import any_free

pytestmark = pytest.mark.machine

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))
OLD = ["setarch", "--uname-2.6"]
BARE = ["setpriv", "--bounding-set=-all"]
JUST_ENOUGH = ["setpriv", "--bounding-set=-all,+bpf,+perfmon,+sys_ptrace"]
ROOTLESS = ["unshare", "--user", "--map-root-user"]


def agent(tmp_path, wrapper, *flags):
    """(exit status, log) of an agent; it is terminated when it samples."""
    command = [*wrapper, BUILD / "services" / "agent" / "decima-agent",
               f"--local-store-directory={tmp_path}", f"--http-address=127.0.0.1:{any_free()}",
               *flags]
    log = ""
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          text=True) as process:
        for line in process.stderr:
            log += line
            if 'msg="sampling"' in line:
                process.terminate()
    return process.returncode, log


def error(log):
    return re.search(r'level=error .*error="(.*)"$', log, re.MULTILINE)[1]


def test_a_kernel_that_is_too_old_is_rejected_with_the_reason(tmp_path):
    status, log = agent(tmp_path, OLD)

    assert status == 1 and 'msg="sampling"' not in log
    assert re.match(r"Linux 2\.6\.\d+ \(2\.6\.\S+\) is older than 5\.10", error(log)), log


def test_with_allow_unsafe_kernel_the_agent_samples_and_warns(tmp_path):
    status, log = agent(tmp_path, OLD, "--allow-unsafe-kernel")

    assert status == 0 and 'msg="sampling"' in log, log
    assert re.search(r'level=warn .*unsafe kernel.*reason="Linux 2\.6\.', log), log


@pytest.mark.parametrize("wrapper, words", [
    (BARE, r"not permitted: the agent lacks CAP_BPF and CAP_PERFMON .*perf_event_paranoid is \d"),
    (ROOTLESS, r"not permitted: .*user namespace"),
])
def test_an_agent_without_permissions_reports_the_missing_capabilities(tmp_path, wrapper, words):
    if subprocess.run([*wrapper, "true"], capture_output=True, check=False).returncode:
        pytest.skip(f"{wrapper[0]} may not do this here")

    status, log = agent(tmp_path, wrapper)

    assert status == 1 and re.search(words, error(log)), log


def test_the_documented_capabilities_are_enough(tmp_path):
    status, log = agent(tmp_path, JUST_ENOUGH)

    assert status == 0 and 'msg="sampling"' in log, log
