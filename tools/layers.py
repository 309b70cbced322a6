#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail if an #include violates the layering. The tables below define the architecture.

    tools/layers.py [BUILD]    with a build directory: also check what the executables link

The path of our own include starts at lib/ ("base/str.h") or at the top ("bpf/sample.h"); or it is a
generated protobuf header ("profiles.pb-c.h") or a file of the same folder ("spool.h").
"""
import pathlib
import re
import subprocess
import sys

# layer -> the layers that it may use in addition to itself. Layers that are not listed are errors.
MAY_USE = {
    "bpf": (),
    "lib/base": (),
    "lib/object": ("base",),
    "lib/profile": ("object", "base", "proto"),
    "lib/client": ("base",),
    "lib/chassis": ("base",),
    "lib/store": ("profile", "client", "base"),
    "services/agent": ("bpf", "base", "object", "profile", "client", "chassis"),
    "services/ingester": ("base", "profile", "client", "chassis", "store"),
    "services/querier": ("base", "profile", "client", "chassis", "store"),
    "services/debuginfo": ("base", "object", "client", "chassis"),
    "services/symbolizer": ("base", "object", "profile", "client", "chassis"),
}

# third-party library -> the files that wrap it, so that only these change if it is replaced.
WRAPPED_BY = {
    "microhttpd.h": ("lib/chassis/http",),
    "librdkafka/": ("lib/client/kafka_",),
    "libpq-fe.h": ("lib/client/postgres",),
    "hiredis/": ("lib/client/redis",),
    "jansson.h": ("lib/chassis/json",),
    "curl/": ("lib/client/fetch",),
    "pcre2.h": ("lib/profile/matcher",),
    "xxhash.h": ("lib/base/hash", "lib/base/map"),
    "libelf.h": ("lib/object/",),
    "gelf.h": ("lib/object/",),
    "elfutils/": ("lib/object/", "lib/client/debuginfod"),
    "lzma.h": ("lib/object/mini_debug",),
    "libiberty/": ("lib/object/demangle",),
    "bpf/": ("bpf/", "services/agent/"),
}

# executable -> libraries that it must not link
MUST_NOT_LINK = {
    "agent": ("libpq", "libjansson", "libcurl"),
    "ingester": ("libbpf", "libdw", "libelf"),
    "querier": ("libbpf", "librdkafka", "libdw", "libelf"),
    "debuginfo": ("libbpf", "librdkafka", "libpq", "libdw"),
    "symbolizer": ("libbpf", "librdkafka", "libpq"),
}

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIBRARIES = {layer.removeprefix("lib/"): layer for layer in MAY_USE if layer.startswith("lib/")}


# Single headers that a layer may use although it may not use their layer.
EXCEPT = {("bpf", "object/unwind_format.h")}


def layer_of(path):
    return "/".join(path.parts[:1] if path.parts[0] == "bpf" else path.parts[:2])


def wrong_use(path, include):
    """A sentence if the include in quotes is not allowed, else None."""
    layer = layer_of(path)
    if layer not in MAY_USE:
        return f"{layer} is not in the table of layers: add it to tools/layers.py"
    head = include.partition("/")[0] if "/" in include else None
    if include.endswith(".pb-c.h"):
        head = "proto"
    if head is None or LIBRARIES.get(head, head) == layer or include.endswith(".skel.h"):
        return None
    if head in MAY_USE[layer] or (layer, include) in EXCEPT:
        return None
    return f"{layer} may not use {LIBRARIES.get(head, head)} ({include})"


def wrong_library(path, include):
    for library, wrappers in WRAPPED_BY.items():
        if include.startswith(library) and not str(path).startswith(wrappers):
            return f"<{include}> may be included only by {' or '.join(wrappers)}*"
    return None


def check_sources():
    wrong = []
    for top in ("bpf", "lib", "services"):
        for path in sorted((ROOT / top).rglob("*.[ch]")):
            name = path.relative_to(ROOT)
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = re.match(r'#\s*include\s*(["<])([^">]+)[">]', line)
                if not match:
                    continue
                check = wrong_use if match[1] == '"' else wrong_library
                sentence = check(name, match[2])
                if sentence:
                    wrong.append(f"{name}:{number}: {sentence}")
    return wrong


def check_executables(build):
    wrong = []
    for service, libraries in MUST_NOT_LINK.items():
        program = build / "services" / service / f"decima-{service}"
        if not program.exists():
            continue
        dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True,
                                 check=True).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        wrong += [f"{program.name} must not link {n}" for n in needed
                  if n.startswith(libraries)]
    return wrong


def main():
    wrong = check_sources()
    if len(sys.argv) > 1:
        wrong += check_executables(pathlib.Path(sys.argv[1]))
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
