# SPDX-License-Identifier: Apache-2.0
"""server_kills - kill PostgreSQL or Kafka while a process is stopped at a failpoint."""
import contextlib
import os
import select
import signal
from pathlib import Path

import psycopg

from side_by_side import DEADLINE

WAL_WRITER = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"


@contextlib.contextmanager
def commits_blocked(servers):
    """Stop the WAL writer: asynchronous commits are not written and are lost when PostgreSQL is
    killed.
    """
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
    """Kill all of its processes at once, as a power failure does, and start it again."""
    os.close(servers.postgres.send(signal.SIGSTOP))  # it forks no more children
    pid = servers.postgres.pid()
    children = [os.pidfd_open(int(child)) for child in
                Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    servers.postgres.kill()
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(child, signal.SIGKILL)
        assert select.select([child], [], [], DEADLINE)[0], "a process of PostgreSQL has not exited"
        os.close(child)
    servers.postgres.launch()
    servers.postgres.wait_ready(servers.postgres.ready)


def kill_kafka(servers):
    servers.kafka.kill()
    servers.kafka.launch()
    servers.kafka.wait_ready(servers.kafka.ready)


# For each case: the context until the kill, and the kill.
SERVERS = {"postgres-killed": (commits_blocked, kill_postgres),
           "kafka-killed": (contextlib.nullcontext, kill_kafka)}
