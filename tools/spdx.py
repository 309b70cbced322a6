#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""See that every source file of ours says its licence in one line (SPDX), the right one.

    tools/spdx.py           name those that do not; exit 1
    tools/spdx.py --write   put the line where it is missing

The line is the first, or the second behind `#!`: a comment of its own, in the file's own manner.
LICENCES says which; the first pattern that fits wins.
"""
import argparse
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# pattern of paths -> licence. What BPF programs and other code both include may be taken as either.
LICENCES = [
    ("bpf/*.bpf.c", "GPL-2.0"),
    ("bpf/kernel.h", "GPL-2.0"),
    ("bpf/process_lookup.h", "GPL-2.0"),
    ("bpf/registers.h", "GPL-2.0"),
    ("bpf/sample_scratch.h", "GPL-2.0"),
    ("bpf/shipped_stack.h", "GPL-2.0"),
    ("bpf/stack_window.h", "GPL-2.0"),
    ("bpf/*.h", "GPL-2.0 OR Apache-2.0"),
    ("lib/object/unwind_format.h", "GPL-2.0 OR Apache-2.0"),
    ("*", "Apache-2.0"),
]

# how a file's name ends -> how a comment of one line is written in it
COMMENTS = {
    ".c": "// {}", ".h": "// {}", ".cpp": "// {}", ".ts": "// {}", ".tsx": "// {}", ".mjs": "// {}",
    ".js": "// {}", ".go": "// {}", ".rs": "// {}", ".java": "// {}", ".proto": "// {}",
    ".py": "# {}", ".sh": "# {}", ".sql": "-- {}", ".css": "/* {} */",
}


DATA = ("tests/fuzz/corpus/", "tests/fuzz/words/")


def licence_of(name):
    return next(licence for pattern, licence in LICENCES if fnmatch(name, pattern))


def comment_of(name):
    """How a line of comment is written in it; None: it is no source file."""
    return None if name.startswith(DATA) else COMMENTS.get(Path(name).suffix)


def line_of(name):
    return comment_of(name).format(f"SPDX-License-Identifier: {licence_of(name)}")


def place(lines):
    """Where the line belongs: first, but behind what says how to run the file."""
    return 1 if lines and lines[0].startswith("#!") else 0


def fault(name, text):
    """A sentence on what is wrong with the file's licence, or None."""
    lines = text.split("\n")
    at = place(lines)
    if at < len(lines) and lines[at] == line_of(name):
        return None
    found = re.search(r"SPDX-License-Identifier: (.*?)(?: \*/)?$", text, re.MULTILINE)
    if found:
        return f"{name}: says {found[1]!r}; line {at + 1} must be: {line_of(name)}"
    return f"{name}: line {at + 1} must be: {line_of(name)}"


def written(name, text):
    """The file with its line, in place of one that said something else."""
    spdx = r"^[ */#-]*SPDX-License-Identifier:[^\n]*\n"
    lines = re.sub(spdx, "", text, count=1, flags=re.MULTILINE).split("\n")
    at = place(lines)
    return "\n".join(lines[:at] + [line_of(name)] + lines[at:])


def sources():
    """(name, path) of what git has and a comment can be written in."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split("\n")
    return [(name, ROOT / name) for name in listed
            if name and comment_of(name) and (ROOT / name).is_file()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put the line where it is missing")
    args = parser.parse_args()
    wrong = 0
    for name, path in sources():
        text = path.read_text(encoding="utf-8")
        sentence = fault(name, text)
        if sentence and args.write:
            path.write_text(written(name, text), encoding="utf-8")
        elif sentence:
            print(f"spdx: {sentence}")
            wrong += 1
    if wrong:
        print("spdx: `tools/spdx.py --write` puts it right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
