# SPDX-License-Identifier: Apache-2.0
"""hung_mount - a FUSE file system that shows a directory, and hangs for processes of some names.

    /usr/bin/python3 hung_mount.py SOURCE MOUNTPOINT OPERATION PID

OPERATION is open, read or none. A request of process PID or of a child of it waits until standard
input is closed; requests of others are served, so that programs can run from the directory. Prints
"mounted" when it is, and a line for each request that hangs.
"""
import errno
import os
import sys
import threading

import fusepy as fuse


class HungMount(fuse.Operations):
    def __init__(self, source, operation, pid):
        self.source, self.operation, self.pid = source, operation, pid
        self.released = threading.Event()

    def init(self, path):
        threading.Thread(target=self.wait_for_release, daemon=True).start()
        print("mounted", flush=True)

    def wait_for_release(self):
        sys.stdin.read()
        self.released.set()

    def place(self, path):
        return os.path.join(self.source, path.lstrip("/"))

    def gate(self, operation):
        pid = fuse.fuse_get_context()[2]
        if operation != self.operation or self.released.is_set():
            return
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                parent = int(f.read().rpartition(")")[2].split()[1])
        except OSError:
            return
        if self.pid in (pid, parent):
            print(operation, flush=True)
            self.released.wait()

    def getattr(self, path, fh=None):
        try:
            found = os.lstat(self.place(path))
        except OSError as error:
            raise fuse.FuseOSError(error.errno or errno.EIO) from error
        return {key: getattr(found, key)
                for key in ("st_mode", "st_nlink", "st_size", "st_mtime", "st_uid", "st_gid")}

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self.place(path))]

    def open(self, path, flags):
        self.gate("open")
        return os.open(self.place(path), os.O_RDONLY)

    def read(self, path, size, offset, fh):
        self.gate("read")
        return os.pread(fh, size, offset)

    def release(self, path, fh):
        os.close(fh)


if __name__ == "__main__":
    fuse.FUSE(HungMount(sys.argv[1], sys.argv[3], int(sys.argv[4])), sys.argv[2], foreground=True,
              allow_other=True, ro=True)
