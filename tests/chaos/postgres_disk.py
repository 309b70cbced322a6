# SPDX-License-Identifier: Apache-2.0
"""postgres_disk - PostgreSQL's data and WAL on a small file system of its own that can be filled.

To fill it, its size is set to the size in use: that needs no memory and is undone at once.
"""
import contextlib
import os
import shutil
import signal
import subprocess

SIZE_BYTES = 2 << 30


@contextlib.contextmanager
def postgres_on_its_own_disk(fleet):
    """Move the data of a running PostgreSQL to the disk. Yields None if mounting is not allowed."""
    if os.geteuid() != 0:
        yield None
        return
    postgres, before = fleet.postgres, fleet.postgres.data.resolve()
    disk = PostgresDisk(before.with_name("postgres-disk"))
    postgres.stop(signal.SIGINT)
    was_link = postgres.data.is_symlink()
    disk.mount()
    try:
        subprocess.run(["cp", "-a", before, disk.place / "postgres"], check=True)
        if was_link:
            postgres.data.unlink()
        else:
            shutil.rmtree(before)
        postgres.data.symlink_to(disk.place / "postgres")
        postgres.launch()
        postgres.wait_ready(postgres.ready)
        yield disk
    finally:
        postgres.stop(signal.SIGQUIT)
        disk.unmount()
        postgres.data.unlink()
        if was_link:
            postgres.data.symlink_to(before)


class PostgresDisk:
    def __init__(self, place):
        self.place = place
        self.is_full = False

    def mount(self):
        self.place.mkdir()
        self._mount(f"size={SIZE_BYTES},mode=0755")
        shutil.chown(self.place, "postgres", "postgres")

    def unmount(self):
        subprocess.run(["umount", "--lazy", self.place], check=True)
        self.place.rmdir()

    def fill(self, room):
        """Leave `room` free bytes. Returns False if PostgreSQL wrote more in the meantime."""
        space = os.statvfs(self.place)
        used = (space.f_blocks - space.f_bfree) * space.f_frsize
        self.is_full = self._mount(f"remount,size={used + room}", check=False)
        return self.is_full

    def make_room(self):
        self._mount(f"remount,size={SIZE_BYTES}")
        self.is_full = False

    def _mount(self, options, check=True):
        return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.place],
                              check=check, stderr=subprocess.DEVNULL).returncode == 0
