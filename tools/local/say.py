# SPDX-License-Identifier: Apache-2.0
"""say - progress for a person: a line per step, and on a terminal what is being waited for."""
import sys
import time

BEGAN = time.monotonic()


class Trouble(Exception):
    """What went wrong, as one sentence for a stranger; main() prints it and exits with 1."""


def _terminal():
    return sys.stdout.isatty()


def step(text):
    """A step that is done, with the seconds since the start."""
    clear = "\r\033[K" if _terminal() else ""
    print(f"{clear}{time.monotonic() - BEGAN:6.1f} s  {text}", flush=True)


def waiting(text):
    """What is being done now; the next line overwrites it. Nothing where lines cannot be."""
    if _terminal():
        print(f"\r\033[K{time.monotonic() - BEGAN:6.1f} s  … {text}"[:200], end="", flush=True)


def line(text=""):
    if _terminal():
        print("\r\033[K", end="")
    print(text, flush=True)
