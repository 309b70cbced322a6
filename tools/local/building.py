# SPDX-License-Identifier: Apache-2.0
"""building - runs meson and ninja, without output unless they fail."""
import os
import subprocess
import sys

from . import say
from .servers import ROOT

# For `meson test`: its limits of time detect a hang, also on a machine that is busy otherwise.
HANGS = ["--timeout-multiplier", "10"]


def configure(directory, *options, compiler=None):
    """Configure once; start again if an earlier configuration was interrupted."""
    if not (directory / "build.ninja").exists():
        again = ["--wipe"] if (directory / "meson-private").exists() else []  # was interrupted
        _run(["meson", "setup", *again, *options, str(directory), str(ROOT)], shown=False,
             environment={"CC": compiler} if compiler else {})
    else:  # so that `meson introspect` reports the current targets
        _run(["ninja", "-C", str(directory), "build.ninja"], shown=False)


def build(directory, *options, targets=()):
    """Configure once, then build. On a terminal show ninja's progress, else only failures."""
    say.waiting(f"building {directory.name}/")
    configure(directory, *options)
    _run(["ninja", "-C", str(directory), *targets], shown=sys.stdout.isatty())
    say.step(f"built {directory.name}/")


def _run(command, shown, environment=None):
    try:
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False, text=True,
                              stdout=None if shown else subprocess.PIPE, errors="replace",
                              stderr=subprocess.STDOUT, env=os.environ | (environment or {}))
    except FileNotFoundError:
        raise say.Trouble(f"there is no {command[0]}: run tools/deps.sh") from None
    if done.returncode != 0:
        tail = "\n".join((done.stdout or "").splitlines()[-60:])
        raise say.Trouble(f"the build failed: {' '.join(command[:4])}\n{tail}")
