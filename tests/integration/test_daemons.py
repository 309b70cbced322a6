# SPDX-License-Identifier: Apache-2.0
"""The behaviour that all services share: health, metrics, settings, errors and an orderly end."""
import re
import signal
import socket
import subprocess
import time

import pytest

from harness import SLOW, metrics, wait_until
from local.process import clean_environment
from local.servers import ROOT
from test_stop import frozen

KINDS = ("ingester", "querier", "debuginfo", "symbolizer", "agent")
RUN = [pytest.param(kind, marks=pytest.mark.machine) if kind == "agent" else kind
       for kind in KINDS]  # for tests that start the service


@pytest.fixture(params=KINDS)
def program(request, servers):
    return servers.build / "services" / request.param / f"decima-{request.param}"


@pytest.fixture(scope="module")
def debuginfo(cell):
    return cell.start_service(cell.service("debuginfo"))


@pytest.fixture(scope="module")
def symbolizer(cell):
    return cell.start_service(cell.service("symbolizer"))


@pytest.fixture(params=RUN)
def running(request):
    """A running service of each kind; other tests share it, so a test only reads."""
    if request.param in ("agent", "debuginfo", "symbolizer"):
        return request.getfixturevalue(request.param)
    return getattr(request.getfixturevalue("stack"), request.param)


@pytest.fixture(params=RUN)
def own(request, cell):
    """A service of each kind that the test may end."""
    service = cell.start_service(cell.service(request.param, "own"))
    yield service
    service.kill()


def run(program, *arguments, environment=None):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=20, cwd="/",
                          env=clean_environment() | (environment or {}))


def test_a_running_service_is_healthy_and_ready(running):
    assert running.get("/healthy")[0] == 200
    assert running.get("/ready")[0] == 200


def test_metrics_are_prometheus_text_and_include_the_process_metrics(running):
    found = metrics(running)

    assert found["process_resident_memory_bytes"] > 1_000_000
    assert found["process_open_fds"] > 3
    assert any(name.startswith(f"decima_{running.kind}_") for name in found)


def test_every_metric_has_help_and_type(running):
    lines = running.get("/metrics")[1].decode().splitlines()

    with_help = {line.split()[2] for line in lines if line.startswith("# HELP")}
    with_type = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    named = {line.split("{")[0].split()[0] for line in lines if line and line[0] != "#"}
    histograms = {line.split()[2] for line in lines if line.endswith(" histogram")}
    named -= {name + end for name in histograms for end in ("_bucket", "_sum", "_count")}
    assert named <= with_help and named <= with_type
    assert len(histograms) >= 1


def test_promtool_accepts_the_metrics(running):
    running.get("/no/such/thing")  # so that there are metrics with two labels
    text = running.get("/metrics")[1]

    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                          check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_documentation_has_every_metric_of_a_service(running):
    lines = running.get("/metrics")[1].decode().splitlines()
    page = (ROOT / "docs" / "metrics.md").read_text()

    section = page.partition(f"## decima-{running.kind}\n")[2].partition("\n## ")[0]
    named = {line.split()[2] for line in lines if line.startswith("# TYPE decima_")}
    named -= {"decima_build_info"}
    assert named == set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE))


def test_an_unknown_path_is_404_and_a_wrong_method_405(running):
    assert running.get("/no/such/thing")[0] == 404
    with socket.create_connection(running.address.split(":"), timeout=180) as s:
        s.sendall(b"DELETE /healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b" 405 " in s.recv(4096).splitlines()[0]


def test_help_lists_the_flags_and_the_environment_variables(program):
    done = run(program, "--help")

    assert done.returncode == 0
    assert "--http-address" in done.stdout and "DECIMA_" in done.stdout


def test_the_error_of_an_unknown_flag_has_its_name(program):
    done = run(program, "--no-such-flag=1")

    assert done.returncode != 0 and "no-such-flag" in done.stderr


def test_the_error_of_an_invalid_value_has_the_flag_and_the_value(program):
    done = run(program, "--log-level=loud")

    assert done.returncode != 0
    assert "log-level" in done.stderr and "loud" in done.stderr


def test_healthcheck_is_zero_while_the_service_runs_and_one_otherwise(own):
    command = [own.program, f"--http-address={own.address}", "--healthcheck"]

    while_up = run(*command)
    own.kill()
    while_down = run(*command)

    assert while_up.returncode == 0, while_up.stderr
    assert while_down.returncode == 1


def test_a_service_that_stands_still_is_noticed_by_its_healthcheck(own):
    """The stopped process accepts connections and answers none."""
    command = [own.program, f"--http-address={own.address}", "--healthcheck"]
    with frozen(own.pid()):
        began = time.monotonic()
        assert own.get("/healthy", timeout=5)[0] == 0
        assert run(*command).returncode == 1
        assert time.monotonic() - began < SLOW * 30
    wait_until(lambda: own.get("/healthy")[0] == 200, what="healthy again")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_service_with_exit_code_zero(own, number):
    own.send(number)

    wait_until(lambda: not own.alive(), what=f"{own.name} ended")
    assert own.exit_code() == 0, own.last_words()


def test_an_address_in_use_is_an_error_message(own):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        address = "127.0.0.1:%d" % listener.getsockname()[1]
        arguments = [a for a in own.argv()[1:] if not a.startswith(("--http-address", "--state"))]
        environment = {"DECIMA_POSTGRES": own.fleet.postgres.address()}
        has_state = own.kind in ("agent", "debuginfo", "symbolizer")
        state = [f"--state-directory={own.fleet.run_dir}/another"] if has_state else []

        done = run(own.program, *arguments, *state, f"--http-address={address}",
                   environment=environment)

    assert done.returncode == 1
    assert address in done.stderr and "in use" in done.stderr
