# SPDX-License-Identifier: Apache-2.0
"""say - progress messages: a line per step, and on a terminal the current operation."""
import sys
import time

BEGAN = time.monotonic()


class Trouble(Exception):
    """A failure, as one sentence for the user; main() prints it and exits with 1."""


def _terminal():
    return sys.stdout.isatty()


def step(text):
    """Print a finished step, with the seconds since the start."""
    clear = "\r\033[K" if _terminal() else ""
    print(f"{clear}{time.monotonic() - BEGAN:6.1f} s  {text}", flush=True)


def waiting(text):
    """Print the current operation; the next line overwrites it. Only on a terminal."""
    if _terminal():
        print(f"\r\033[K{time.monotonic() - BEGAN:6.1f} s  … {text}"[:200], end="", flush=True)


def line(text=""):
    if _terminal():
        print("\r\033[K", end="")
    print(text, flush=True)
