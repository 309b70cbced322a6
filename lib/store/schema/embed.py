#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turn the numbered SQL files given into a C table: embed.py OUT.c NNNN_NAME.sql..."""
import pathlib
import re
import sys

out, *files = sys.argv[1:]
rows = []
for number, file in enumerate(sorted(files), start=1):
    name = pathlib.Path(file).stem
    if not re.fullmatch(rf"{number:04}_[a-z_]+", name):
        sys.exit(f"{file}: expected {number:04}_name.sql")
    lines = [
        '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'
        for line in pathlib.Path(file).read_text().splitlines()
    ]
    rows.append('\t{ %d, "%s",\n\t  %s },\n' % (number, name, "\n\t  ".join(lines)))
pathlib.Path(out).write_text(
    '#include "store/maintenance/schema.h"\n\nconst struct schema_step schema_steps[] = {\n'
    + "".join(rows)
    + "};\nconst size_t schema_step_count = %d;\n" % len(rows)
)
