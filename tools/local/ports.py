# SPDX-License-Identifier: Apache-2.0
"""ports - loopback ports of one fleet: chosen once, stored in RUN/ports.json.

They are below the kernel's range of ephemeral ports, so that outgoing connections do not use them.
"""
import json
import random
import socket
import time
from pathlib import Path

from .say import Trouble

FIRST, LAST = 20000, 32000
FREED_S = 5  # a child of a killed process may hold its port for a moment
RUNS = Path(__file__).resolve().parents[2] / ".run"


def is_free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def chosen_by_fleets():
    """The ports that the fleets of this checkout have chosen, in use or not."""
    chosen = set()
    for file in (RUNS / "ports.json", *RUNS.glob("*/ports.json")):
        try:
            chosen |= set(json.loads(file.read_text()).values())
        except (OSError, ValueError):
            pass  # the fleet has ended, or is writing the file
    return chosen


def any_free():
    """A free port that no fleet of this checkout has chosen: its service may start later."""
    chosen = chosen_by_fleets()
    for _ in range(1000):
        port = random.randint(FIRST, LAST)
        if port not in chosen and is_free(port):
            return port
    raise Trouble(f"no free port was found on 127.0.0.1 between {FIRST} and {LAST}")


class Ports:
    def __init__(self, run_dir):
        self.file = Path(run_dir) / "ports.json"
        self.ports = json.loads(self.file.read_text()) if self.file.exists() else {}

    def get(self, name, preferred=None):
        """The port with this name; when it is chosen, the preferred one if it is free."""
        if name not in self.ports:
            taken = set(self.ports.values())
            port = preferred if preferred and is_free(preferred) else any_free()
            while port in taken:
                port = any_free()
            self.ports[name] = port
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text(json.dumps(self.ports, indent=1) + "\n")
        return self.ports[name]

    def check_free(self, name, title):
        port = self.get(name)
        ends = time.monotonic() + FREED_S
        while not is_free(port) and time.monotonic() < ends:
            time.sleep(0.1)
        if not is_free(port):
            raise Trouble(
                f"port {port}, which is {title}'s, is used by another process; stop it (see "
                f"`ss -ltnp 'sport = :{port}'`) or, after `make down`, remove {self.file} to have "
                "other ports chosen")
