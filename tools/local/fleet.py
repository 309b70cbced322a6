# SPDX-License-Identifier: Apache-2.0
"""fleet - a run directory and all processes that belong to it.

    fleet = Fleet(ROOT / ".run")
    with fleet.locked():
        fleet.start_servers()
        fleet.start_services()

RUN has pid/ and log/ (a file per process), ports.json, env, bpffs/, and the servers' data. With
`tied` the processes are killed when the process that started them ends, so that tests leave none
behind.
"""
import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from . import say
from .ports import Ports
from .process import LIMIT_S, kill_those_in
from .servers import OUTSIDE, Kafka, Postgres, Redis
from .services import Service, default_build

# in the order of starting; they are stopped in reverse
SERVICES = ("ingester", "debuginfo", "symbolizer", "querier", "agent")


class Fleet:
    def __init__(self, run_dir, *, tied=False, build=None, without=(), flags=None):
        """flags: {"ingester": {"flush-interval": "1s"}}; without: kinds not to start."""
        self.run_dir = Path(run_dir).absolute()
        self.tied = tied
        self.tied_signal = signal.SIGKILL if tied else None
        self.build = Path(build or default_build()).absolute()
        self.run_dir.mkdir(parents=True, exist_ok=True)
        self.bpffs = self.run_dir / "bpffs"  # mounted by the agent for itself
        self.ports = Ports(self.run_dir)
        self.postgres, self.redis, self.kafka = Postgres(self), Redis(self), Kafka(self)
        self.servers = [self.postgres, self.redis, self.kafka]
        self.services = {}
        for kind in SERVICES:  # in order: a service may need the address of an earlier one
            if kind not in without:
                self.services[kind] = Service(self, kind, flags=(flags or {}).get(kind))

    @contextlib.contextmanager
    def locked(self):
        """Lock the run directory; a second process prints that it waits."""
        with open(self.run_dir / "lock", "w", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say.line(f"another process is using {self.run_dir}: waiting for it to end")
                fcntl.flock(lock, fcntl.LOCK_EX)
                self.ports = Ports(self.run_dir)  # it may have chosen some
            yield self

    def start_servers(self):
        say.waiting("preparing PostgreSQL, Redis and Kafka")
        for server in self.servers:
            if not server.alive():
                server.prepare()
            server.launched = server.launch()
        for server in self.servers:
            server.wait_ready(server.ready, lambda s=server: say.waiting(f"{s.title} starts"))
            say.step(f"{server.title} {_verb(server)} on 127.0.0.1:{server.port}")

    def start_services(self):
        for service in self.services.values():
            service.launched = time.time() if service.launch() else None
            service.wait_ready(service.ready,
                               lambda s=service: say.waiting(f"{s.title} starts"))
            say.step(f"{service.title} {_verb(service)} on {service.url}")

    def wait_first_profile(self, timeout=2 * LIMIT_S):
        """The first response with samples, by line; since the agent's start if it started now."""
        querier, agent = self.services["querier"], self.services["agent"]
        path = "/api/v1/query?query=%7B%7D&report=collapsed"
        if agent.launched:
            path += f"&start={agent.launched:.3f}"
        deadline = time.monotonic() + timeout
        while True:
            status, body = querier.get(path)
            if status == 200 and body.strip():
                return body.decode(errors="replace").splitlines()
            for service in self.services.values():
                if not service.alive():
                    raise say.Trouble(f"{service.title} ended; {service.log_file} ends with\n"
                                      f"{service.last_words()}")
            if time.monotonic() > deadline:
                raise say.Trouble(
                    f"no profile of this machine came out of {querier.url} within {timeout} s "
                    f"(last answer: status {status}, {body[:200]!r}); the logs are in "
                    f"{self.run_dir / 'log'}")
            say.waiting("the first profile is on its way (the agent sends every 10 s)")
            time.sleep(0.5)

    def environment(self):
        """The addresses of all parts, as environment variables."""
        env = {
            "DECIMA_KAFKA_BROKERS": self.kafka.address(),
            "DECIMA_POSTGRES": self.postgres.address(),
            "DECIMA_REDIS": self.redis.address(),
        }
        if "querier" in self.services:
            env["DECIMA_URL"] = self.services["querier"].url
        for kind in ("ingester", "debuginfo", "symbolizer", "agent"):
            if kind in self.services:
                env[f"DECIMA_{kind.upper()}_URL"] = self.services[kind].url
        return env

    def write_environment(self):
        file = self.run_dir / "env"
        file.touch(mode=0o600)  # it contains PostgreSQL's password
        file.write_text("".join(f"{k}={v}\n" for k, v in self.environment().items()))

    def processes(self):
        """All processes, in the order of starting."""
        return self.servers + list(self.services.values())

    def stop(self):
        """Stop all of them, the last started first; returns how many were running."""
        count = 0
        for process in reversed(self.processes()):
            if not process.alive():
                process.pid_file.unlink(missing_ok=True)
                continue
            count += 1
            say.waiting(f"{process.title} stops")
            gone = process.stop(getattr(process, "stop_signal", signal.SIGTERM),
                                getattr(process, "stop_timeout", 60))
            say.step(f"{process.title} stopped" if gone else
                     f"{process.title} did not stop in time, and was killed")
        self.unmount()
        return count

    def kill(self):
        """Kill all processes: for the end of a test run."""
        for process in reversed(self.processes()):
            process.stop(process.tied_signal if process in self.servers else signal.SIGKILL)
        kill_those_in(self.postgres.data)

    def unmount(self):
        """Unmount the agent's bpffs, which releases the maps that it pinned."""
        while os.path.ismount(self.bpffs):
            subprocess.run(["umount", self.bpffs], check=True)

    def remove(self):
        """Remove the run directory, and PostgreSQL's data if it is outside of it."""
        self.unmount()
        outside = self.postgres.data
        if outside.is_symlink():
            shutil.rmtree(outside.resolve().parent, ignore_errors=True)
        shutil.rmtree(self.run_dir, ignore_errors=True)


def _verb(process):
    return "started" if process.launched else "was running"


def sweep():
    """Remove PostgreSQL data outside of checkouts that no longer exist."""
    for place in OUTSIDE.glob("*/belongs-to"):
        link = Path(place.read_text().strip())
        if link.is_symlink() or _postmaster_runs(place.parent / "postgres"):
            continue
        shutil.rmtree(place.parent, ignore_errors=True)


def _postmaster_runs(data):
    try:
        pid = int((data / "postmaster.pid").read_text().split()[0])
        return Path(f"/proc/{pid}/comm").read_text().startswith("postgres")
    except (OSError, ValueError, IndexError):
        return False
