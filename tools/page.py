#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build the querier's web page and write it as a C file. Called by services/querier/meson.build.

    tools/page.py page_files.c page_files.d auto|enabled|disabled|built

The page is built into services/querier/web/dist, once for all build directories of a checkout. With
`auto`, if Node is missing or the packages cannot be downloaded, the C file has no pages but a
sentence with the reason, and the next build tries again. `built` uses dist/ as it is, for example
from an earlier stage of a container build.
"""
import gzip
import hashlib
import shutil
import sys
from pathlib import Path

from local import npm, say

ROOT = Path(__file__).resolve().parents[1]
WEB = ROOT / "services" / "querier" / "web"
DIST = WEB / "dist"
INPUTS = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts",
          "src/**/*")
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png"}


def inputs():
    return sorted(f for pattern in INPUTS for f in WEB.glob(pattern) if f.is_file())


def build(files):
    """Build dist/ from these inputs, unless it is up to date."""
    wanted, made_from = npm.digest(files), DIST / ".built-from"
    with npm.locked(WEB):
        if made_from.exists() and made_from.read_text(encoding="ascii") == wanted:
            return
        npm.install(WEB)
        shutil.rmtree(DIST, ignore_errors=True)
        npm.run(WEB, "npm", "run", "build", "--silent")
        made_from.write_text(wanted, encoding="ascii")


def build_or_why_not(files, option):
    """None if the page was built, else a sentence with the reason."""
    if option == "disabled":
        return "this querier was built with -Dpage=disabled."
    if option == "built":
        if not (DIST / "index.html").exists():
            raise say.Trouble(f"-Dpage=built, but there is no page in {DIST}")
        return None
    if not npm.available():
        if option == "enabled":
            raise say.Trouble("the page needs node and npm: run tools/deps.sh")
        return "this querier was built without Node: run tools/deps.sh and build again."
    try:
        build(files)
    except npm.Unreachable as e:
        if option == "enabled":
            raise
        print(f"warning: the page is left out: {e}", file=sys.stderr)
        return "its npm packages could not be fetched: build again with network access."
    return None


def c_bytes(name, content):
    lines = [",".join(map(str, content[i:i + 32])) for i in range(0, len(content), 32)]
    return f"static const unsigned char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def c_table(why_not):
    """The files of dist/ as a C source, each plain and gzipped."""
    arrays, rows = [], []
    files = [] if why_not else sorted(f for f in DIST.rglob("*") if f.suffix in TYPES)
    for number, file in enumerate(files):
        plain = file.read_bytes()
        packed = gzip.compress(plain, 9, mtime=0)
        path = "/" + str(file.relative_to(DIST))
        arrays += [c_bytes(f"plain_{number}", plain), c_bytes(f"gzip_{number}", packed)]
        rows.append(
            f'\t{{ .path = "{path}",\n\t  .content_type = "{TYPES[file.suffix]}",\n'
            f'\t  .etag = "\\"{hashlib.sha256(plain).hexdigest()[:20]}\\"",\n'
            f"\t  .plain = {{ (const char *)plain_{number}, sizeof(plain_{number}) }},\n"
            f"\t  .gzip = {{ (const char *)gzip_{number}, sizeof(gzip_{number}) }} }},\n")
    rows = rows or ["\t{ 0 },\n"]
    return "".join([
        "/* Written by tools/page.py. */\n#include \"querier/api/web_page.h\"\n\n", *arrays,
        "\nstatic const struct web_page_file files[] = {\n", *rows, "};\n\n",
        "const struct web_page web_page_built = { .files = files,\n"
        f"\t.file_count = {len(files)},\n",
        f'\t.why_not = "{why_not or ""}" }};\n'])


def main():
    out, depfile, option = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    files = inputs()
    try:
        why_not = build_or_why_not(files, option)
    except say.Trouble as e:
        print(f"page: {e}", file=sys.stderr)
        return 1
    out.write_text(c_table(why_not), encoding="ascii")
    # A dependency that never exists: ninja runs this with every build until the page is built.
    again = [] if why_not is None or option == "disabled" else [out.parent / "not-yet-the-page"]
    needs = " ".join(str(f).replace(" ", "\\ ") for f in [*files, *again])
    depfile.write_text(f"{out}: {needs}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
