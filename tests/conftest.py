# SPDX-License-Identifier: Apache-2.0
"""Marks, lanes and figures, which all pytest suites share. Each suite's own conftest.py adds to
them; tests/integration/conftest.py explains how to write a test.
"""
import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS / "integration"), str(TESTS.parent / "tools")]

from harness import compile_protos  # noqa: E402  (the path comes first)

CAN_SAMPLE = os.geteuid() == 0 and Path("/sys/kernel/btf/vmlinux").exists()
FIGURES = []
# The lane `fleets`: what has a fleet of its own anyway, and what waits long.
FLEETS = {"chaos", "compose", "test_page.py", "test_split_dwarf.py", "test_symbols.py",
          "test_hangs.py", "test_hung_mount.py", "test_killed.py", "test_liveness.py"}
SHOWN = 40  # a test's name shows this number of characters of a long parameter


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also run tests marked long")
    parser.addoption("--lane", choices=["machine", "fleets", "servers"],
                     help="only the page, chaos, containers, symbols and what hangs (fleets); or "
                          "of the others only those that sample this machine; or only the rest")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: needs minutes; only with --long")
    config.addinivalue_line("markers", "machine: samples this machine; needs root and BTF")


def pytest_make_parametrize_id(val):
    """The id of a long text is its beginning: the test's name is printed, and is an argument of
    the retry, where the kernel accepts at most 128 KB."""
    if isinstance(val, (str, bytes)) and len(val) > 2 * SHOWN:
        return f"{ascii(val[:SHOWN])}-and-{len(val) - SHOWN}-more"
    return None


def samples(item):
    return item.get_closest_marker("machine") is not None or "agent" in item.fixturenames


def lane_of(item):
    if FLEETS & {item.path.name, item.path.parent.name}:
        return "fleets"
    return "machine" if samples(item) else "servers"


def pytest_collection_modifyitems(config, items):
    lane = config.getoption("--lane")
    if lane:
        left = [item for item in items if lane_of(item) != lane]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if lane_of(item) == lane]
    if not CAN_SAMPLE:
        for item in filter(samples, items):
            item.add_marker(pytest.mark.skip(reason="the agent needs root and BTF"))
    if not config.getoption("--long"):
        skip = pytest.mark.skip(reason="long: make test-long")
        for item in items:
            if "long" in item.keywords:
                item.add_marker(skip)


def pytest_terminal_summary(terminalreporter):
    for line in FIGURES:
        terminalreporter.write_line(f"figure: {line}")


@pytest.fixture(scope="session")
def figure():
    """figure("a measurement"): prints a line at the end of the run, if the test passes or not."""
    return FIGURES.append


@pytest.fixture(scope="session")
def protos(tmp_path_factory):
    """The modules that protoc generates from proto/*.proto, by file name."""
    return compile_protos(tmp_path_factory.mktemp("protos"))
