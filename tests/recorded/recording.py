# SPDX-License-Identifier: Apache-2.0
"""recording - batches of a real agent, kept in one file: mixed.otlp.xz, which record.py made.

The file is xz of (varint length, ProfilesData) one after the other, in the order they were taken.
"""
import lzma
from pathlib import Path

FILE = Path(__file__).resolve().parent / "mixed.otlp.xz"


def read(path=FILE):
    """The batches, as bytes."""
    data, batches, at = lzma.decompress(Path(path).read_bytes()), [], 0
    while at < len(data):
        length, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        batches.append(data[at:at + length])
        at += length
    return batches


def write(path, batches):
    out = bytearray()
    for batch in batches:
        length = len(batch)
        while length >= 0x80:
            out.append(length & 0x7F | 0x80)
            length >>= 7
        out.append(length)
        out += batch
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 64 << 20}]
    Path(path).write_bytes(lzma.compress(bytes(out), filters=filters))
