# SPDX-License-Identifier: Apache-2.0
"""held_memory - a FUSE file system that hangs a process that holds the lock of its memory.

    /usr/bin/python3 held_memory.py SOURCE MOUNTPOINT

A file that is opened with O_APPEND has no pages in the kernel's cache, so before such a file is
mapped, pages that were changed through another descriptor are written. That write waits until
standard input is closed. Prints "mounted" when it is, and "write" when a process hangs.
"""
import errno
import os
import sys
import threading

import fusepy as fuse


class HeldMemory(fuse.Operations):
    def __init__(self, source):
        self.source = source
        self.released = threading.Event()

    def init(self, path):
        threading.Thread(target=self.wait_for_release, daemon=True).start()
        print("mounted", flush=True)

    def wait_for_release(self):
        sys.stdin.read()
        self.released.set()

    def place(self, path):
        return os.path.join(self.source, path.lstrip("/"))

    def getattr(self, path, fh=None):
        try:
            found = os.lstat(self.place(path))
        except OSError as error:
            raise fuse.FuseOSError(error.errno or errno.EIO) from error
        return {key: getattr(found, key)
                for key in ("st_mode", "st_nlink", "st_size", "st_mtime", "st_uid", "st_gid")}

    def open(self, path, file):
        file.fh = os.open(self.place(path), os.O_RDWR)
        file.direct_io = int(bool(file.flags & os.O_APPEND))
        return 0

    def read(self, path, size, offset, file):
        return os.pread(file.fh, size, offset)

    def write(self, path, data, offset, file):
        print("write", flush=True)
        self.released.wait()
        return os.pwrite(file.fh, data, offset)

    def release(self, path, file):
        os.close(file.fh)


if __name__ == "__main__":
    fuse.FUSE(HeldMemory(sys.argv[1]), sys.argv[2], foreground=True, raw_fi=True, allow_other=True)
