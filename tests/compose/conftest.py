# SPDX-License-Identifier: Apache-2.0
"""The fleet in containers, as compose.yaml has it; test_compose.py says what must hold.

`make test-compose` runs it, and `make test` unless DECIMA_TEST_DOCKER=off. An engine is started
where none runs, images that cannot be had are made of Debian's packages (standins.py). Where
neither can be, the tests are skipped and say why.
"""
import pytest

import engine
import standins
from fleet import Fleet, Stopwatch, sweep


@pytest.fixture(scope="session")
def docker(figure):
    """The environment to call `docker` with; all images that are not ours are there."""
    watch = Stopwatch()
    try:
        with engine.engine() as (environment, own):
            figure(f"Docker {engine.answers(environment)}, "
                   f"{'started for the tests in' if own else 'found in'} {watch.seconds:.0f} s")
            watch = Stopwatch()
            found = standins.provide(environment, own)
            made = sum(kind == "stand-in" for kind in found.values())
            figure(f"{len(found)} images of others, {made} of them stand-ins, are there after "
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
def fleet(docker, figure):
    """All of compose.yaml, built and ready; .began is when that was begun."""
    made = Fleet(docker)
    try:
        made.began = Stopwatch()
        made.compose("build", "--quiet")
        figure(f"our images are built after {made.began.seconds:.0f} s")
        made.started = Stopwatch()
        made.up("--no-build")
        figure(f"all containers are healthy after {made.started.seconds:.0f} s more")
        yield made
    finally:
        made.remove()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    if report.failed and "fleet" in item.funcargs:
        report.sections.append(("the containers' logs", item.funcargs["fleet"].last_words()))
