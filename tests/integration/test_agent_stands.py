# SPDX-License-Identifier: Apache-2.0
"""An agent whose sampling thread stands still is not ready. Needs root."""
import os
import time
from pathlib import Path

import pytest

from harness import SLOW, wait_until
from local.services import http
from local_agent import LocalAgent
from stopped_threads import stopped_thread

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))


@pytest.fixture
def own(tmp_path):
    (tmp_path / "profiles").mkdir()
    agent = LocalAgent(BUILD / "services" / "agent" / "decima-agent", tmp_path / "profiles")
    yield agent
    agent.process.kill()
    agent.process.wait()


def ready(agent):
    status, body = http(f"http://{agent.address}/ready")
    return status, body.decode()


def healthy(agent):
    return http(f"http://{agent.address}/healthy")


def test_an_agent_whose_sampling_thread_hangs_is_not_healthy_within_30_s(own):
    wait_until(lambda: ready(own)[0] == 200, what="ready")
    assert healthy(own) == (200, b"ok\n")
    with stopped_thread(own.process.pid):
        began = time.monotonic()
        wait_until(lambda: healthy(own)[0] == 503, what="not healthy")
        assert time.monotonic() - began < SLOW * 30
        assert b"the sampling thread has hung for" in healthy(own)[1]
    wait_until(lambda: healthy(own)[0] == 200, what="healthy again")


def test_an_agent_whose_sampling_thread_stands_still_is_not_ready(own):
    wait_until(lambda: ready(own)[0] == 200, what="ready")
    with stopped_thread(own.process.pid):
        wait_until(lambda: ready(own)[0] == 503, what="not ready")
        assert "the sampling thread has not read the samples for" in ready(own)[1]
    wait_until(lambda: ready(own)[0] == 200, what="ready again")
