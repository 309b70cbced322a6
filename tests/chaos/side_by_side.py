# SPDX-License-Identifier: Apache-2.0
"""side_by_side - several stories at once, since most of each is waiting.

A story is a generator that yields while it waits. All run on the one thread, because a process is
tied to the thread that started it.

    def story():
        service.launch()
        yield from until(service.ready, "it is ready")
"""
import time

from harness import waiting

DEADLINE = 90  # on a machine that does other things too
STEP_S = 0.05


def until(predicate, what, deadline=DEADLINE):
    """The value of predicate() once it is true; an AssertionError in it counts as "not yet"."""
    return waiting(predicate, deadline, what)


class Meeting:
    """Stories wait here for each other; the last to come does what all of them waited for."""

    def __init__(self, expected, act):
        self.missing, self.act, self.is_over = expected, act, False

    def join(self):
        self.missing -= 1
        if self.missing == 0:
            self.act()
            self.is_over = True
        yield from until(lambda: self.is_over, "all have come")


def play(stories):
    """Let all of {name: generator} come to their ends; {name: what it failed with, or None}."""
    ends, going = {}, dict(stories)
    while going:
        for name, story in list(going.items()):
            try:
                next(story)
                continue
            except StopIteration:
                ends[name] = None
            except Exception as e:  # pylint: disable=broad-except
                ends[name] = e
            del going[name]
        time.sleep(STEP_S)
    return ends
