# SPDX-License-Identifier: Apache-2.0
"""hostile_elf - ELF files that claim a lot, or that are many. An unprivileged user makes them."""
import os
import struct

HEADERS = 16_000_000


def sparse_elf(path, has_many_segments):
    """A file of 1 GB of headers, of which 8 KiB are on disk; each with contents of its own."""
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 64, 4096, 0, 64,
                         56, 0xffff if has_many_segments else 2, 64, 0, 0)
    segments = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 8192, 8192, 4096)
    segments += struct.pack("<IIQQQQQQ", 4, 4, 0, 0, 0, 8192, 8192, 4)
    section = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, HEADERS, 0,
                          HEADERS if has_many_segments else 0, 0, 0)
    with open(path, "wb") as f:
        f.write(header + segments + os.urandom(16))
        f.seek(4096)
        f.write(section)
        f.truncate(4096 + 64 * HEADERS)
    path.chmod(0o644)
    assert path.stat().st_blocks * 512 <= 8192
    return path


def write_small_program(path, number):
    """An ELF file of one page with a build id of its own."""
    def segment(kind, flags, offset, size):
        return struct.pack("<IIQQQQQQ", kind, flags, offset, offset, offset, size, size, 4)

    note = struct.pack("<III4s20s", 4, 20, 3, b"GNU\0", number.to_bytes(20, "little"))
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2,
                         64, 0, 0)
    load = segment(1, 5, 0, 4096)
    path.write_bytes((header + load + segment(4, 4, 176, len(note)) + note).ljust(4096, b"\xc3"))


def long_path(place):
    """A directory whose path is nearly as long as the kernel allows."""
    here = os.open(place, os.O_RDONLY)
    name = "d" * 200
    path = place
    for _ in range(18):
        os.mkdir(name, 0o755, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here, path = deeper, path / name
    os.close(here)
    return path
