# SPDX-License-Identifier: Apache-2.0
"""stopped_threads - stops single threads of a process, as in a call that does not return."""
import contextlib
import ctypes
import os
import re
import time
from pathlib import Path

from harness import SLOW, wait_until

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17  # of ptrace(2)
WALL = 0x40000000                              # of waitpid(2)
NOTICED_S = 30


def ptrace(request, thread):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(request, thread, None, None) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"ptrace request {request:#x}: {os.strerror(error)}")


@contextlib.contextmanager
def stopped_thread(thread):
    """Only this thread stands still. Others go on."""
    ptrace(SEIZE, thread)
    ptrace(INTERRUPT, thread)
    os.waitpid(thread, WALL)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            ptrace(DETACH, thread)


def thread_ids(pid):
    return {int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()}


def named_thread(pid, name):
    """The first thread of this name; "main": the main thread."""
    if name == "main":
        return pid
    return min(thread for thread in thread_ids(pid)
               if Path(f"/proc/{pid}/task/{thread}/comm").read_text().strip() == name)


def each_is_noticed(service, threads):
    """threads: {a thread: its name in the sentence of /healthy}. All are stopped at once. /healthy
    names one of them, which is then released, until all were named. Returns the seconds until the
    first one was named."""
    assert service.get("/healthy") == (200, b"ok\n")
    with contextlib.ExitStack() as still_stopped:
        stops = {}
        began = time.monotonic()
        for thread, name in threads.items():
            stops[name] = contextlib.ExitStack()
            still_stopped.push(stops[name])
            stops[name].enter_context(stopped_thread(thread))
        took = None
        while stops:
            wait_until(lambda: named(service) in stops, what=f"one of {list(stops)} is named")
            took = took or time.monotonic() - began
            stops.pop(named(service)).close()
    wait_until(lambda: service.get("/healthy") == (200, b"ok\n"), what="healthy again")
    assert took < SLOW * NOTICED_S
    return took


def named(service):
    """The thread that /healthy names."""
    status, body = service.get("/healthy")
    found = re.match(r"the (.+) thread has hung for \d+ s", body.decode())
    assert (status == 503) == bool(found), (status, body)
    return found and found[1]
