# SPDX-License-Identifier: Apache-2.0
"""sanitized - builds and runs the C tests under ASan and UBSan, and counts the lines they reach.

One build serves both: a second one without sanitizers took as long as half of the first. Without
optimization, because counts of lines are exact only then; it also compiles twice as fast.
"""
import json
import os
import subprocess

from local import say
from local.building import HANGS, build, configure
from local.servers import ROOT

WHERE = ROOT / "build-asan"
OPTIONS = ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Db_coverage=true",
           "-Doptimization=0", "-Dpage=disabled"]
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


def introspect(what):
    configure(WHERE, *OPTIONS)
    done = subprocess.run(["meson", "introspect", WHERE, what], cwd=ROOT, check=False, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise say.Trouble(f"meson introspect failed:\n{done.stdout[-4000:]}")
    return json.loads(done.stdout)


def prepare(targets):
    build(WHERE, *OPTIONS, targets=targets)


def run(names):
    """Run tests of meson by name; returns a dict for each, as in meson's testlog.json."""
    log = WHERE / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    done = subprocess.run(["meson", "test", "-C", WHERE, "--no-rebuild", *HANGS, *names], cwd=ROOT,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, env=os.environ | SANITIZERS, check=False)
    if not log.exists():
        raise say.Trouble(f"meson test failed:\n{done.stdout[-4000:]}")
    return [json.loads(line) for line in log.read_text().splitlines()]
