#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail when an #include crosses a layer the wrong way. The tables below are the architecture.

    tools/layers.py [BUILD]    with a build directory: also what the executables link

Our headers are included by their path from lib/ ("base/str.h"), from services/
("agent/spool/spool.h") or from the top ("bpf/sample.h"); generated protobuf headers by their name
("profiles.pb-c.h"). Only bpf/ includes its neighbours by name alone.

A header whose name ends in _internal.h may be included by its own folder alone.
"""
import pathlib
import re
import subprocess
import sys

# layer -> the layers that it may use beside itself; a layer that is missing there may not be used.
# A layer is a folder, or one module of a folder ("lib/server/daemon", "services/agent/main").
# A row may name only layers of rows above it: so the arrows go one way, and there are no cycles.
MAY_USE = {
    "lib/base": "",
    "lib/elf": "lib/base",
    "lib/dwarf": "lib/base lib/elf",
    "lib/symbols": "lib/base lib/elf lib/dwarf",
    "lib/unwind": "lib/base lib/elf lib/dwarf lib/symbols",
    "bpf": "lib/unwind",
    "lib/profile": "lib/base",
    "lib/wire": "proto lib/base lib/profile",
    "lib/client": "lib/base",
    "lib/server": "lib/base",
    "lib/server/metrics": "lib/base lib/server",
    "lib/server/config": "lib/base lib/server/metrics",
    "lib/server/http": "lib/base lib/server lib/server/metrics",
    "lib/server/json": "lib/base lib/server/http",
    "lib/server/daemon":
        "lib/base lib/server lib/server/metrics lib/server/config lib/server/http",
    "lib/sandbox": "lib/base lib/server/metrics",
    "lib/store": "lib/base",
    "lib/store/chunk": "lib/base lib/profile lib/store",
    "lib/store/maintenance": "lib/base lib/client lib/store",
    "lib/store/write":
        "lib/base lib/profile lib/client lib/store lib/store/chunk lib/store/maintenance",
    "lib/store/compact":
        "lib/base lib/profile lib/client lib/store lib/store/chunk lib/store/maintenance "
        "lib/store/write",
    "lib/store/scan":
        "lib/base lib/profile lib/client lib/store lib/store/chunk lib/store/maintenance "
        "lib/store/compact",
    "lib/store/series": "lib/base lib/profile lib/client lib/store lib/store/scan",
    "lib/store/read":
        "lib/base lib/profile lib/store lib/store/chunk lib/store/compact lib/store/scan "
        "lib/store/series",
    "lib/store/fleet": "lib/base lib/wire lib/store lib/store/write lib/store/scan",
    "lib/store/share": "lib/store lib/store/scan",
    "services/agent": "lib/base",
    "services/agent/process": "lib/base lib/elf bpf services/agent",
    "services/agent/files":
        "lib/base lib/elf lib/server/metrics lib/sandbox services/agent services/agent/process",
    "services/agent/labels": "lib/base lib/profile lib/server/metrics services/agent",
    "services/agent/kernel":
        "lib/base lib/sandbox lib/server/daemon services/agent services/agent/process",
    "services/agent/unwind":
        "lib/base lib/elf lib/unwind bpf lib/server/metrics lib/sandbox services/agent "
        "services/agent/process",
    "services/agent/capture":
        "lib/base bpf lib/profile lib/server/metrics lib/server/daemon services/agent "
        "services/agent/process services/agent/labels services/agent/kernel services/agent/unwind",
    "services/agent/spool":
        "lib/base lib/profile lib/wire lib/client lib/server/metrics services/agent "
        "services/agent/capture",
    "services/agent/upload":
        "lib/base lib/elf lib/client lib/server/metrics lib/sandbox services/agent "
        "services/agent/process services/agent/spool",
    "services/agent/main":
        "lib/base lib/server/metrics lib/server/daemon lib/sandbox services/agent "
        "services/agent/files services/agent/labels services/agent/kernel services/agent/capture "
        "services/agent/spool services/agent/upload",
    "services/ingester": "lib/base lib/wire lib/client lib/server/metrics lib/store",
    "services/ingester/maintain":
        "lib/base lib/server/daemon lib/store/maintenance lib/store/compact lib/store/fleet "
        "services/ingester",
    "services/ingester/consume":
        "lib/base lib/profile lib/wire lib/client lib/server/daemon lib/store/write "
        "services/ingester",
    "services/ingester/main":
        "lib/base lib/server/daemon services/ingester services/ingester/maintain "
        "services/ingester/consume",
    "services/debuginfo":
        "lib/base lib/elf lib/client lib/server/metrics lib/server/http lib/server/json "
        "lib/server/daemon",
    "services/symbolizer": "lib/base",
    "services/symbolizer/tables":
        "lib/base lib/elf lib/symbols lib/wire lib/server/metrics services/symbolizer",
    "services/symbolizer/shared_cache":
        "lib/base lib/elf lib/client lib/server/metrics services/symbolizer "
        "services/symbolizer/tables",
    "services/symbolizer/build":
        "lib/base lib/elf lib/symbols lib/wire lib/client lib/server/metrics lib/server/json "
        "lib/sandbox services/symbolizer services/symbolizer/tables",
    "services/symbolizer/api":
        "lib/base lib/server/metrics lib/server/config lib/server/http lib/server/json "
        "services/symbolizer services/symbolizer/tables services/symbolizer/shared_cache "
        "services/symbolizer/build",
    "services/symbolizer/main":
        "lib/base lib/client lib/sandbox lib/server/json lib/server/metrics lib/server/daemon "
        "services/symbolizer services/symbolizer/tables services/symbolizer/shared_cache "
        "services/symbolizer/build services/symbolizer/api",
    "services/querier": "lib/base",
    "services/querier/pool":
        "lib/base lib/server/metrics lib/store lib/store/scan services/querier",
    "services/querier/merge": "lib/base lib/profile services/querier",
    "services/querier/symbolize":
        "lib/base lib/wire lib/client lib/server/metrics lib/store services/querier "
        "services/querier/merge",
    "services/querier/report":
        "lib/base lib/profile lib/wire lib/server/metrics lib/server/http lib/server/json "
        "lib/store/chunk lib/store/scan services/querier services/querier/merge "
        "services/querier/symbolize",
    "services/querier/api":
        "lib/base lib/profile lib/server/metrics lib/server/config lib/server/http "
        "lib/server/json lib/store lib/store/read lib/store/fleet lib/store/share "
        "services/querier services/querier/pool services/querier/merge services/querier/symbolize "
        "services/querier/report",
    "services/querier/main":
        "lib/base lib/server/metrics lib/server/daemon lib/store services/querier/symbolize "
        "services/querier/report services/querier/api",
}

# The arrows that run against the rows: (file, include) -> the reason.
EXCEPT = {
    ("services/agent/process/process.c", "agent/unwind/unwind_lists.h"):
        "the process table reports changed mappings and ended processes as they happen",
    ("services/agent/process/process_read.c", "agent/unwind/unwind_lists.h"):
        "the same, for mappings that were read from /proc",
}

# another's library -> the files that wrap it. Replacing it must stay one file's work.
WRAPPED_BY = {
    "microhttpd.h": ("lib/server/http/",),
    "librdkafka/": ("lib/client/kafka_",),
    "libpq-fe.h": ("lib/client/postgres",),
    "hiredis/": ("lib/client/redis",),
    "jansson.h": ("lib/server/json/", "services/agent/labels/docker_object"),
    "curl/": ("lib/client/fetch", "lib/client/redis_address"),
    "pcre2.h": ("lib/profile/matcher",),
    "xxhash.h": ("lib/base/hash",),
    "libelf.h": (),
    "gelf.h": (),
    "elfutils/": ("lib/client/debuginfod",),
    "lzma.h": ("lib/elf/mini_debug",),
    "libiberty/": ("lib/symbols/demangle",),
    "bpf/": ("bpf/", "services/agent/"),
    "seccomp.h": ("lib/sandbox/sandbox_filter",),
}

# executable -> libraries that it must not need
MUST_NOT_LINK = {
    "agent": ("libpq", "libcurl"),
    "ingester": ("libbpf", "libdw", "libelf"),
    "querier": ("libbpf", "librdkafka", "libdw", "libelf"),
    "debuginfo": ("libbpf", "librdkafka", "libpq", "libdw", "libelf"),
    "symbolizer": ("libbpf", "librdkafka", "libpq"),
}

ROOT = pathlib.Path(__file__).resolve().parents[1]


def layer_of(path):
    """The layer that a source file belongs to, or its folder if no row names it."""
    module = str(path.with_suffix("")) if path.suffix in (".c", ".h") else str(path)
    if module in MAY_USE:
        return module
    return str(path.parent)


def path_of(include):
    """The path of an included header in the tree; None for a generated one or a neighbour."""
    if include.endswith(".skel.h") or "/" not in include:
        return None
    head = include.partition("/")[0]
    if head == "bpf":
        return pathlib.Path(include)
    top = "services" if f"services/{head}" in SERVICES else "lib"
    return pathlib.Path(top, include)


def wrong_use(path, include):
    """A sentence about an include in quotes that the tables do not allow, or None."""
    layer = layer_of(path)
    if layer not in MAY_USE:
        return f"{layer} is not in the table of layers in tools/layers.py: add a row"
    if include.endswith(".pb-c.h"):
        allowed = "proto" in MAY_USE[layer].split()
        return None if allowed else f"{layer} may not use proto ({include})"
    target = path_of(include)
    if target is None:
        if layer == "bpf" or include.endswith(".skel.h"):
            return None
        return f"include {include} by its path from lib/ or services/"
    used = layer_of(target)
    if include.endswith("_internal.h") and target.parent != path.parent:
        return f"{include} is internal to {target.parent}"
    if used == layer or used in MAY_USE[layer].split() or (str(path), include) in EXCEPT:
        return None
    return f"{layer} may not use {used} ({include})"


def wrong_library(path, include):
    for library, wrappers in WRAPPED_BY.items():
        if include.startswith(library) and not str(path).startswith(wrappers):
            return f"<{include}> belongs to {' or '.join(wrappers)}* alone"
    return None


def check_rows():
    """The table itself: a row names rows above it alone."""
    above, wrong = {"proto"}, []
    for layer, used in MAY_USE.items():
        wrong += [f"tools/layers.py: the row of {layer} names {name}, which is not above it"
                  for name in used.split() if name not in above]
        above.add(layer)
    return wrong


def check_sources():
    wrong = []
    for top in ("bpf", "lib", "services"):
        for path in sorted((ROOT / top).rglob("*.[ch]")):
            name = path.relative_to(ROOT)
            if "node_modules" in name.parts:
                continue
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
        wrong += [f"{program.name} links {n}, which it must not need" for n in needed
                  if n.startswith(libraries)]
    return wrong


SERVICES = {"/".join(layer.split("/")[:2]) for layer in MAY_USE if layer.startswith("services/")}


def main():
    wrong = check_rows() + check_sources()
    if len(sys.argv) > 1:
        wrong += check_executables(pathlib.Path(sys.argv[1]))
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
