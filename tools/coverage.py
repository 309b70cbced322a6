#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that the unit tests alone cover 95 % of the lines of each pure module.

    tools/coverage.py            build build-asan/, run the unit tests, print a line per module
    tools/coverage.py --missing  also print the lines that no unit test covers

A pure module takes values and an arena and uses no file, socket, process or server. PURE lists
these modules by folder; a module is NAME.c with NAME.h, or NAME.h alone. conf and metrics are in
the list too, although they print or read /proc in a few lines. A module that calls no function of
OUTSIDE, directly or indirectly, and is not in the list, is an error.

Only tests/unit counts, because code that a fuzz corpus or a running fleet executes is not checked
by an assertion. A line that no test can cover is excluded in the source, with the reason:
`GCOVR_EXCL_LINE: why`, or `GCOVR_EXCL_START: why` ... `GCOVR_EXCL_STOP`.
"""
import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path

import sanitized
from local import say
from local.servers import ROOT

LEAST = 95.0  # % of the lines of each module

PURE = {
    "lib/base": """arena base buf clock cond err failpoint hash heap index liveness log map
        queue reader shares sorted str token_bucket vec""",
    "lib/client": "postgres_value server_list shown_url",
    "lib/dwarf": """dwarf_abbrev dwarf_contexts dwarf_entry dwarf_expression dwarf_file
        dwarf_inflate dwarf_package dwarf_pointer dwarf_ranges dwarf_value""",
    "lib/elf": """build_id debug_extract debug_link debug_rank elf_code elf_compression
        elf_file elf_header elf_sections elf_symbols go_sections htlhash mini_debug""",
    "lib/profile": "labels matcher profile_type quoted regex_hint sample_set selector",
    "lib/server/config": "conf",
    "lib/server/http": "http_body http_metrics url",
    "lib/server/json": "json json_error json_read",
    "lib/server/metrics": "metrics",
    "lib/store": "label_pair store_bounds",
    "lib/store/chunk": """chunk_columns chunk_decode chunk_decoder chunk_directory chunk_encode
        chunk_encoder chunk_ranges chunk_rows chunk_slices chunk_stacks""",
    "lib/store/compact": "compact_merge compact_row rollup rollup_fleet rollup_fold rollup_gauge",
    "lib/store/fleet": "balance",
    "lib/store/read": "query_needs step_sums",
    "lib/store/scan": "scan_plan store_stats",
    "lib/store/write": "batch_hashes fence_groups raw_row received_set seen_ids transit",
    "lib/symbols": """demangle dwarf_functions dwarf_lines elf_plt go_functions go_module go_table
        symbol_build symbol_model symbol_reach symbol_spans symbol_table symbol_writer
        x86_instruction""",
    "lib/unwind": """unwind_build unwind_cfi unwind_file unwind_fixed unwind_follow unwind_go
        unwind_program unwind_ranges unwind_rows unwind_state unwind_writer""",
    "lib/wire": """otlp_decoder otlp_dictionary otlp_field otlp_intern otlp_labels otlp_reader
        otlp_stacks otlp_value otlp_writer pprof protobuf status symbolize""",
    "services/agent/capture": """brief_processes collect deferred_samples loss_counters
        sample_parse timeline""",
    "services/agent/kernel": "kallsyms kernel_version",
    "services/agent/labels": "containers docker_object external_labels series_budget",
    "services/agent/process": """cgroup mappings mappings_bound proc_maps process_image
        process_muting process_read read_budget sideband_record""",
    "services/agent/spool": "batch pace spool_file",
    "services/agent/unwind": "stack_walk",
    "services/debuginfo": "misses request_path upload_shares",
    "services/ingester/maintain": "balance_watch",
    "services/ingester/consume": "batch_number partition_buffer poison progress "
                                 "seek_overrides unreadable",
    "services/querier/api": "fleet_response params share_request web_page",
    "services/querier/merge": "gauge grouping memory merge range_sums",
    "services/querier/report": """binary_name build_lists collapsed diff flame flame_paths
        flame_report flame_symbols flame_table frame_identity frame_text frozen json_response
        query_stats range_report report report_columns table_report unnamed""",
    "services/querier/symbolize": """cached_binary lookup_addresses symbol_cache symbol_lookup
        symbolization symbolize_merge""",
    "services/symbolizer/shared_cache": "address_pages cache_value",
    "services/symbolizer/tables": "location_builder tables",
}

# Modules that look pure and have no unit test (a name, or a pattern of names) -> the reason.
APART = {
    "*/failpoints": "a table of failpoints, no code",
    "lib/store/write/writer_rows": "a step of the writer; tests/integration/test_store.py",
    "services/ingester/metrics": "a table of metrics, no code",
    "services/querier/api/error_response": "writes a response; test_querier.py",
}

# Functions that use a file, a socket, a process, a thread, the kernel or a server.
OUTSIDE = re.compile(r"""^(
    (fd)?(open|close)(at|dir)?(64)? | f?(access|stat|statat|faccessat|statfs)(64)? |
    p?(read|write)(v|64)? | readdir(64)? | readlink(at)? | lseek(64)? | ftruncate(64)? |
    fcntl(64)? | f(data)?sync | futimens | flock | fopen(64)? | fgets | fclose | printf | puts |
    putchar | mkdir(at)? | rename(at)? | unlink(at)? | mmap(64)? | mount | memfd_create |
    poll | epoll_\w+ | eventfd | (recv|send)(msg|mmsg|from|to)? | socket(pair)? | bind | listen |
    accept4? | connect | shutdown | [gs]etsockopt | getsockname | getaddrinfo |
    pthread_(create|sigmask) | posix_spawn\w* | fork | exec\w+ | kill | wait(4|pid) | prctl |
    _exit | sig(nal|action) | [gs]etrlimit(64)? | [gs]etpriority | syscall | sysconf | ioctl |
    (get|set|unset)env | environ | gethostname | getauxval | getpid |
    (rd_kafka|PQ|MHD_|curl_|redis|bpf_|libbpf_|ring_buffer_|perf_buffer_|debuginfod_)\w*
    )$""", re.VERBOSE)
MAY_WRITE = {"lib/base/log"}  # a line on stderr does not make a module impure
REASON = re.compile(r"GCOV\w*_EXCL_(LINE|START|BR_\w+)(: \w\S* \w+)?")


def listed():
    return {f"{folder}/{name}" for folder, names in PURE.items() for name in names.split()}


def module(path):
    return str(Path(path).with_suffix("")).removesuffix("_internal")


def unit_tests():
    """The tests that count: {name: its program}."""
    return {test["name"]: test["cmd"][0] for test in sanitized.introspect("--tests")
            if "decima:unit" in test["suite"] and not test["name"].endswith("_corpus")
            and test["protocol"] == "tap"}


def run_unit_tests():
    """Build and run the unit tests, without counts of earlier runs. Returns their results."""
    tests = unit_tests()
    libraries = [target["filename"][0] for target in sanitized.introspect("--targets")
                 if target["type"] == "static library"]
    sanitized.prepare([os.path.relpath(name, sanitized.WHERE)
                       for name in libraries + list(tests.values())])
    say.waiting("unit tests, counting lines")
    for counts in sanitized.WHERE.rglob("*.gcda"):
        counts.unlink()
    return sanitized.run(tests)


def run(*command):
    done = subprocess.run(command, cwd=ROOT, check=False, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise say.Trouble(f"{command[0]} failed:\n{done.stdout[-4000:]}")
    return done.stdout


def reached(where):
    """module -> {(file, line): is it covered}, from gcovr."""
    report = where / "coverage.json"
    run("gcovr", "--root", ROOT, "--filter", "lib/", "--filter", "services/", "--json", report,
        where)
    found = defaultdict(dict)
    for file in json.loads(report.read_text())["files"]:
        for line in file["lines"]:
            if not line["gcovr/noncode"]:
                found[module(file["file"])][file["file"], line["line_number"]] = line["count"] > 0
    return found


def symbols(where):
    """module -> (what it defines, what it needs), of each object of a library of ours."""
    found = {}
    for unit in json.loads((where / "compile_commands.json").read_text()):
        source = Path(os.path.normpath(Path(unit["directory"], unit["file"])))
        if not re.match(r"(lib|services)/.*/lib\w+\.a\.p/", unit["output"]) or \
                not source.is_relative_to(ROOT) or source.is_relative_to(where):
            continue
        rows = [row.split() for row in run("nm", "-g", where / unit["output"]).splitlines()]
        found[module(source.relative_to(ROOT))] = ({row[-1] for row in rows if row[-2] not in "Uw"},
                                                   {row[-1] for row in rows if row[-2] in "Uw"})
    return found


def looks_pure(found):
    """The modules that call no function of OUTSIDE, directly or indirectly."""
    outside = {name for name, (_, needs) in found.items()
               if name not in MAY_WRITE and any(map(OUTSIDE.match, needs))}
    while True:
        theirs = set().union(*(found[name][0] for name in outside)) if outside else set()
        more = {name for name, (_, needs) in found.items()
                if name not in outside and name not in MAY_WRITE and needs & theirs}
        if not more:
            return found.keys() - outside
        outside |= more


def share(lines):
    return 100 * sum(lines.values()) / len(lines) if lines else 100.0


def missing(lines):
    """The files and lines that are not covered, as `file: 3 7-9`."""
    for file in sorted({file for file, _ in lines}):
        spans = []
        for (_, line), hit in sorted(item for item in lines.items() if item[0][0] == file):
            if not hit and spans and spans[-1][1]:
                spans[-1][0].append(line)
            elif not hit:
                spans.append(([line], True))
            elif spans:
                spans[-1] = (spans[-1][0], False)
        if spans:
            yield file + ": " + " ".join(f"{s[0]}-{s[-1]}" if len(s) > 1 else str(s[0])
                                         for s, _ in spans)


def unreasoned():
    """Exclusions in the source without a reason."""
    for folder in ("lib", "services"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = REASON.search(line)
                if match and not match[2]:
                    yield f"{path.relative_to(ROOT)}:{number}"


def faults(found, pure):
    """A sentence for each fault; `found` is the result of reached()."""
    for name in sorted(listed()):
        if name not in found and not any((ROOT / f"{name}{end}.h").exists()
                                         for end in ("", "_internal")):
            yield f"{name} is in the list of tools/coverage.py, but there is no such module"
        elif share(found.get(name, {})) < LEAST:
            yield (f"{name}: unit tests cover {share(found[name]):.1f} % of its lines, "
                   f"{LEAST:.0f} % are required: " + "; ".join(missing(found[name])))
    for name in sorted(pure - listed()):
        if any(fnmatch(name, pattern) for pattern in APART):
            continue
        yield (f"{name} is pure: add it to PURE of tools/coverage.py, "
               f"or to APART with the reason ({share(found.get(name, {})):.0f} %)")
    for place in unreasoned():
        yield f"{place}: an exclusion needs a reason: GCOVR_EXCL_LINE: reason"


def measure():
    """(coverage of the unit tests, sentences of faults, the results of the tests)."""
    results = run_unit_tests()
    found = reached(sanitized.WHERE)
    return found, list(faults(found, looks_pure(symbols(sanitized.WHERE)))), results


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--missing", action="store_true", help="print uncovered lines")
    args = parser.parse_args()
    try:
        found, wrong, results = measure()
    except say.Trouble as e:
        sys.exit(f"coverage: {e}")
    for name in sorted(listed() & found.keys()):
        say.line(f"{share(found[name]):6.1f} %  {name}")
        for lines in missing(found[name]) if args.missing else ():
            say.line(f"            {lines}")
    wrong += [f"the unit test {each['name']} failed" for each in results if each["result"] != "OK"]
    ours = {key: hit for name in listed() for key, hit in found.get(name, {}).items()}
    for sentence in wrong:
        say.line(f"coverage: {sentence}")
    say.line(f"{share(ours):.1f} % of {len(ours)} lines in {len(listed())} pure modules")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
