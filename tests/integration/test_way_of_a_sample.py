# SPDX-License-Identifier: Apache-2.0
"""From a tick in the kernel to a result from PostgreSQL, with programs of known behaviour.

    burn   outer -> middle -> leaf_a and leaf_b at 3:1; prints its CPU time
    spawn  many short processes; prints the CPU time of each

The counts are random: 19 ticks per second of CPU time; shares.py has their bounds.
"""
import json
import re
import shutil
import subprocess
import time
import urllib.parse
from pathlib import Path

import pytest

import shares
from harness import wait_until

SECONDS = 30  # of CPU time of burn: 570 samples
HERTZ = 19
INTERVAL = 2  # of the agent fixture


def settle(stack):
    """Wait until all earlier samples are stored; the batches of a host are stored in order."""
    later = f"{time.time() + INTERVAL:.3f}"
    wait_until(lambda: stack.total(start=later, end=f"{time.time() + 60:.3f}"),
               what="samples of the batch after this one")


def program(agent, name):
    """A copy for this run, so that its path differs from other runs' programs of the same build."""
    copy = agent.fleet.run_dir / "programs" / name
    if not copy.exists():
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(agent.fleet.build / "tests" / "programs" / name, copy)
    return copy


def run(argv, timeout):
    """(the JSON that it printed, start, end) of a program that ends by itself."""
    start, stolen = time.time(), shares.stolen_seconds()
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, text=True, check=True,
                          stdin=subprocess.DEVNULL, timeout=timeout)
    stolen = shares.stolen_seconds() - stolen
    return {**json.loads(done.stdout), "stolen": stolen}, start, time.time()


@pytest.fixture(scope="module")
def burnt(stack, agent):
    printed, start, end = run([program(agent, "burn"), SECONDS], 4 * SECONDS)
    settle(stack)
    query = '{comm="burn",exe="%s"}' % program(agent, "burn")
    return {"start": start - 1, "end": end + 1, "query": query, **printed}


@pytest.fixture(scope="module")
def crowds(stack, agent, tmp_path_factory):
    """200 shells a second and one compiler after the other, side by side."""
    work = tmp_path_factory.mktemp("gcc")
    source = work / "some.c"
    source.write_text("#include <stdio.h>\n#include <stdlib.h>\n" + "".join(
        f"int f{i}(int n) {{ char b[64]; sprintf(b, \"%d\", n); return atoi(b) + {i}; }}\n"
        for i in range(200)))
    commands = {"sh": [200, shutil.copy(shutil.which("sh"), work), "-c", "true"],
                "gcc": [0, *own_compiler(work), "-O1", "-c", source, "-o", work / "some.o"]}
    start, stolen = time.time(), shares.stolen_seconds()
    running = {name: subprocess.Popen([str(a) for a in (program(agent, "spawn"), SECONDS, *argv)],
                                      stdout=subprocess.PIPE, text=True)
               for name, argv in commands.items()}
    printed = {name: json.loads(p.communicate(timeout=4 * SECONDS)[0])
               for name, p in running.items()}
    end, stolen = time.time(), shares.stolen_seconds() - stolen
    settle(stack)
    # Pids are reused, even within a minute, so a child is also selected by the path of its program.
    # Before its exec, a child still has spawn's path.
    spawn = re.escape(str(program(agent, "spawn")))
    return {"start": start - 1, "end": end + 1, "stolen": stolen,
            "copied": f"{re.escape(str(work))}/.*",
            "shell": f"{re.escape(str(work))}/sh|{spawn}", "driver": f".*gcc.*|{spawn}", **printed}


def own_compiler(work):
    """A command: gcc with copies of cc1 and as, so that `exe` differs from other compilations."""
    for name in ("cc1", "as"):
        path = subprocess.run(["gcc", f"-print-prog-name={name}"], capture_output=True, text=True,
                              check=True).stdout.strip()
        shutil.copy(shutil.which(path), work / name)
    return ["gcc", f"-B{work}"]


def window(made):
    return {"start": f"{made['start']:.3f}", "end": f"{made['end']:.3f}"}


def symbols(path):
    """[(address, size, name)] of a program's own functions."""
    text = subprocess.run(["nm", "-S", "--defined-only", path], capture_output=True, text=True,
                          check=True).stdout
    found = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [Tt] (\S+)$", text, re.MULTILINE)
    return [(int(at, 16), int(size, 16), name) for at, size, name in found]


def named(stack, table, binary):
    """The names of those frames of a stack that lie in the binary."""
    names = []
    for frame in stack:
        match = re.fullmatch(re.escape(binary) + r"\+0x([0-9a-f]+)", frame)
        if match:
            at = int(match[1], 16)
            names += [name for begin, size, name in table if begin <= at <= begin + size][:1]
    return names


def test_addresses_lie_in_the_functions_of_the_programs_symbol_table(stack, agent, burnt, figure):
    table = symbols(program(agent, "burn"))
    stacks = stack.collapsed(burnt["query"], **window(burnt))
    total = sum(stacks.values())

    right = sum(value for frames, value in stacks.items()
                if named(frames, table, "burn")[-4:] in (["main", "outer", "middle", "leaf_a"],
                                                         ["main", "outer", "middle", "leaf_b"]))
    figure(f"burn: {right / total:.1%} of the samples lie in main, outer, middle, leaf")
    n = round(ticks(total))
    most_frequent = sorted(stacks.items(), key=lambda s: -s[1])[:10]
    assert round(ticks(right)) >= shares.least(0.99, n), most_frequent


