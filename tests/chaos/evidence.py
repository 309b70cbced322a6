# SPDX-License-Identifier: Apache-2.0
"""evidence - saves the logs of a failed round, also those of killed processes, and the contents of
PostgreSQL.
"""
import shutil
from pathlib import Path

import psycopg

from local.servers import ROOT


def keep_log(process):
    """Before a process is restarted: append its log to the logs of its previous runs."""
    if process.log_file.exists():
        with open(process.log_file, "rb") as log, open(_former(process), "ab") as former:
            shutil.copyfileobj(log, former)


def _former(process):
    return process.log_file.with_suffix(".former.log")


def keep_evidence(cell, seed, round_number):
    """Copy logs and tables to a directory that is not removed. Returns its path."""
    place = ROOT / ".run" / f"chaos-{seed}-round-{round_number}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name in (cell.name, "kafka", "postgres"):
        for log in (cell.fleet.run_dir / "log").glob(f"{name}*.log"):
            shutil.copy(log, place)
    for table in ("consumer_offset", "agent_status"):
        _keep_table(cell, table, place / f"{table}.txt")
    return place


def _keep_table(cell, table, file: Path):
    try:
        with cell.connect() as db:
            found = db.execute(f"SELECT * FROM {table}")
            columns = [column.name for column in found.description]
            lines = ["; ".join(f"{n}={v}" for n, v in zip(columns, row)) for row in found]
    except psycopg.Error as e:
        lines = [f"PostgreSQL cannot be read: {e}"]
    file.write_text("\n".join(lines) + "\n")
