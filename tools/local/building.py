"""building - meson and ninja, quiet while all is well."""
import subprocess
import sys

from . import say
from .servers import ROOT


def build(directory, *options):
    """Configure once, then build; on a terminal ninja shows where it is, else only failures."""
    say.waiting(f"building {directory.name}/")
    if not (directory / "build.ninja").exists():
        again = ["--wipe"] if (directory / "meson-private").exists() else []  # was interrupted
        _run(["meson", "setup", *again, *options, str(directory), str(ROOT)], shown=False)
    _run(["ninja", "-C", str(directory)], shown=sys.stdout.isatty())
    say.step(f"built {directory.name}/")


def _run(command, shown):
    try:
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False, text=True,
                              stdout=None if shown else subprocess.PIPE, errors="replace",
                              stderr=subprocess.STDOUT)
    except FileNotFoundError:
        raise say.Trouble(f"there is no {command[0]}: run tools/deps.sh") from None
    if done.returncode != 0:
        tail = "\n".join((done.stdout or "").splitlines()[-60:])
        raise say.Trouble(f"the build failed: {' '.join(command)}\n{tail}")
