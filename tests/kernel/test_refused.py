# SPDX-License-Identifier: Apache-2.0
"""What the agent says on a kernel that is locked down, or has no BTF."""
import re

import guest
import pytest


@pytest.fixture(scope="module", params=("5.10-cloud", "6.1-cloud", "6.12-cloud"))
def refused(request, tmp_path_factory):
    """{"locked": what it said, "typeless": ...}"""
    out = tmp_path_factory.mktemp("refused")
    agent = guest.BUILD / "services" / "agent" / "decima-agent"
    guest.run(request.param, {"decima/decima-agent": agent}, "init_refused.sh", out,
              "lockdown=confidentiality")
    return {name: (out / name).read_text() for name in ("locked", "typeless")}


@pytest.mark.parametrize("case, words", [
    ("locked", r"locked down \(lockdown=confidentiality\).*which lockdown=integrity allows"),
    ("typeless", r"/sys/kernel/btf/vmlinux is missing \(CONFIG_DEBUG_INFO_BTF"),
])
def test_the_reason_is_one_sentence(refused, case, words):
    errors = re.findall(r'level=error .*error="(.*)"$', refused[case], re.MULTILINE)

    assert len(errors) == 1 and re.search(words, errors[0]), refused[case]
