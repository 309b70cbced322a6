# SPDX-License-Identifier: Apache-2.0
"""fleet - compose.yaml as it is, as a project of a test run's own."""
import contextlib
import json
import os
import re
import subprocess
import time
import urllib.parse
import urllib.request

from engine import run
from local.ports import any_free
from local.servers import ROOT

PREFIX = "decima-test-"


class Fleet:
    def __init__(self, environment):
        self.project = f"{PREFIX}{os.getpid()}"
        ports = {name: str(any_free()) for name in
                 ("DECIMA_PORT", "DECIMA_KAFKA_PORT", "DECIMA_DEBUGINFO_PORT", "agent")}
        self.agent_address = f"127.0.0.1:{ports.pop('agent')}"
        self.environment = environment | ports | {
            "DECIMA_AGENT_ADDRESS": self.agent_address, "DECIMA_VERSION": "test",
            "DECIMA_NODE": "contained"}
        host = environment.get("DOCKER_HOST", "")
        if host.startswith("unix://"):
            self.environment["DECIMA_DOCKER_SOCKET"] = host.removeprefix("unix://")
        self.url = f"http://127.0.0.1:{ports['DECIMA_PORT']}"
        self.debuginfo = f"http://127.0.0.1:{ports['DECIMA_DEBUGINFO_PORT']}"
        self.kafka = f"127.0.0.1:{ports['DECIMA_KAFKA_PORT']}"

        self.volumes_before = self.volumes()

    def compose(self, *arguments, timeout=900):
        return run(["docker", "compose", "-p", self.project, *arguments], self.environment,
                   timeout, cwd=ROOT)

    @contextlib.contextmanager
    def of_its_own(self, file, environment):
        """Another file's services, as another machine would run them."""
        compose = ["docker", "compose", "-f", file, "-p", f"{PREFIX}second-{os.getpid()}"]
        environment = self.environment | environment
        try:
            run([*compose, "up", "-d", "--wait", "--no-build"], environment, cwd=ROOT)
            yield
        finally:
            run([*compose, "down", "-v", "-t", "2"], environment, cwd=ROOT)

    def up(self, *arguments):
        self.compose("up", "-d", "--wait", *arguments)

    def docker(self, *arguments):
        return run(["docker", *arguments], self.environment)

    def containers(self, service):
        """The ids of a service's running containers."""
        return self.compose("ps", "-q", service).split()

    def ask(self, container, path, port=7070, method="GET", body=""):
        """The body of an answer of one replica, asked in its own container, which has no curl."""
        request = (f"{method} {path} HTTP/1.0\r\nContent-Type: application/json\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n{body}")
        done = subprocess.run(
            ["docker", "exec", "-i", container, "bash", "-c",
             f"exec 3<>/dev/tcp/127.0.0.1/{port} && cat >&3 && cat <&3"], input=request.encode(),
            capture_output=True, check=True, timeout=60, env=self.environment)
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        assert b" 200 " in head.splitlines()[0], (head, answer[:300])
        return answer

    def metric(self, container, port, name):
        """The sum of a metric's values in one replica."""
        text = self.ask(container, "/metrics", port).decode()
        return sum(float(value) for value in
                   re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE))

    def get(self, path, timeout=30, **params):
        """The body of an answer through the front proxy; an error is an error."""
        url = self.url + path + (f"?{urllib.parse.urlencode(params)}" if params else "")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=timeout) as answer:
            return answer.read()

    def data(self, path, **params):
        answer = json.loads(self.get(f"/api/v1/{path}", **params))
        assert answer["status"] == "success", answer
        return answer["data"]

    def stacks(self, query, **params):
        """{(root, ..., leaf): value}."""
        body = self.get("/api/v1/query", query=query, report="collapsed", **params).decode()
        lines = (line.rpartition(" ") for line in body.splitlines())
        return {tuple(stack.split(";")): int(value) for stack, _, value in lines}

    def hosts(self):
        """{node: its line of the Fleet page}."""
        return {host["node"]: host for host in self.data("fleet")}

    def memory(self):
        """{service: MiB} of all containers."""
        text = self.docker("stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}")
        used = {}
        for name, amount in re.findall(rf"{self.project}-(\w+)-\d+ ([\d.]+\w+)", text):
            number, unit = re.match(r"([\d.]+)(\w+)", amount).groups()
            scale = {"GiB": 1024, "MiB": 1, "KiB": 1 / 1024, "B": 0}[unit]
            used[name] = used.get(name, 0) + float(number) * scale
        return used

    def sizes(self):
        """{image: MB} of those that we build."""
        text = self.docker("images", "--format", "{{.Repository}}:{{.Tag}} {{.Size}}")
        return dict(re.findall(r"^(decima-\w+):test (\S+)$", text, re.MULTILINE))

    def volumes(self):
        return set(self.docker("volume", "ls", "-q").split())

    def last_words(self):
        return self.compose("logs", "--no-color", "--tail", "15")

    def remove(self):
        self.compose("down", "-v", "--remove-orphans", "-t", "2")


def sweep(environment):
    """Remove what test runs left that were killed before they could."""
    projects = json.loads(run(["docker", "compose", "ls", "-a", "--format", "json"], environment))
    for name in (p["Name"] for p in projects):
        ours = re.fullmatch(PREFIX + r"(?:second-)?(\d+)", name)
        if ours and not os.path.exists(f"/proc/{ours[1]}"):
            run(["docker", "compose", "-p", name, "down", "-v", "--remove-orphans", "-t", "2"],
                environment)


class Stopwatch:
    def __init__(self):
        self.began = time.monotonic()

    @property
    def seconds(self):
        return time.monotonic() - self.began
