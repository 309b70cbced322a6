# SPDX-License-Identifier: Apache-2.0
"""hostile_programs - maps ELF files of millions of headers, and runs programs of a forged build id.

    /usr/bin/python3 hostile_programs.py DIRECTORY FORGED

In a loop until it is killed: SPARSE new files are mapped, executable, while a new copy of FORGED
uses a little CPU time. Each file is another inode with other contents. Prints "ready" after the
first turn.
"""
import itertools
import mmap
import shutil
import subprocess
import sys
import time
from pathlib import Path

from hostile_elf import sparse_elf

SPARSE = 8
FORGED_SECONDS = 0.1
PAUSE = 0.2


def map_sparse(path, has_many_segments):
    with open(sparse_elf(path, has_many_segments), "rb") as f:
        return mmap.mmap(f.fileno(), 8192, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)


def run_copy(program, copy):
    shutil.copy(program, copy)
    with open(copy, "ab") as f:
        f.write(copy.name.encode())
    subprocess.run([copy, str(FORGED_SECONDS)], check=True)
    copy.unlink()


def main(directory, forged):
    mapped = []
    for turn in itertools.count():
        mapped = mapped[-SPARSE:] + [map_sparse(directory / f"sparse{turn}.{i}", bool(i % 2))
                                     for i in range(SPARSE)]
        run_copy(forged, directory / f"forged{turn}")
        for i in range(SPARSE):
            (directory / f"sparse{turn}.{i}").unlink()
        if not turn:
            print("ready", flush=True)
        time.sleep(PAUSE)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
