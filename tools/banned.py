#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail if a C file calls a banned function. The table names the replacement."""
import pathlib
import re
import subprocess
import sys

INSTEAD = {
    "strcpy": "a str, or str_z()", "strcat": "a buf", "sprintf": "str_format() or snprintf()",
    "vsprintf": "vsnprintf()", "strtok": "str_cut()", "gets": "fgets()",
    "atoi": "str_to_i64()", "atol": "str_to_i64()", "strtol": "str_to_i64()",
    "strtoul": "str_to_u64()", "strtoll": "str_to_i64()", "strtoull": "str_to_u64()",
    "strtod": "a parser of the format", "rand": "getrandom()", "alloca": "an arena",
}
CALL = re.compile(rf"(?<![\w.>])({'|'.join(INSTEAD)})\s*\(")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
ROOT = pathlib.Path(__file__).resolve().parents[1]


def blank(match):
    """The same number of lines, blank, so that line numbers stay correct."""
    return "\n" * match[0].count("\n")


def main():
    files = subprocess.run(["git", "ls-files", "*.c", "*.h"], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.split()
    wrong = 0
    for name in files:
        path = ROOT / name
        if not path.exists():
            continue
        code = COMMENT_OR_TEXT.sub(blank, path.read_text())
        for number, line in enumerate(code.splitlines(), 1):
            for match in CALL.finditer(line):
                print(f"{name}:{number}: {match[1]}() is banned; use {INSTEAD[match[1]]}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
