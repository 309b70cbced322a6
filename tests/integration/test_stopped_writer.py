# SPDX-License-Identifier: Apache-2.0
"""No timeout of PostgreSQL ends a client that is stopped inside COPY; another ingester does."""
import os
import signal

import pytest

from harness import metrics, wait_until
from otlp_messages import cpu_message

ENDED_S = 300  # it is stuck after 2 minutes, and maintenance checks once a minute
IN_COPY = ("SELECT pid FROM pg_stat_activity WHERE datname = %s AND state = 'active'"
           " AND wait_event = 'ClientRead' AND query LIKE 'COPY chunk_raw%%'")


def send(cell, protos, count):
    for pid in range(count):
        cell.produce(cpu_message(protos, "stopped", {(0x10,): 2}, pid=pid), partition=pid % 4)


@pytest.mark.long
def test_a_writer_stopped_in_its_copy_is_terminated_by_another_ingester(cell, protos):
    stopped = cell.service("ingester", "stopped", {"failpoints": "in-copy=stop"})
    cell.start_service(stopped)
    wait_until(lambda: metrics(stopped)["decima_ingester_partitions_assigned"] == 2,
               what="two partitions")
    send(cell, protos, 8)
    found = wait_until(lambda: cell.rows(IN_COPY, cell.database), what="a stopped COPY")

    wait_until(lambda: not cell.rows(IN_COPY, cell.database), ENDED_S, "the end of its backend")

    assert len(found) == 1
    assert cell.ingester.alive()
    assert "terminated connections of stuck writers" in cell.ingester.last_words(50)
    os.close(stopped.send(signal.SIGCONT))
    wait_until(lambda: metrics(stopped)["decima_ingester_partitions_assigned"] == 2,
               what="two partitions again")
    send(cell, protos, 8)
    wait_until(lambda: cell.total('{comm="stopped"}') == 2 * 16 * 52_631_578,
               what="all stored, once")
