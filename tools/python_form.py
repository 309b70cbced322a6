#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail if a Python file does not compile, is wider than 100 columns, or has an unused import."""
import ast
import re
import sys


def unused_imports(tree, text):
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = (alias.asname or alias.name).partition(".")[0]
                if len(re.findall(rf"\b{re.escape(name)}\b", text)) < 2:
                    yield node.lineno, f"{name} is imported and not used"


def faults(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        tree = ast.parse(text, path)
    except SyntaxError as e:
        return [(e.lineno, e.msg)]
    wide = [(n, "wider than 100 columns") for n, line in enumerate(text.splitlines(), 1)
            if len(line) > 100]
    return wide + list(unused_imports(tree, text))


def main():
    wrong = [f"{path}:{line}: {what}" for path in sys.argv[1:] for line, what in faults(path)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
