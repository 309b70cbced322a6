# SPDX-License-Identifier: Apache-2.0
"""side_by_side - run several scenarios concurrently, since most of each is waiting.

A scenario is a generator that yields while it waits. All run on one thread, because a process is
tied to the thread that started it.

    def scenario():
        service.launch()
        yield from until(service.ready, "it is ready")
"""
import time

from harness import waiting

DEADLINE = 180  # seconds
STEP_S = 0.05


def until(predicate, what, deadline=DEADLINE):
    """The value of predicate() once it is true; an AssertionError in it counts as "not yet"."""
    return waiting(predicate, deadline, what)


class Barrier:
    """Scenarios wait here for each other. The last one to arrive calls `act`."""

    def __init__(self, expected, act):
        self.missing, self.act, self.is_over = expected, act, False

    def join(self):
        self.missing -= 1
        if self.missing == 0:
            self.act()
            self.is_over = True
        yield from until(lambda: self.is_over, "all scenarios are at the barrier")


def run_all(scenarios):
    """Run all of {name: generator} to their ends. Returns {name: the exception or None}."""
    ends, going = {}, dict(scenarios)
    while going:
        for name, scenario in list(going.items()):
            try:
                next(scenario)
                continue
            except StopIteration:
                ends[name] = None
            except Exception as e:  # pylint: disable=broad-except
                ends[name] = e
            del going[name]
        time.sleep(STEP_S)
    return ends
