# SPDX-License-Identifier: Apache-2.0
"""debuginfo_store - a decima-debuginfo with a store of its own, and programs to upload to it."""
import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import types
import urllib.request

import pytest

from harness import servers_of_a_run
from local.services import Service

SOURCE = """
#include <stdio.h>
static int twice(int x) { return x + x; }
int main(int argc, char **argv) { (void)argv; printf("%%d\\n", twice(argc)); return %d; }
"""


@pytest.fixture(scope="module")
def fleet():
    """A run directory without servers: this service needs no server."""
    with servers_of_a_run("-debuginfo", without=("postgres", "redis", "kafka")) as made:
        yield made


@pytest.fixture
def start(fleet, request):
    """start(flag=value, ...): a decima-debuginfo with a store of its own; keep=True: with the store
    of the last one."""
    started = []

    def make(keep=False, **flags):
        name = f"{request.node.name[:40]}-{len(started) - keep}".replace("[", "-").rstrip("]")
        service = Service(fleet, "debuginfo", name,
                          {k.replace("_", "-"): v for k, v in flags.items()})
        service.store = fleet.run_dir / name
        service.launch()
        started.append(service)
        service.wait_ready(service.ready)
        return service

    yield make
    for service in started:
        service.kill()
        shutil.rmtree(service.store, ignore_errors=True)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """build(n): the files of a small program; each n is a program with another build id."""
    made = {}

    def run(*argv):
        subprocess.run(argv, check=True, cwd="/", stdin=subprocess.DEVNULL)

    def make(number=0):
        if number in made:
            return made[number]
        where = tmp_path_factory.mktemp("program")
        files = types.SimpleNamespace(**{n: where / n for n in (
            "source", "whole", "debug", "symbols", "stripped")})
        files.source = where / "prog.c"
        files.source.write_text(SOURCE % number)
        run("cc", "-g", "-O0", "-Wl,--build-id=sha1", "-o", files.whole, files.source)
        run("objcopy", "--only-keep-debug", files.whole, files.debug)
        run("strip", "-g", "-o", files.symbols, files.whole)
        run("strip", "-o", files.stripped, files.whole)
        notes = subprocess.run(["readelf", "-n", files.whole], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        files.id = notes.partition("Build ID:")[2].split()[0]
        made[number] = files
        return files

    return make


def with_section(elf, where, name, contents):
    """The bytes of the ELF file with one more section, whose contents are a file."""
    subprocess.run(["objcopy", "--add-section", f"{name}={contents}", elf, where / "more"],
                   check=True)
    return (where / "more").read_bytes()


def put(service, build_id, body, query="", source="127.0.0.1", **headers):
    """Upload a file from an address; returns (status, parsed response)."""
    link = http.client.HTTPConnection(service.address, timeout=180, source_address=(source, 0))
    try:
        link.request("PUT", f"/buildid/{build_id}/debuginfo{query}", body, headers)
        response = link.getresponse()
        return response.status, json.loads(response.read())
    finally:
        link.close()


def ask(service, build_id, source="127.0.0.3"):
    """Ask for a debug file from an address; returns its bytes."""
    link = http.client.HTTPConnection(service.address, timeout=180, source_address=(source, 0))
    try:
        link.request("GET", f"/buildid/{build_id}/debuginfo")
        response = link.getresponse()
        body = response.read()
        assert response.status == 200, body
        return body
    finally:
        link.close()


class Offer:
    """An upload that the test sends piece by piece: the headers, then parts of the body."""

    def __init__(self, service, build_id, length, query="", headers="", source="127.0.0.1"):
        host, port = service.address.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=30,
                                               source_address=(source, 0))
        self.send(f"PUT /buildid/{build_id}/debuginfo{query} HTTP/1.1\r\nHost: x\r\n"
                  f"Connection: close\r\nContent-Length: {length}\r\n"
                  f"Expect: 100-continue\r\n{headers}\r\n".encode())

    def send(self, data):
        self.socket.sendall(data)

    def receive_head(self):
        """The next bytes up to the end of the headers; b"" if the connection was closed."""
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while b"\r\n\r\n" not in received:
                piece = self.socket.recv(1)
                if not piece:
                    break
                received += piece
        return received

    def receive_rest(self):
        with contextlib.suppress(ConnectionResetError):
            return b"".join(iter(lambda: self.socket.recv(65536), b""))
        return b""

    def close(self):
        self.socket.close()


GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"


def in_temp(service):
    return list((service.store / "temp").iterdir())


def stored_files(service):
    """The paths of the stored files: directory of the build id, and name."""
    return sorted(str(f.relative_to(service.store / "files"))
                  for f in (service.store / "files").rglob("*") if f.is_file())


def generation(service, build_id):
    request = urllib.request.Request(f"{service.url}/api/v1/generations",
                                     json.dumps({"build_ids": [build_id]}).encode())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=180) as response:
        return json.loads(response.read())["data"]["generations"][build_id]


def client(service, tmp_path, *argv):
    """Run a program that fetches from the service with libdebuginfod."""
    environment = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    environment |= {"DEBUGINFOD_URLS": service.url,
                    "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache"),
                    "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    return subprocess.run([str(a) for a in argv], cwd=tmp_path, env=environment, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
