# SPDX-License-Identifier: Apache-2.0
"""local_agent - a separate agent that writes local files, for tests and benches; needs root."""
import gzip
import signal
import socket
import subprocess

from harness import wait_until
from local.services import http


def free_address():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % s.getsockname()[1]


class LocalAgent:
    """An agent that writes profiles into a directory, and a parser of these files."""

    name = "the local agent"

    def __init__(self, agent_program, directory, *flags):
        self.directory = directory
        self.address = free_address()
        self.log = open(directory.with_suffix(".log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [agent_program, f"--local-store-directory={directory}", "--profiling-duration=2s",
             f"--http-address={self.address}", *flags],
            stderr=self.log, stdin=subprocess.DEVNULL)
        wait_until(self.ready, what="the agent is ready")

    def ready(self):
        assert self.process.poll() is None, self.words()
        return subprocess.run([self.process.args[0], f"--http-address={self.address}",
                               "--healthcheck"], capture_output=True, check=False).returncode == 0

    def get(self, path):
        return http(f"http://{self.address}{path}")

    def words(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(10) == 0, self.words()

    def samples(self, protos):
        """[(labels, [(path, build id, address, function), ... leaf first], nanoseconds)]"""
        found = []
        for path in sorted(self.directory.glob("*.pb.gz")):
            profile = protos.pprof.Profile()
            profile.ParseFromString(gzip.decompress(path.read_bytes()))
            text = [s.decode() if isinstance(s, bytes) else s for s in profile.string_table]
            mappings = {m.id: (text[m.filename], text[m.build_id]) for m in profile.mapping}
            functions = {f.id: text[f.name] for f in profile.function}
            locations = {place.id: (*mappings.get(place.mapping_id, ("", "")), place.address,
                                    functions[place.line[0].function_id] if place.line else "")
                         for place in profile.location}
            for sample in profile.sample:
                labels = {text[label.key]: text[label.str] or str(label.num)
                          for label in sample.label}
                found.append((labels, [locations[i] for i in sample.location_id],
                              sample.value[0]))
        return found
