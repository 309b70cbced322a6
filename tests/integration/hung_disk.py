# SPDX-License-Identifier: Apache-2.0
"""hung_disk - a FUSE file system that passes all to a directory, until its disk hangs.

    /usr/bin/python3 hung_disk.py SOURCE MOUNTPOINT

Prints "mounted" when it is. After a line on standard input all syncs and reads of directories hang,
until standard input is closed.
"""
import errno
import os
import sys
import threading

import fusepy as fuse


class HungDisk(fuse.Operations):
    def __init__(self, source):
        self.source = source
        self.responds = threading.Event()
        self.responds.set()

    def init(self, path):
        threading.Thread(target=self.obey, daemon=True).start()
        print("mounted", flush=True)

    def obey(self):
        if sys.stdin.readline():
            self.responds.clear()
            print("hangs", flush=True)
            sys.stdin.read()
        self.responds.set()

    def __call__(self, operation, path, *arguments):
        try:
            return super().__call__(operation, os.path.join(self.source, path.lstrip("/")),
                                    *arguments)
        except OSError as error:
            raise fuse.FuseOSError(error.errno or errno.EIO) from error

    def getattr(self, path, fh=None):
        found = os.lstat(path)
        return {key: getattr(found, key)
                for key in ("st_mode", "st_nlink", "st_size", "st_mtime", "st_atime", "st_uid")}

    def readdir(self, path, fh):
        self.responds.wait()
        return [".", "..", *os.listdir(path)]

    def open(self, path, flags):
        return os.open(path, flags & ~os.O_CREAT)

    def create(self, path, mode, fi=None):
        return os.open(path, os.O_RDWR | os.O_CREAT, mode)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        os.truncate(path, length)

    def fsync(self, path, datasync, fh):
        self.responds.wait()
        os.fsync(fh)

    def fsyncdir(self, path, datasync, fh):
        self.responds.wait()

    def mkdir(self, path, mode):
        os.mkdir(path, mode)

    def rmdir(self, path):
        os.rmdir(path)

    def unlink(self, path):
        os.unlink(path)

    def rename(self, old, new):
        os.rename(old, os.path.join(self.source, new.lstrip("/")))

    def utimens(self, path, times=None):
        os.utime(path, times)

    def release(self, path, fh):
        os.close(fh)


if __name__ == "__main__":
    fuse.FUSE(HungDisk(sys.argv[1]), sys.argv[2], foreground=True)
