# SPDX-License-Identifier: Apache-2.0
"""process - one process of a fleet, identified by its pid file.

Pids are reused. The pid file therefore holds the pid, the start time of the process and the boot
id, and a signal is sent through a pidfd that was opened before the start time was compared. So only
processes that were started here are ever signalled.
"""
import contextlib
import ctypes
import os
import pwd
import select
import signal
import subprocess
import time
from pathlib import Path

from .say import Trouble

PR_SET_PDEATHSIG = 1
LIMIT_S = 180  # a wait that takes longer is a hang, on a machine with 40 busy processes as well


def _stat(pid):
    """(state, start time in ticks) of a pid, or None."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return fields[0], int(fields[19])


def _boot_id():
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def clean_environment():
    """The environment without DECIMA_* and PG*, which would override our flags."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DECIMA_", "PG"))}
    return kept | {"LC_ALL": "C.UTF-8"}


def before_exec(tied_signal):
    """A function for the child: the kernel sends it the signal when this process ends."""
    parent = os.getpid()
    libc = ctypes.CDLL(None, use_errno=True)

    def tie():
        libc.prctl(PR_SET_PDEATHSIG, int(tied_signal), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return tie


def as_user(name):
    """Popen's arguments to run as this user with its groups; empty if no change is needed."""
    if name is None or os.geteuid() != 0:
        return {}
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise Trouble(f"there is no user {name!r} on this machine: run tools/deps.sh") from None
    return {
        "user": entry.pw_uid,
        "group": entry.pw_gid,
        "extra_groups": os.getgrouplist(name, entry.pw_gid),
    }


def kill_those_in(directory):
    """Kill all processes whose working directory is below this one.

    A stopped child of a server that died does not notice that, and would stay.
    """
    place = Path(directory).resolve()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            pidfd = os.pidfd_open(int(entry.name))
            try:
                if (entry / "cwd").resolve().is_relative_to(place):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                    select.select([pidfd], [], [], 10)
            finally:
                os.close(pidfd)


class Process:
    def __init__(self, run_dir, name, title=None):
        self.name = name
        self.title = title or name
        self.pid_file = Path(run_dir) / "pid" / name
        self.log_file = Path(run_dir) / "log" / f"{name}.log"
        self.popen = None  # only in the run that started it

    def start(self, argv, *, environment=None, user=None, cwd="/", tied_signal=None):
        """Start it. With tied_signal it gets this signal when we end; otherwise it outlives us.

        The kernel ties a child to the thread that started it: call this from the main thread.
        """
        self.pid_file.parent.mkdir(parents=True, exist_ok=True)
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        if self.log_file.exists():
            self.log_file.replace(self.log_file.with_suffix(".log.1"))
        before = before_exec(tied_signal) if tied_signal else None
        with open(self.log_file, "wb") as log:
            try:
                self.popen = subprocess.Popen(
                    [str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    cwd=cwd, env=clean_environment() | (environment or {}),
                    start_new_session=True, preexec_fn=before, **as_user(user))
            except OSError as e:
                raise Trouble(f"cannot start {self.title}: {argv[0]}: {e.strerror}") from None
        stat = _stat(self.popen.pid)
        self.pid_file.write_text(f"{self.popen.pid} {stat[1] if stat else 0} {_boot_id()}\n")

    def pid(self):
        """The pid while the process that was started runs, else None."""
        if self.popen:
            self.popen.poll()  # reaps a dead child
        try:
            pid, start, boot = self.pid_file.read_text().split()
        except (OSError, ValueError):
            return None
        stat = _stat(int(pid))
        if not stat or stat[0] in "ZX" or stat[1] != int(start) or boot != _boot_id():
            return None
        return int(pid)

    def alive(self):
        return self.pid() is not None

    def send(self, number):
        """Send a signal if it still runs; returns its pidfd, or None."""
        pid = self.pid()
        if pid is None:
            return None
        try:
            pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            return None
        if self.pid() != pid:  # it ended before the pidfd was opened
            os.close(pidfd)
            return None
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, number)
        return pidfd

    def stop(self, number=signal.SIGTERM, timeout=60):
        """Send a signal, wait, then kill. True if it ended without the kill, or did not run."""
        gone = self._end(number, timeout)
        if not gone:
            self._end(signal.SIGKILL, LIMIT_S)
        self.pid_file.unlink(missing_ok=True)
        return gone

    def kill(self):
        """kill -9, like a crash."""
        self._end(signal.SIGKILL, LIMIT_S)

    def _end(self, number, timeout):
        pidfd = self.send(number)
        if pidfd is None:
            return True
        try:
            poll = select.poll()
            poll.register(pidfd, select.POLLIN)
            gone = bool(poll.poll(timeout * 1000))
        finally:
            os.close(pidfd)
        if self.popen:
            self.popen.poll()
        return gone

    def exit_code(self):
        """Its exit status; None while it runs, or if another run started it."""
        return self.popen.poll() if self.popen else None

    def last_words(self, lines=12):
        """The last lines of its log, indented."""
        try:
            text = self.log_file.read_text(errors="replace").splitlines()[-lines:]
        except OSError:
            text = []
        return "\n".join(f"    {t}" for t in text)

    def wait_ready(self, ready, meanwhile=lambda: None):
        """Wait until ready() is true; if it ends or hangs, Trouble with the end of its log."""
        deadline = time.monotonic() + LIMIT_S
        while not ready():
            if not self.alive():
                raise Trouble(f"{self.title} ended while it started; {self.log_file} ends with\n"
                              f"{self.last_words()}")
            if time.monotonic() > deadline:
                raise Trouble(f"{self.title} was not ready within {LIMIT_S} s; "
                              f"{self.log_file} ends with\n{self.last_words()}")
            meanwhile()
            time.sleep(0.05)
