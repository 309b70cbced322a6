# SPDX-License-Identifier: Apache-2.0
"""services - decima-ingester, -debuginfo, -symbolizer, -querier and -agent of one fleet.

A service is a Process with an address. Its flags are the defaults here and those of the caller. The
tests start further instances, with other names and flags.
"""
import json
import urllib.error
import urllib.request

from .process import LIMIT_S, Process
from .servers import ROOT

# preferred by `make up`
PORTS = {"querier": 7070, "agent": 7071, "ingester": 7072, "symbolizer": 7073, "debuginfo": 8002}


def http(url, timeout=LIMIT_S):
    """(status, body) of a GET; (0, reason) without a response."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback: no proxy
    try:
        with opener.open(url, timeout=timeout) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as e:
        return e.code, e.read()
    except OSError as e:
        return 0, str(e).encode()


class Service(Process):
    """An instance `name` (its pid file, log and port) of the program `kind`."""

    def __init__(self, fleet, kind, name=None, flags=None):
        name = name or kind
        super().__init__(fleet.run_dir, name, f"decima-{kind}")
        self.fleet, self.kind = fleet, kind
        self.flags = self._defaults() | (flags or {})
        fleet.ports.get(name, PORTS[kind] if fleet.run_dir == ROOT / ".run" else None)

    def _defaults(self):
        flags = {"http-address": None}
        if self.kind in ("ingester", "agent"):
            flags["kafka-brokers"] = self.fleet.kafka.address()
        if self.kind in ("agent", "debuginfo", "symbolizer"):
            flags["state-directory"] = self.fleet.run_dir / self.name
        if self.kind == "agent":
            flags["bpffs-directory"] = self.fleet.bpffs
        if self.kind == "symbolizer" and "debuginfo" in self.fleet.services:
            flags["debuginfod-urls"] = self.fleet.services["debuginfo"].url
            flags["redis"] = self.fleet.redis.address()
        if self.kind == "querier" and "symbolizer" in self.fleet.services:
            flags["symbolizer-url"] = self.fleet.services["symbolizer"].url
        if self.kind == "agent" and "debuginfo" in self.fleet.services:
            flags["debuginfo-url"] = self.fleet.services["debuginfo"].url
        return flags

    @property
    def address(self):
        return f"127.0.0.1:{self.fleet.ports.get(self.name)}"

    @property
    def url(self):
        return f"http://{self.address}"

    @property
    def program(self):
        return self.fleet.build / "services" / self.kind / f"decima-{self.kind}"

    def argv(self):
        flags = self.flags | {"http-address": self.address}
        return [self.program] + [f"--{k}={v}" for k, v in flags.items() if v is not None]

    def launch(self, environment=None):
        """Start it unless it runs; True when it was started."""
        if self.alive():
            return False
        self.fleet.ports.check_free(self.name, self.title)
        given = {}
        if self.kind in ("ingester", "querier"):  # keeps the password out of the command line
            given["DECIMA_POSTGRES"] = self.fleet.postgres.address()
        self.start(self.argv(), environment=given | (environment or {}),
                   tied_signal=self.fleet.tied_signal)
        return True

    def ready(self):
        return http(f"{self.url}/ready", timeout=5)[0] == 200

    def get(self, path, timeout=LIMIT_S):
        return http(self.url + path, timeout)

    def json(self, path):
        """The body of a GET as JSON, whatever its status."""
        status, body = self.get(path)
        try:
            return json.loads(body)
        except ValueError:
            raise AssertionError(f"{path}: not JSON, status {status}: {body[:300]!r}") from None


def default_build():
    return ROOT / "build"