def test_the_shares_are_three_to_one(stack, agent, burnt, figure):
    table = symbols(program(agent, "burn"))
    leaves = {"leaf_a": 0, "leaf_b": 0}
    for frames, value in stack.collapsed(burnt["query"], **window(burnt)).items():
        names = named(frames, table, "burn")
        if names and names[-1] in leaves:
            leaves[names[-1]] += value

    n, of_a = round(ticks(sum(leaves.values()))), round(ticks(leaves["leaf_a"]))
    share = of_a / n
    figure(f"burn: leaf_a has {share:.1%}, leaf_b {1 - share:.1%}")
    assert n >= shares.needed(0.75, 0.1)
    assert shares.least(0.75, n) <= of_a <= shares.most(0.75, n), leaves


def test_the_total_is_the_cpu_time(stack, burnt, figure):
    total = stack.total(burnt["query"], **window(burnt)) / 1e9

    figure(f"burn: {total:.2f} s sampled of {burnt['cpu_seconds']:.2f} s of CPU time")
    assert shares.fits_cpu_time(total * HERTZ, burnt["cpu_seconds"], HERTZ,
                                burnt["stolen"])


def test_one_process_is_selected_by_its_pid(stack, burnt):
    by_name = stack.total(burnt["query"], **window(burnt))
    by_pid = stack.total('{pid="%d"}' % burnt["pid"], **window(burnt))

    assert by_pid == by_name > 0


def test_pprof_has_the_same_total_and_real_mappings(stack, agent, protos, burnt):
    profile = stack.pprof(protos, burnt["query"], **window(burnt))

    total = sum(sample.value[0] for sample in profile.sample)
    assert total == stack.total(burnt["query"], **window(burnt))
    # A mapping has the path where its build id was first seen, which may be another copy.
    notes = subprocess.run(["readelf", "-n", str(program(agent, "burn"))], capture_output=True,
                           text=True, check=True).stdout
    text = [word.decode() for word in profile.string_table]
    names = {text[m.build_id]: Path(text[m.filename]).name for m in profile.mapping}
    assert names[re.search(r"Build ID: ([0-9a-f]+)", notes)[1]] == "burn"


def test_go_tool_pprof_reads_the_profile(stack, burnt):
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if not go:
        pytest.skip("there is no Go here")
    parameters = {"query": burnt["query"], "report": "pprof", **window(burnt)}
    url = f"{stack.querier.url}/api/v1/query?{urllib.parse.urlencode(parameters)}"

    done = subprocess.run([go, "tool", "pprof", "-top", url], capture_output=True, text=True,
                          check=False, timeout=120)

    assert done.returncode == 0, done.stderr
    assert "flat%" in done.stdout and "leaf_a" in done.stdout, done.stdout


def ticks(nanoseconds):
    return nanoseconds * HERTZ / 1e9


def by_label(stack, label, exe, made):
    """{value of the label: samples} of programs whose path matches."""
    found = {}
    stacks = stack.collapsed("{exe=~%s}" % json.dumps(exe), group_by=label, **window(made))
    for frames, value in stacks.items():
        assert frames[0].startswith(f"{label}=")
        name = frames[0].partition("=")[2]
        found[name] = found.get(name, 0) + ticks(value)
    return found


def children_of(crowds, name):
    """(their pids, their CPU time in seconds)."""
    children = crowds[name]["children"]
    return {str(child[0]) for child in children}, sum(child[3] for child in children)


def test_shells_that_live_a_millisecond_are_counted_by_pid(stack, crowds, figure):
    pids, seconds = children_of(crowds, "sh")

    counts = by_label(stack, "pid", crowds["shell"], crowds)

    found = sum(n for pid, n in counts.items() if pid in pids)
    figure(f"sh: {found:.0f} samples of {len(pids)} processes, {seconds * HERTZ:.0f} expected")
    assert len(pids) > 10 * SECONDS
    assert shares.fits_cpu_time(found, seconds, HERTZ, crowds["stolen"]), (found, seconds)


def test_compilers_are_counted_with_their_child_processes(stack, crowds, figure):
    pids, seconds = children_of(crowds, "gcc")

    by_pid = by_label(stack, "pid", crowds["driver"], crowds)
    started = by_label(stack, "comm", crowds["copied"], crowds)

    assert started["cc1"] > started.get("as", 0)
    started.pop("sh", None)
    drivers = sum(n for pid, n in by_pid.items() if pid in pids)
    found = drivers + sum(started.values())
    figure(f"gcc: {found:.0f} samples of {len(pids)} compilations, {seconds * HERTZ:.0f} expected")
    assert shares.fits_cpu_time(found, seconds, HERTZ, crowds["stolen"]), (found, seconds)


def test_no_sample_was_lost(stack, agent, crowds):
    def lost():
        status, body = agent.get("/metrics")
        assert status == 200
        return [line for line in body.decode().splitlines()
                if re.match(r"decima_agent_samples_lost_total\{", line) and not line.endswith(" 0")]

    wait_until(lambda: not lost(), what="no sample is counted as lost")
