# SPDX-License-Identifier: Apache-2.0
"""The store's own tests, in C, against a real PostgreSQL: store_*_check.c. Each has a
database of its own."""
import os
import re
import subprocess
from pathlib import Path

import psycopg
import pytest

from harness import ROOT

SOURCES = sorted(Path(__file__).parent.glob("store_*_check.c"))
NAMES = [name for source in SOURCES
         for name in re.findall(r"^\tTEST\((\w+)\)", source.read_text(), re.MULTILINE)]


@pytest.mark.parametrize("name", NAMES)
def test_store(servers, name):
    program = Path(os.environ.get("DECIMA_TEST_BUILD", ROOT / "build")) / "tests" / "store_check"
    database = f"store_{name}"[:60]
    with psycopg.connect(servers.postgres.address("postgres"), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {database}")
    done = subprocess.run([program, name], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "DECIMA_POSTGRES": servers.postgres.address(database)})
    assert done.returncode == 0 and "[  PASSED  ] 1 test" in done.stdout + done.stderr, \
        done.stdout + done.stderr
