#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run clang-tidy on every C file that changed since its last clean run.

    tools/tidy.py BUILD    BUILD was configured with clang-14; its compile_commands.json is used

A clean result is cached under a hash of the file, of our headers that it includes, of its compile
command and of .clang-tidy. The first run is slow; later runs take a second.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
KEPT = ROOT / ".run" / "tidy"
FOLDERS = ("lib/", "services/", "tests/")


def sources(build):
    """(file, compile command) of our files, without generated code."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (build / entry["file"]).resolve()
        if path.is_relative_to(ROOT) and not path.is_relative_to(build):
            name = str(path.relative_to(ROOT))
            if name.startswith(FOLDERS):
                yield path, entry["command"]


def headers(build):
    """source -> its headers in the checkout, from ninja's dependency log."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True,
                          check=True).stdout
    found = {}
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if lines:
            paths = [(build / line.strip()).resolve() for line in lines[1:]]
            ours = {p for p in paths if p.is_relative_to(ROOT) and p.exists()}
            for source in (p for p in paths if p.suffix == ".c"):
                found.setdefault(source, set()).update(ours)
    return found


def key(path, command, used):
    digest = hashlib.sha256(command.encode())
    for each in [ROOT / ".clang-tidy", ROOT / "tests" / ".clang-tidy", path, *sorted(used)]:
        digest.update(str(each.relative_to(ROOT)).encode() + b"\0" + each.read_bytes())
    return digest.hexdigest()


def tidy(build, path):
    done = subprocess.run(["clang-tidy-14", "--quiet", "-p", build, path], cwd=ROOT, text=True,
                          capture_output=True, check=False)
    return done.returncode == 0, done.stdout


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    KEPT.mkdir(parents=True, exist_ok=True)
    used = headers(build)
    work = {}
    for path, command in sources(build):
        mark = KEPT / key(path, command, used.get(path, ()))
        if not mark.exists():
            work[path] = mark
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (path, mark), (clean, said) in zip(
                work.items(), pool.map(lambda p: tidy(build, p), work)):
            if clean:
                mark.touch()
            else:
                wrong += 1
                print(said.strip() or f"clang-tidy failed on {path.relative_to(ROOT)}", flush=True)
    print(f"clang-tidy: {len(work)} files checked, {wrong} not clean", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
