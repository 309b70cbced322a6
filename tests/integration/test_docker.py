# SPDX-License-Identifier: Apache-2.0
"""Container labels from Docker: a fake Docker sends valid responses, malformed ones, or nothing.

tests/compose uses the real Docker.
"""
import contextlib
import json
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from harness import metrics, wait_until
from local.ports import any_free
from local.process import before_exec

pytestmark = pytest.mark.machine
OBJECTS = 'decima_agent_docker_objects_total{outcome="%s"}'


class Docker:
    """A fake Docker; `responses` is {prefix of a path: bytes, or a generator of pieces}."""

    def __init__(self, path):
        self.path, self.responses, self.requests, self.open = path, {}, [], []
        self.wakes = threading.Event()
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(path))
        self.server.listen(8)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.server.accept()
                threading.Thread(target=self._respond, args=(connection,), daemon=True).start()

    def _respond(self, connection):
        with connection, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(4096)
            path = head.split()[1].decode()
            self.requests.append(path)
            for prefix, response in self.responses.items():
                if path.startswith(prefix):
                    for piece in response() if callable(response) else [response]:
                        connection.sendall(piece)

    def stop(self):
        self.wakes.set()
        self.server.close()


def ok(*objects):
    return b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + b"".join(
        json.dumps(o).encode() if not isinstance(o, bytes) else o for o in objects)


def listed(identity, name, **labels):
    return {"Id": identity, "Names": ["/x/alias", f"/{name}"], "Image": f"{name}:1",
            "Labels": {f"com.docker.compose.{k}": v for k, v in labels.items()}}


def event(action, identity, name):
    return {"Type": "container", "Action": action,
            "Actor": {"ID": identity, "Attributes": {"name": name, "image": f"{name}:1"}}}


@pytest.fixture
def docker(tmp_path):
    made = Docker(tmp_path / "docker.sock")
    yield made
    made.stop()


@pytest.fixture
def identity():
    return secrets.token_hex(32)


@contextlib.contextmanager
def burning(build):
    """The pid of a program that keeps a CPU busy."""
    with subprocess.Popen([build / "tests" / "programs" / "burn"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL,
                          preexec_fn=before_exec(signal.SIGKILL)) as running:
        try:
            yield running.pid
        finally:
            running.kill()


@contextlib.contextmanager
def contained(pid, identity):
    """Moves the process into a control group with the name of a container's."""
    for line in Path("/proc/mounts").read_text(encoding="ascii").splitlines():
        _, where, kind, options = line.split()[:4]
        group = Path(where) / f"decima-test-{identity[:8]}" / f"docker-{identity}.scope"
        if kind == "cgroup2" or (kind == "cgroup" and "pids" in options.split(",")):
            try:
                group.mkdir(parents=True)
                (group / "cgroup.procs").write_text(str(pid), encoding="ascii")
            except OSError:
                continue
            break
    else:
        pytest.skip("no control group can be made here")
    try:
        yield
    finally:
        (Path(where) / "cgroup.procs").write_text(str(pid), encoding="ascii")
        group.rmdir()
        group.parent.rmdir()


@pytest.fixture
def start(cell, docker):
    """Starts an agent that uses the fake Docker."""
    made = cell.service("agent", f"docker-{any_free()}", flags={
        "profiling-duration": "1s", "docker-socket": docker.path})

    def launch():
        return cell.start_service(made)

    yield launch
    made.stop()
    shutil.rmtree(made.fleet.run_dir / made.name, ignore_errors=True)


def test_container_names_come_from_the_list_and_events(cell, docker, start, identity, tmp_path):
    renamed = threading.Event()

    def events():
        yield ok()
        renamed.wait(60)
        yield json.dumps(event("rename", identity, "later")).encode()
        docker.wakes.wait(60)

    docker.responses = {"/containers": ok(b"[", listed(identity, "shop-web-1", service="web",
                                                       project="shop"), b"]"), "/events": events}
    with burning(cell.fleet.build) as pid, contained(pid, identity):
        start()
        query = f'{{pid="{pid}",container="%s"}}'
        wait_until(lambda: cell.total(query % "shop-web-1"), what="the name in the list")
        series = cell.data("series", **{"match[]": '{container="shop-web-1"}'})
        renamed.set()
        wait_until(lambda: cell.total(query % "later"), what="the new name")

    assert {k: series[0][k] for k in ("container_id", "image", "compose_service",
                                      "compose_project", "service_name")} == {
        "container_id": identity, "image": "shop-web-1:1", "compose_service": "web",
        "compose_project": "shop", "service_name": "web"}
    assert [path.partition("?")[0] for path in docker.requests] == ["/containers/json", "/events"]


def endless():
    yield ok()
    while True:
        yield b'{"Id":"' + b"x" * 65536


def slow():
    for byte in ok(b"[]"):
        yield bytes([byte])
        time.sleep(0.5)


HOSTILE = {
    "nothing": b"",
    "no HTTP": b"\0" * 100_000,
    "an error": b"HTTP/1.0 500 No\r\n\r\n{}",
    "a head without an end": b"HTTP/1.0 200 OK\r\n" + b"A: b\r\n" * 20_000,
    "no JSON": ok(b"}}}]]{]}{{{" * 1000),
    "deep": ok(b'{"a":' * 200_000),
    "endless": endless,
    "slow": slow,
    "half": ok(b'[{"Id":"'),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_the_agent_samples_despite_hostile_responses_of_docker(cell, docker, start, what):
    docker.responses = {"/": HOSTILE[what]}
    with burning(cell.fleet.build) as pid:
        agent = start()
        wait_until(lambda: cell.total(f'{{pid="{pid}"}}'), what="samples of burn")
        wait_until(lambda: docker.requests, what="a request to Docker")

        now = metrics(agent)
        assert now["decima_agent_containers"] == 0
        assert now["process_resident_memory_bytes"] < 200 << 20


def test_objects_of_docker_are_counted_by_outcome(cell, docker, start, identity):
    docker.responses = {
        "/containers": ok(b"[", listed(identity, "a"), b",", {"Id": "short"}, b",",
                          listed(secrets.token_hex(32), "b" * 300_000), b"]"),
        "/events": ok(event("exec_start", identity, "a"))}
    agent = start()

    def counted():
        now = metrics(agent)
        return all(now[OBJECTS % outcome] >= 1 for outcome in ("applied", "malformed", "too_long",
                                                               "other"))

    wait_until(counted, what="each outcome is counted")
    assert metrics(agent)["decima_agent_containers"] == 1


def test_docker_may_start_after_the_agent(cell, docker, start, identity):
    docker.server.close()
    docker.path.unlink()
    agent = start()
    wait_until(lambda: metrics(agent)["decima_agent_docker_failures_total"] >= 1, what="a failure")
    later_docker = Docker(docker.path)
    later_docker.responses = {"/containers": ok(b"[", listed(identity, "late"), b"]"),
                              "/events": ok()}

    wait_until(lambda: metrics(agent)["decima_agent_containers"] == 1, what="the container")
    later_docker.stop()
