# SPDX-License-Identifier: Apache-2.0
"""tools/stack.py: processes found by pid file, ports, locks, and messages for the user."""
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import ROOT, wait_until
from local.fleet import SERVICES, Fleet
from local.process import Process, kill_those_in
from local.say import Trouble
from local.servers import check_java

STACK = [sys.executable, str(ROOT / "tools" / "stack.py")]


def run_stack(*args, **kwargs):
    return subprocess.run(STACK + [str(a) for a in args], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=600, check=False, **kwargs)


def sleeper(run_dir, **options):
    process = Process(run_dir, "sleeper")
    process.start(["sleep", "3600"], **options)
    return process


# processes


def test_a_process_is_found_again_by_its_pid_file(tmp_path):
    started = sleeper(tmp_path)

    again = Process(tmp_path, "sleeper")

    assert again.pid() == started.popen.pid
    assert again.stop() is True
    assert not started.alive() and not again.pid_file.exists()


def test_a_stopped_child_of_a_server_that_is_gone_ends_with_its_directory(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "link").symlink_to(data)
    bystander = subprocess.Popen(["sleep", "3600"], cwd=tmp_path)
    orphan = subprocess.Popen(["sleep", "3600"], cwd=data)
    orphan.send_signal(signal.SIGSTOP)

    kill_those_in(tmp_path / "link")

    assert orphan.wait(10) == -signal.SIGKILL
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def test_a_pid_that_another_process_got_is_left_alone(tmp_path):
    bystander = subprocess.Popen(["sleep", "3600"])
    started = sleeper(tmp_path)
    pid, start, boot = started.pid_file.read_text().split()
    started.stop()

    started.pid_file.write_text(f"{bystander.pid} {start} {boot}\n")
    if _start_time(bystander.pid) == start:  # started within the same tick: make them differ
        started.pid_file.write_text(f"{bystander.pid} {int(start) + 1} {boot}\n")

    assert not Process(tmp_path, "sleeper").alive()
    Process(tmp_path, "sleeper").stop()
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def _start_time(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def test_a_process_that_ignores_sigterm_is_killed_and_reported(tmp_path):
    process = Process(tmp_path, "stubborn")
    process.start(["bash", "-c", "trap '' TERM; echo on; while :; do sleep 0.1; done"])
    wait_until(lambda: "on" in process.log_file.read_text(), what="the trap is set")

    gone = process.stop(timeout=0.5)

    assert gone is False and not process.alive()


def test_a_process_that_dies_at_its_start_is_reported_with_its_last_output(tmp_path):
    process = Process(tmp_path, "dying", "The dying one")
    process.start(["sh", "-c", "echo cannot find my keys; exit 3"])

    with pytest.raises(Trouble, match="The dying one ended while it started(.|\n)*my keys"):
        process.wait_ready(lambda: False)

    assert process.exit_code() == 3


def test_tied_processes_die_with_the_one_that_started_them(tmp_path):
    code = (f"import sys, time; sys.path.insert(0, {str(ROOT / 'tools')!r})\n"
            "import signal\nfrom local.process import Process\n"
            f"Process({str(tmp_path)!r}, 'sleeper').start(['sleep', '60'], "
            "tied_signal=signal.SIGKILL)\nprint('started', flush=True)\ntime.sleep(60)\n")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"started\n"
        process = Process(tmp_path, "sleeper")
        assert process.alive()

        parent.send_signal(signal.SIGKILL)

    wait_until(lambda: not process.alive(), what="the tied process is gone")


# a run directory


def test_a_run_directory_keeps_its_ports(tmp_path):
    first = Fleet(tmp_path, without=("agent",))
    again = Fleet(tmp_path, without=("agent",))

    assert first.ports.ports == again.ports.ports
    assert len(set(first.ports.ports.values())) == len(first.ports.ports)


def test_a_port_in_use_is_reported_in_one_sentence(tmp_path):
    fleet = Fleet(tmp_path, without=SERVICES)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", fleet.redis.port))
        listener.listen()

        done = run_stack("up", "--only", "servers", "--run-dir", tmp_path)

    run_stack("clean", "--run-dir", tmp_path)
    assert done.returncode == 1
    assert f"port {fleet.redis.port}, which is Redis's, is used by another process" in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_java_is_reported(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(Trouble, match="no java, which Kafka needs"):
        check_java()


def test_an_old_java_is_rejected(monkeypatch, tmp_path):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    with pytest.raises(Trouble, match="Java 17 or newer, and `java` is version 11.0.2"):
        check_java()


@pytest.fixture
def door():
    """tools/stack.py as a module."""
    spec = importlib.util.spec_from_file_location("stack_door", STACK[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_missing_root_privilege_is_reported(door, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(Trouble, match="must be run as root"):
        door.check_machine(without=[])


def test_a_kernel_without_btf_is_reported_if_an_agent_is_wanted(door, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(door, "BTF", tmp_path / "vmlinux")

    with pytest.raises(Trouble, match="has no BTF .* is missing"):
        door.check_machine(without=[])
    door.check_machine(without=["agent"])


# up and down of the servers only (all services: test_up.py)


@pytest.fixture(scope="module")
def servers_up(tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("up")
    done = run_stack("up", "--only", "servers", "--run-dir", run_dir)
    assert done.returncode == 0, done.stderr
    yield run_dir
    run_stack("clean", "--run-dir", run_dir)


def pids(run_dir):
    return {f.name: f.read_text() for f in (run_dir / "pid").iterdir()}


def test_a_second_up_leaves_running_processes_alone(servers_up):
    before = pids(servers_up)

    done = run_stack("up", "--only", "servers", "--run-dir", servers_up)

    assert done.returncode == 0 and "Kafka was running" in done.stdout
    assert pids(servers_up) == before


def test_a_second_up_starts_dead_processes(servers_up):
    before = pids(servers_up)
    Process(servers_up, "redis").kill()

    done = run_stack("up", "--only", "servers", "--run-dir", servers_up)

    after = pids(servers_up)
    assert done.returncode == 0 and "Redis started" in done.stdout
    assert after["redis"] != before["redis"] and after["kafka"] == before["kafka"]


def test_two_concurrent_ups_wait_for_each_other(servers_up):
    Process(servers_up, "redis").kill()

    both = [subprocess.Popen(STACK + ["up", "--only", "servers", "--run-dir", str(servers_up)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)]
    outputs = [p.communicate(timeout=600) for p in both]

    assert [p.returncode for p in both] == [0, 0], outputs
    assert sum("Redis started" in out for out, _ in outputs) == 1


def test_the_environment_file_reaches_the_servers(servers_up):
    env = dict(line.split("=", 1) for line in (servers_up / "env").read_text().splitlines())
    host, port = env["DECIMA_REDIS"].split(":")

    with socket.create_connection((host, int(port)), timeout=5) as s:
        s.sendall(b"PING\r\n")
        assert s.recv(16) == b"+PONG\r\n"
    assert (servers_up / "env").stat().st_mode & 0o077 == 0


def test_down_ends_all_processes_and_a_second_down_does_nothing(servers_up):
    done = run_stack("down", "--run-dir", servers_up)
    again = run_stack("down", "--run-dir", servers_up)

    assert done.returncode == 0
    assert not any(Process(servers_up, n).alive() for n in ("postgres", "redis", "kafka"))
    assert again.returncode == 0 and "nothing was running" in again.stdout
