# SPDX-License-Identifier: Apache-2.0
"""The disk of the debuginfo service's store is full for a while. Needs root."""
import os
import subprocess

import pytest

from debuginfo_store import (  # fleet: start() depends on it
    build, fleet, generation, in_temp, put, start, stored_files)

ROOM = 4096


@pytest.fixture
def small_disk(fleet, request):
    """A file system of 1 MB where the first service of the test has its store."""
    place = fleet.run_dir / f"{request.node.name[:40]}-0"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0755", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_a_store_with_a_full_disk_serves_and_accepts_again_when_it_has_room(
        small_disk, start, build):
    service, first, second = start(), build(1), build(2)
    assert put(service, first.id, first.debug.read_bytes())[0] == 201
    kept = stored_files(service)
    space = os.statvfs(small_disk)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(max(0, space.f_bavail * space.f_frsize - ROOM)))

    for _ in range(3):
        status, response = put(service, second.id, second.debug.read_bytes())
        assert status == 503 and response["errorType"] == "unavailable", response
    assert generation(service, first.id) and not generation(service, second.id)
    assert stored_files(service) == kept and not in_temp(service)
    assert service.get("/healthy")[0] == 200

    ballast.unlink()
    assert put(service, second.id, second.debug.read_bytes())[0] == 201
    assert generation(service, second.id)
