# SPDX-License-Identifier: Apache-2.0
"""symbolizer_service - a symbolizer with a debuginfo service, programs, and requests for them."""
import json
import shutil
import subprocess
import types
import urllib.error
import urllib.request

import pytest

from harness import metrics, servers_of_a_run
from local.services import Service

# The line numbers of this source must not change: tests compare them.
SOURCE = """\
#include <cstdio>
#define INLINE inline __attribute__((always_inline))
namespace app { namespace { INLINE int hidden(int x) { asm volatile("nop"); return x; } }
INLINE int twice(int x)
{
	asm volatile("nop"); return x + x + NUMBER;
}
__attribute__((noinline)) int outer(const char *, int x)
{
	return twice(x) * 3 + hidden(x);
}
}
int main(int argc, char **argv) { std::printf("%d\\n", app::outer(*argv, argc)); }
"""
NO_FILE = "no debug info or executable with this build id is known"
PENDING = "the debug info is being fetched or read: retry"
UNAVAILABLE = "the debuginfod server is unavailable"
MALFORMED = "the debug info cannot be parsed"


@pytest.fixture(scope="module")
def fleet():
    """A run directory with a Redis server."""
    with servers_of_a_run("-symbolizer", without=("postgres", "kafka")) as made:
        yield made


@pytest.fixture
def start(fleet, request):
    """start(kind, flag=value, ...): a service with a directory of its own, ended with the test."""
    started = []

    def make(kind, **flags):
        name = f"{request.node.name[5:40]}-{kind}-{len(started)}".replace("[", "-").rstrip("]")
        service = Service(fleet, kind, name, {k.replace("_", "-"): v for k, v in flags.items()})
        service.directory = fleet.run_dir / name
        started.append(service)
        service.launch()
        service.wait_ready(service.ready)
        return service

    yield make
    for service in started:
        service.kill()
        shutil.rmtree(service.directory, ignore_errors=True)


@pytest.fixture
def pair(start):
    """A debuginfo service, and a symbolizer that downloads from it."""
    debuginfo = start("debuginfo")
    return debuginfo, start("symbolizer", debuginfod_urls=debuginfo.url)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """program(n): the files of a small program; each n is a program with another build id."""
    made = {}

    def make(number=0):
        if number in made:
            return made[number]
        where = tmp_path_factory.mktemp("program")
        files = types.SimpleNamespace(source=where / "small.cc", whole=where / "small",
                                      symbols=where / "small.symbols", debug=where / "small.debug")
        files.source.write_text(SOURCE)
        run("c++", "-g", "-O1", f"-DNUMBER={number}", "-Wl,--build-id=sha1", "-o", files.whole,
            files.source)
        run("objcopy", "--only-keep-debug", files.whole, files.debug)
        run("strip", "-g", "-o", files.symbols, files.whole)
        notes = run("readelf", "-n", files.whole)
        files.id = notes.partition("Build ID:")[2].split()[0]
        symbols = {line.split()[-1]: int(line.split()[0], 16)
                   for line in run("nm", files.whole).splitlines() if len(line.split()) == 3}
        files.outer = symbols["_ZN3app5outerEPKci"]
        made[number] = files
        return files

    return make


def run(*argv):
    return subprocess.run([str(a) for a in argv], check=True, cwd="/", text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout


def post(service, body, content_type="application/json", path="/symbolize"):
    """(status, body) of a POST."""
    request = urllib.request.Request(service.url + path, body, {"Content-Type": content_type})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=180) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as e:
        return e.code, e.read()


def ask(service, build_id, *addresses):
    """Send a request for one build id; returns its response."""
    status, body = post(service, json.dumps(
        {"requests": [{"build_id": build_id, "addresses": list(addresses)}]}).encode())
    assert status == 200, body
    return json.loads(body)["responses"][0]


def function(service, build_id, address):
    """The innermost function at the address, or the reason why the function is unknown."""
    location, = ask(service, build_id, address)["locations"]
    return location["lines"][-1]["function"] if location["lines"] else location["reason"]


def upload(service, build_id, file, query=""):
    request = urllib.request.Request(f"{service.url}/buildid/{build_id}/debuginfo{query}",
                                     file.read_bytes(), method="PUT")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=180) as response:
        return json.loads(response.read())["data"]["generation"]


def works(service):
    """{outcome: number of files with this outcome}, without zeros."""
    name = 'decima_symbolizer_builds_total{outcome="'
    return {k.removeprefix(name).rstrip('"}'): int(v) for k, v in metrics(service).items()
            if k.startswith(name) and v}


def counted(service, name):
    return int(metrics(service)[f"decima_symbolizer_{name}"])


OUTER = "app::outer(char const*, int)"


@pytest.fixture
def known(pair, program):
    """(a symbolizer, a program whose symbols it can find)."""
    small = program()
    upload(pair[0], small.id, small.debug)
    return pair[1], small
