# SPDX-License-Identifier: Apache-2.0
"""pinned - the counters that an agent pins in the kernel: they outlive it. bpftool reads them."""
import json
import os
import shutil
import struct
import subprocess

BPFTOOL = shutil.which("bpftool", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
SENT, RING_FULL = 0, 2  # slots of the map: enum sampler_count
SHAPE = 15  # the slot after them, enum counts_slot: the version of the slots' meaning


def bpftool(*words):
    done = subprocess.run([BPFTOOL, "-j", *map(str, words)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout.strip() else None


def pin_of(bpffs, state_directory):
    place = state_directory.stat()
    return bpffs / f"decima_agent_{place.st_dev}_{place.st_ino}"


def slots_of(bpffs, state_directory):
    """{slot: number} of the map, summed over the CPUs."""
    slots = {}
    for element in bpftool("map", "dump", "pinned", pin_of(bpffs, state_directory)):
        number, = struct.unpack("<I", bytes(int(b, 16) for b in element["key"]))
        slots[number] = sum(int.from_bytes(bytes(int(b, 16) for b in cpu["value"]), "little")
                            for cpu in element["values"])
    return slots


def counted(bpffs, state_directory):
    """The number of samples that the kernel took, according to the map."""
    slots = slots_of(bpffs, state_directory)
    return slots[SENT] + slots[RING_FULL]
