# SPDX-License-Identifier: Apache-2.0
"""The fleet in containers, as compose.yaml has it; test_compose.py says what must hold.

`make test-compose` runs it, and `make test` unless DECIMA_TEST_DOCKER=off. An engine is started
where none runs, images that cannot be had are made of Debian's packages (standins.py). Where
neither can be, the tests are skipped and say why.
"""
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "integration"), str(ROOT / "tools")]

import engine  # noqa: E402  (the path comes first)
import standins  # noqa: E402
from fleet import Fleet, Stopwatch, sweep  # noqa: E402
from harness import compile_protos  # noqa: E402

FIGURES = []


def pytest_terminal_summary(terminalreporter):
    for line in FIGURES:
        terminalreporter.write_line(f"figure: {line}")


@pytest.fixture(scope="session")
def told():
    """told("what was measured"): a line at the end of the run."""
    return FIGURES.append


@pytest.fixture(scope="session")
def docker(told):
    """The environment to call `docker` with; all images that are not ours are there."""
    watch = Stopwatch()
    try:
        with engine.engine() as (environment, own):
            told(f"Docker {engine.answers(environment)}, "
                 f"{'started for the tests in' if own else 'found in'} {watch.seconds:.0f} s")
            watch = Stopwatch()
            found = standins.provide(environment, own)
            made = sum(kind == "stand-in" for kind in found.values())
            told(f"{len(found)} images of others, {made} of them stand-ins, are there after "
                 f"{watch.seconds:.0f} s")
            sweep(environment)
            yield environment
            if own:  # what an older run built is not wanted any more
                engine.run(["docker", "image", "prune", "-f"], environment)
                engine.run(["docker", "builder", "prune", "-f", "--keep-storage", "2GB"],
                           environment)
    except engine.NoEngine as e:
        pytest.skip(str(e))


@pytest.fixture(scope="module")
def fleet(docker, told):
    """All of compose.yaml, built and ready; .began is when that was begun."""
    made = Fleet(docker)
    try:
        made.began = Stopwatch()
        made.compose("build", "--quiet")
        told(f"our images are built after {made.began.seconds:.0f} s")
        made.started = Stopwatch()
        made.up("--no-build")
        told(f"all containers are healthy after {made.started.seconds:.0f} s more")
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="session")
def protos(tmp_path_factory):
    return compile_protos(tmp_path_factory.mktemp("protos"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    if report.failed and "fleet" in item.funcargs:
        report.sections.append(("the containers' logs", item.funcargs["fleet"].last_words()))
