# SPDX-License-Identifier: Apache-2.0
"""npm - installs the packages of the lock file, once, and runs npm commands."""
import fcntl
import hashlib
import shutil
import subprocess
from contextlib import contextmanager

from . import say


class Unreachable(say.Trouble):
    """Packages cannot be downloaded at the moment."""


def available():
    return shutil.which("node") is not None and shutil.which("npm") is not None


@contextmanager
def locked(directory):
    """Hold a lock on the directory, so that only one build uses it."""
    with open(directory / "package.json", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(directory):
    """Run `npm ci`, unless the installed packages came from this lock file."""
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
    """Run a command in the directory; its output is shown only if it fails."""
    done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-40:])
        raise say.Trouble(f"`{' '.join(command)}` in {directory.name}/ failed:\n{tail}")
    return done.stdout


def digest(files):
    """A hash of the names and contents of all files."""
    total = hashlib.sha256()
    for file in sorted(files):
        content = file.read_bytes()
        total.update(f"{file.name} {len(content)}\n".encode() + content)
    return total.hexdigest()
