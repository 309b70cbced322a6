# SPDX-License-Identifier: Apache-2.0
"""guest - a kernel in QEMU, emulated (no KVM is asked for), with the agent in its initramfs.

    guest.run("6.1-cloud", {"decima/burn": path, ...}, "init.sh", out)

makes an initramfs of busybox, the files and the shared libraries that they need, boots the kernel
of that name in build/kernels with it, and unpacks into `out` what the guest sent as a tar through
its second serial line. The first one is the console: out/console.log. A test whose kernel is not
there is skipped.
"""
import gzip
import io
import os
import re
import shutil
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", ROOT / "build"))
DEADLINE = 300  # seconds; emulated, on a machine with other work: it takes 20
MEMORY_MB = 1024
CPUS = 2


class Failed(AssertionError):
    """With the end of what the guest said."""


def libraries(program):
    """Paths of the shared libraries of a program, with its loader; none if it is static."""
    result = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return re.findall(r"(?:=> |^\s*)(/\S+) \(0x", result.stdout, re.MULTILINE)


def cpio_entry(name, mode, data, number):
    """One file of an archive in the "newc" format; described in initramfs.rst of the kernel."""
    fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08x" % f for f in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def initramfs(files, init):
    """A gzip'd cpio of {path in the guest: path here} and all that these need."""
    files = {"bin/busybox": shutil.which("busybox")} | files
    for here in list(files.values()):
        files |= {library.lstrip("/"): library for library in libraries(here)}
    made, entries = set(), []

    def add(name, mode, data):
        entries.append(cpio_entry(name, mode, data, len(entries) + 1))

    def add_directory(name):
        if name and name not in made:
            add_directory(name.rpartition("/")[0])
            made.add(name)
            add(name, stat.S_IFDIR | 0o755, b"")

    for name in ("proc", "sys", "dev", "tmp"):
        add_directory(name)
    for name, here in files.items():
        add_directory(name.rpartition("/")[0])
        with open(here, "rb") as f:
            add(name, stat.S_IFREG | 0o755, f.read())
    with open(init, "rb") as f:
        add("init", stat.S_IFREG | 0o755, f.read())
    entries.append(cpio_entry("TRAILER!!!", 0, b"", 0))
    return gzip.compress(b"".join(entries), 1)


def run(kernel, files, init, out, append=""):
    """Boot, wait until the guest switches itself off, unpack what it sent."""
    image = BUILD / "kernels" / kernel
    if not image.exists():
        pytest.skip(f"kernel {kernel} could not be had")
    archive, console = out / "sent.tar", out / "console.log"
    (out / "initramfs.gz").write_bytes(initramfs(files, ROOT / "tests" / "kernel" / init))
    command = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", str(CPUS),
               "-m", str(MEMORY_MB), "-kernel", image, "-initrd", out / "initramfs.gz",
               "-append", f"console=ttyS0 panic=-1 quiet {append}", "-no-reboot", "-nic", "none",
               "-display", "none", "-monitor", "none",
               "-serial", f"file:{console}", "-serial", f"file:{archive}"]
    try:
        done = subprocess.run([str(a) for a in command], stdin=subprocess.DEVNULL, check=False,
                              capture_output=True, text=True, timeout=DEADLINE)
    except subprocess.TimeoutExpired as e:
        raise Failed(f"not done within {DEADLINE} s:\n{last_words(console)}") from e
    if done.returncode or not archive.exists() or not archive.stat().st_size:
        raise Failed(f"QEMU: {done.returncode} {done.stderr}\n{last_words(console)}")
    with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as sent:
        sent.extractall(out)


def last_words(console):
    """The end of the console's text, without what firmware draws with."""
    text = console.read_text(errors="replace") if console.exists() else ""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1bc", "", text)[-3000:]
