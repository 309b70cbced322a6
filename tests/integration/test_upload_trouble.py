# SPDX-License-Identifier: Apache-2.0
"""The agent's uploads if one of them fails: only that file is lost."""
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from harness import DEADLINE, metrics, wait_until
from local.services import Service
from uploads import (  # fleet: a fixture that start() uses
    SOURCE, Program, children_of, fake_service, fleet, outcomes, run, start, told,
    uploaders_of)

pytestmark = pytest.mark.machine


def test_a_crash_of_the_uploader_loses_one_file(start, tmp_path):
    hangs = threading.Event()
    bad, good = Program(tmp_path / "a", "bad"), Program(tmp_path / "b", "good")
    requested = []

    def respond(put):
        if bad.id in put.path:
            hangs.set()
            time.sleep(DEADLINE)
        if good.id in put.path:
            requested.append(put.path)
        return put.end(409)

    with fake_service(respond) as url:
        agent = start("agent", debuginfo_url=url)
        bad.run()
        assert hangs.wait(DEADLINE)
        good.run()
        for pid in uploaders_of(agent):
            os.kill(pid, signal.SIGSEGV)

        wait_until(lambda: requested, what="a request for the next file")

        assert told(agent, bad.id) == ["crashed"]
        assert outcomes(agent)["crashed"] == 1
        assert metrics(agent)["decima_agent_debuginfo_peak_bytes"] > 0


def test_a_crash_of_the_process_that_parses_files_loses_one_file(start, tmp_path):
    waits, has_crashed = threading.Event(), threading.Event()
    bad, good = Program(tmp_path / "a", "bad"), Program(tmp_path / "b", "good")
    requested = []

    def respond(put):
        if bad.id in put.path:
            waits.set()
            has_crashed.wait(DEADLINE)
            return put.go_on()  # now the uploader reads the extract
        if good.id in put.path:
            requested.append(put.path)
        return put.end(409)

    with fake_service(respond) as url:
        agent = start("agent", debuginfo_url=url)
        bad.run()
        assert waits.wait(DEADLINE)
        uploader, = uploaders_of(agent)
        parser, = children_of(uploader)
        status = Path(f"/proc/{parser}/status").read_text()
        os.kill(parser, signal.SIGSEGV)
        has_crashed.set()
        good.run()
        wait_until(lambda: requested, what="a request for the next file")

        assert re.search(r"^Seccomp:\t2$", status, re.MULTILINE)
        assert re.search(r"^CapEff:\t0{16}$", status, re.MULTILINE)
        assert told(agent, bad.id) == ["crashed"]
        assert uploaders_of(agent) == [uploader]
        assert metrics(agent)['decima_sandbox_ends_total{reason="crashed"}'] == 1


def test_an_agent_killed_in_an_upload_leaves_no_files_behind(start, fleet, tmp_path):
    middle = threading.Event()
    program = Program(tmp_path / "a", "interrupted")

    def respond(put):
        if program.id not in put.path:
            return put.end(409)
        put.go_on()
        middle.set()
        return time.sleep(DEADLINE)

    with fake_service(respond) as url:
        agent = start("agent", "killed", debuginfo_url=url)
        program.run()
        assert middle.wait(DEADLINE)
        pids = uploaders_of(agent)
        agent.kill()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids),
                   what="the end of its uploader")
    state = Path(agent.flags["state-directory"])
    assert not state.exists() or not [f for f in state.rglob("*") if "debug" in f.name]

    service = start("debuginfo")
    start("agent", "next", debuginfo_url=service.url)
    program.run()
    wait_until(lambda: program.is_named_by(service, tmp_path), what="the program's lines")


def test_deleted_programs_use_at_most_their_limit_of_disk(start, fleet, tmp_path):
    away = Service(fleet, "debuginfo", "full-debuginfo")
    programs = [Program(tmp_path / "a", f"build{n}") for n in range(30)]
    room = programs[0].path.stat().st_blocks * 512 * 2
    agent = start("agent", debuginfo_url=away.url, debuginfo_held_max_bytes=room)

    for running in [subprocess.Popen([p.path]) for p in programs]:
        assert running.wait(DEADLINE) == 0
    for program in programs:
        program.path.unlink()

    wait_until(lambda: outcomes(agent).get("disk_full", 0) >= 27, what="27 x disk_full")
    assert metrics(agent)["decima_agent_debuginfo_deleted_bytes"] <= room
    away.launch()
    try:
        wait_until(lambda: all("disk_full" in told(agent, p.id) or "stored" in told(agent, p.id)
                               for p in programs), what="an outcome of each program")
        named = [p for p in programs if p.is_named_by(away, tmp_path)]
    finally:
        away.kill()
    assert 1 <= len(named) <= 3  # the uploader may have one more open


@pytest.mark.parametrize("what", ["no-sections", "sections-past-the-end", "many-sections"])
def test_a_program_with_malformed_headers_has_its_own_outcome(start, tmp_path, what):
    service = start("debuginfo")
    program, sound = Program(tmp_path / "a", what), Program(tmp_path / "b", "sound")
    image = bytearray(program.path.read_bytes())
    if what == "no-sections":
        image[40:48], image[60:64] = bytes(8), bytes(4)  # e_shoff; e_shnum, e_shstrndx
    if what == "sections-past-the-end":
        image[40:48] = (1 << 40).to_bytes(8, "little")
    if what == "many-sections":
        image[60:62] = (65535).to_bytes(2, "little")
    program.path.write_bytes(image)
    agent = start("agent", debuginfo_url=service.url)

    program.run()
    sound.run()

    wait_until(lambda: sound.is_named_by(service, tmp_path), what="the next program")
    assert told(agent, program.id) == ["nothing" if what == "no-sections" else "malformed"]
    assert service.get(f"/buildid/{program.id}/debuginfo")[0] == 404


def test_with_a_token_programs_without_a_build_id_are_uploaded(start, tmp_path):
    token = tmp_path / "token"
    token.write_text("0123456789abcdef0123\n")
    service = start("debuginfo", upload_token_file=token)
    source, path = tmp_path / "a.c", tmp_path / "nameless"
    source.write_text(SOURCE % ("nameless", "nameless"))
    run("cc", "-g", "-O1", "-Wl,--build-id=none", "-o", path, source)
    agent = start("agent", "without", debuginfo_url=service.url)
    subprocess.run([path], check=True)
    wait_until(lambda: outcomes(agent).get("no_build_id") and
               outcomes(agent, "retries").get("unauthorized"), what="unauthorized")
    agent.stop()

    start("agent", "with", debuginfo_url=service.url, debuginfo_token_file=token)
    subprocess.run([path], check=True)

    wait_until(lambda: "build_id=htlhash:" in service.log_file.read_text(),
               what="a file stored by its hash")
