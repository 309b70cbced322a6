# SPDX-License-Identifier: Apache-2.0
"""npm - installs the packages of a lock file and runs Node tools."""
import fcntl
import hashlib
import shutil
import subprocess
from contextlib import contextmanager

from . import say


class Unreachable(say.Trouble):
    """The packages cannot be fetched at the moment. This is not an error of our sources."""


def available():
    return shutil.which("node") is not None and shutil.which("npm") is not None


@contextmanager
def locked(directory):
    """An exclusive lock on a directory: one build at a time."""
    with open(directory / "package.json", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(directory):
    """`npm ci`, unless node_modules was installed from the same lock file."""
    wanted = digest([directory / "package-lock.json"])
    done = directory / "node_modules" / ".installed-from"
    if done.exists() and done.read_text(encoding="ascii") == wanted:
        return
    try:
        run(directory, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
    except say.Trouble as e:
        raise Unreachable(str(e)) from None
    done.write_text(wanted, encoding="ascii")


def run(directory, *command):
    """Run a command in the directory and return its output. On failure, raise with its last lines."""
    done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-40:])
        raise say.Trouble(f"`{' '.join(command)}` in {directory.name}/ failed:\n{tail}")
    return done.stdout


def digest(files):
    """One SHA-256 over the names and contents of the files."""
    total = hashlib.sha256()
    for file in sorted(files):
        content = file.read_bytes()
        total.update(f"{file.name} {len(content)}\n".encode() + content)
    return total.hexdigest()
