# SPDX-License-Identifier: Apache-2.0
"""The agent's uploads if the service is away, has the file already, or rejects it."""
import re
import signal
import time
from pathlib import Path

import pytest

from harness import DEADLINE, metrics, wait_until
from local.services import Service
from uploads import (  # fleet: a fixture that start() uses
    Program, fake_service, fleet, outcomes, start, told, uploaders_of)

pytestmark = pytest.mark.machine


def test_a_service_that_starts_later_gets_earlier_programs(start, fleet, tmp_path):
    away = Service(fleet, "debuginfo", "later-debuginfo")
    program = Program(tmp_path / "a", "early")
    agent = start("agent", debuginfo_url=away.url)

    program.run("1500")
    program.path.unlink()
    wait_until(lambda: outcomes(agent, "retries").get("unreachable"), what="a failed attempt")
    away.launch()
    try:
        wait_until(lambda: program.is_named_by(away, tmp_path), what="the program's lines")
    finally:
        away.kill()
    assert told(agent, program.id)[-1] == "stored"


def test_two_agents_upload_a_build_once(start, tmp_path):
    service = start("debuginfo")
    agents = [start("agent", str(n), debuginfo_url=service.url) for n in range(2)]
    program = Program(tmp_path / "a", "both")

    program.run()

    wait_until(lambda: program.is_named_by(service, tmp_path), what="the program's lines")
    wait_until(lambda: all(told(a, program.id) for a in agents), what="two outcomes")
    assert service.log_file.read_text().count(f'"file stored" build_id={program.id}') == 1
    first = sorted(told(a, program.id)[0] for a in agents)
    assert first in (["already_stored", "stored"], ["in_progress", "stored"])


def test_after_a_restart_a_stored_file_is_not_sent_again(start, tmp_path):
    service = start("debuginfo")
    program = Program(tmp_path / "a", "again")
    first = start("agent", "first", debuginfo_url=service.url)
    program.run()
    wait_until(lambda: program.is_named_by(service, tmp_path), what="the program's lines")
    first.stop()

    second = start("agent", "second", debuginfo_url=service.url)
    program.run()

    wait_until(lambda: told(second, program.id) == ["already_stored"], what="already_stored")
    assert re.search(rf"build_id={program.id} .* bytes=0 ", second.log_file.read_text())


@pytest.mark.parametrize("status, headers, metric, outcome", [
    (400, {}, "uploads", "refused"),
    (404, {}, "uploads", "refused"),
    (409, {}, "uploads", "already_stored"),
    (409, {"Retry_After": 1}, "retries", "in_progress"),
    (413, {}, "uploads", "too_large"),
    (401, {}, "retries", "unauthorized"),
    (503, {"Retry_After": 1}, "retries", "busy"),
    (500, {}, "retries", "busy"),
])
def test_each_status_has_its_outcome_and_no_body_is_sent(start, tmp_path, status, headers, metric,
                                                       outcome):
    with fake_service(lambda put: put.end(status, **headers)) as url:
        agent = start("agent", debuginfo_url=url)
        Program(tmp_path / "a", "answered").run()

        wait_until(lambda: outcomes(agent, metric).get(outcome), what=outcome)

        assert metrics(agent)["decima_agent_debuginfo_bytes_total"] == 0


def test_an_upload_is_retried_after_retry_after(start, tmp_path):
    attempts, program = [], Program(tmp_path / "a", "patient")

    def respond(put):
        if program.id not in put.path:
            return put.end(409)
        attempts.append(time.monotonic())
        if len(attempts) < 2:
            return put.end(503, Retry_After=3)
        put.go_on()
        put.rfile.read(int(put.headers["Content-Length"]))
        return put.end(201)

    with fake_service(respond) as url:
        agent = start("agent", debuginfo_url=url)
        program.run()
        wait_until(lambda: outcomes(agent).get("stored"), what="a stored file")

    assert attempts[1] - attempts[0] >= 3


def test_sampling_continues_while_a_service_never_responds(start, tmp_path, protos):
    with fake_service(lambda put: time.sleep(DEADLINE)) as url:
        agent = start("agent", debuginfo_url=url)
        wait_until(lambda: uploaders_of(agent), what="an upload hangs")
        program = Program(tmp_path / "a", "sampled")
        profiles = Path(agent.flags["local-store-directory"])
        before = metrics(agent)["decima_agent_samples_total"]

        program.run()

        wait_until(lambda: metrics(agent)["decima_agent_samples_total"] > before and
                   len(list(profiles.glob("*.pb.gz"))) > 2, what="stored samples")
        agent.send(signal.SIGTERM)
        wait_until(lambda: not agent.alive(), what="the agent stops")
