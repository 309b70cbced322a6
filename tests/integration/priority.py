# SPDX-License-Identifier: Apache-2.0
"""priority - programs that get CPU time among dozens of others."""
import os
import signal

from local.process import before_exec

AUTOGROUP = "/proc/self/autogroup"


def with_priority(nice):
    """A preexec_fn: the nice value, also towards other sessions: see autogroups in sched(7). The
    process is killed when this one ends."""
    tie = before_exec(signal.SIGKILL)

    def run():
        tie()
        os.setsid()
        os.setpriority(os.PRIO_PROCESS, 0, nice)
        if os.path.exists(AUTOGROUP):
            with open(AUTOGROUP, "w", encoding="ascii") as f:
                f.write(str(nice))

    return run
