# SPDX-License-Identifier: Apache-2.0
"""What the agent says where the kernel, or this host's rules, do not let it work.

setarch makes the kernel say another version, setpriv and unshare take away what root may. What a
guest can be booted with (lockdown, no types) is in tests/kernel.
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
NOBODY = ["setpriv", "--bounding-set=-all"]
JUST_ENOUGH = ["setpriv", "--bounding-set=-all,+bpf,+perfmon,+sys_ptrace"]
ROOTLESS = ["unshare", "--user", "--map-root-user"]


def agent(tmp_path, wrapper, *flags):
    """Its exit status and what it said; one that samples is ended."""
    command = [*wrapper, BUILD / "services" / "agent" / "decima-agent",
               f"--local-store-directory={tmp_path}", f"--http-address=127.0.0.1:{any_free()}",
               *flags]
    said = ""
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          text=True) as process:
        for line in process.stderr:
            said += line
            if 'msg="sampling"' in line:
                process.terminate()
    return process.returncode, said


def error(said):
    return re.search(r'level=error .*error="(.*)"$', said, re.MULTILINE)[1]


def test_a_kernel_that_is_too_old_is_refused_with_the_reason(tmp_path):
    status, said = agent(tmp_path, OLD)

    assert status == 1 and 'msg="sampling"' not in said
    assert re.match(r"Linux 2\.6\.\d+ \(2\.6\.\S+\) is older than 5\.10", error(said)), said


def test_who_insists_samples_on_it_and_is_warned(tmp_path):
    status, said = agent(tmp_path, OLD, "--allow-unsafe-kernel")

    assert status == 0 and 'msg="sampling"' in said, said
    assert re.search(r'level=warn .*unsafe kernel.*reason="Linux 2\.6\.', said), said


@pytest.mark.parametrize("wrapper, words", [
    (NOBODY, r"not permitted: the agent lacks CAP_BPF and CAP_PERFMON .*perf_event_paranoid is \d"),
    (ROOTLESS, r"not permitted: .*user namespace"),
])
def test_who_may_not_is_told_what_is_missing(tmp_path, wrapper, words):
    if subprocess.run([*wrapper, "true"], capture_output=True, check=False).returncode:
        pytest.skip(f"{wrapper[0]} may not do this here")

    status, said = agent(tmp_path, wrapper)

    assert status == 1 and re.search(words, error(said)), said


def test_the_capabilities_that_are_named_are_enough(tmp_path):
    status, said = agent(tmp_path, JUST_ENOUGH)

    assert status == 0 and 'msg="sampling"' in said, said
