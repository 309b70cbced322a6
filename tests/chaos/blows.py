# SPDX-License-Identifier: Apache-2.0
"""blows - what happens to a server while a process stands at a failpoint."""
import contextlib
import os
import select
import signal
from pathlib import Path

import psycopg

from side_by_side import DEADLINE

WAL_WRITER = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"


@contextlib.contextmanager
def commits_held(servers):
    """PostgreSQL writes no commit that does not wait for it: they are lost when it is killed."""
    with psycopg.connect(servers.postgres.address("postgres")) as db:
        pid, = db.execute(WAL_WRITER).fetchone()
    writer = os.pidfd_open(pid)
    signal.pidfd_send_signal(writer, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(writer, signal.SIGCONT)
        os.close(writer)


def kill_postgres(servers):
    """All of its processes at once, as when a machine ends; and a new start."""
    os.close(servers.postgres.send(signal.SIGSTOP))  # it makes no more of them
    pid = servers.postgres.pid()
    children = [os.pidfd_open(int(child)) for child in
                Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    servers.postgres.kill()
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(child, signal.SIGKILL)
        assert select.select([child], [], [], DEADLINE)[0], "a process of PostgreSQL does not end"
        os.close(child)
    servers.postgres.launch()
    servers.postgres.wait_ready(servers.postgres.ready, DEADLINE)


def kill_kafka(servers):
    servers.kafka.kill()
    servers.kafka.launch()
    servers.kafka.wait_ready(servers.kafka.ready, DEADLINE)


# How it is all the time before, and the blow.
SERVERS = {"postgres-killed": (commits_held, kill_postgres),
           "kafka-killed": (contextlib.nullcontext, kill_kafka)}
