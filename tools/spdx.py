#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that every source file has the correct SPDX licence line.

    tools/spdx.py           print the files that do not have it; exit 1
    tools/spdx.py --write   insert the line where it is missing

It is a comment on the first line, or on the second after `#!`. LICENCES has the licence of each
file; the first matching pattern applies.
"""
import argparse
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# pattern of paths -> licence. Headers that BPF programs and other code include have both.
LICENCES = [
    ("bpf/*.bpf.c", "GPL-2.0"),
    ("bpf/kernel.h", "GPL-2.0"),
    ("bpf/process_lookup.h", "GPL-2.0"),
    ("bpf/registers.h", "GPL-2.0"),
    ("bpf/sample_scratch.h", "GPL-2.0"),
    ("bpf/shipped_stack.h", "GPL-2.0"),
    ("bpf/stack_window.h", "GPL-2.0"),
    ("bpf/*.h", "GPL-2.0 OR Apache-2.0"),
    ("lib/unwind/unwind_format.h", "GPL-2.0 OR Apache-2.0"),
    ("*", "Apache-2.0"),
]

# file suffix -> the form of a one-line comment
COMMENTS = {
    ".c": "// {}", ".h": "// {}", ".cpp": "// {}", ".ts": "// {}", ".tsx": "// {}", ".mjs": "// {}",
    ".js": "// {}", ".go": "// {}", ".rs": "// {}", ".java": "// {}", ".proto": "// {}",
    ".py": "# {}", ".sh": "# {}", ".sql": "-- {}", ".css": "/* {} */",
}


DATA = ("tests/fuzz/corpus/", "tests/fuzz/words/")


def licence_of(name):
    return next(licence for pattern, licence in LICENCES if fnmatch(name, pattern))


def comment_of(name):
    """The form of a one-line comment in the file; None: not a source file."""
    return None if name.startswith(DATA) else COMMENTS.get(Path(name).suffix)


def line_of(name):
    return comment_of(name).format(f"SPDX-License-Identifier: {licence_of(name)}")


def place(lines):
    """The index of the licence line: first, but after a `#!` line."""
    return 1 if lines and lines[0].startswith("#!") else 0


def fault(name, text):
    """A sentence if the licence line is missing or wrong, else None."""
    lines = text.split("\n")
    at = place(lines)
    if at < len(lines) and lines[at] == line_of(name):
        return None
    found = re.search(r"SPDX-License-Identifier: (.*?)(?: \*/)?$", text, re.MULTILINE)
    if found:
        return f"{name}: says {found[1]!r}; line {at + 1} must be: {line_of(name)}"
    return f"{name}: line {at + 1} must be: {line_of(name)}"


def written(name, text):
    """The text with the correct licence line, which replaces a wrong one."""
    spdx = r"^[ */#-]*SPDX-License-Identifier:[^\n]*\n"
    lines = re.sub(spdx, "", text, count=1, flags=re.MULTILINE).split("\n")
    at = place(lines)
    return "\n".join(lines[:at] + [line_of(name)] + lines[at:])


def sources():
    """(name, path) of all tracked files that can have a comment."""
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
        print("spdx: `tools/spdx.py --write` fixes this")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
