# SPDX-License-Identifier: Apache-2.0
"""A function is the same one in two builds of a program, wherever they are installed.

`shop` is a C++ service in two versions, with other code, other build ids, and other source
directories. A real agent samples both, its debug info
is uploaded, and /api/v1/diff compares version 1 with version 2.
"""
import shutil
import subprocess
import time
from collections import defaultdict

import pytest

from harness import wait_until
from named_cell import NamedCell
from test_share import share

pytestmark = pytest.mark.machine

# compute_discount() does six times as much in version 2. Both versions sort the same, without
# recursion, so that few stacks are in one of two profiles by chance.
SHOP = """\
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <sys/resource.h>

static volatile double total;

__attribute__((noinline)) static double compute_discount(double price)
{
	for (int i = 0; i < ROUNDS; i++)
		price = price * 0.999 + i % 7;
	return price;
}

__attribute__((noinline)) static void sort_prices(std::vector<int> &prices)
{
	unsigned state = 7;
	for (auto &price : prices)
		price = (int)(state = state * 1664525 + 1013904223);
	std::make_heap(prices.begin(), prices.end());
	std::sort_heap(prices.begin(), prices.end());
}

static double seconds()
{
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	return used.ru_utime.tv_sec + used.ru_utime.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	std::vector<int> prices(20000);
	int orders = argc > 1 ? atoi(argv[1]) : ORDERS;
	for (; orders > 0; orders--) {
		total = total + compute_discount(orders);
		sort_prices(prices);
	}
	printf("%f\\n", seconds());
	return 0;
}
"""
ORDERS = 1500               # 2 s of sorting
ROUNDS = 200_000, 1_200_000  # 0.75 s and 4.5 s of discounts
SLOWER = "compute_discount(double)"
KERNEL = "[kernel.kallsyms]"  # its functions are the same on both sides anyway


def build(directory, version):
    """The path of `shop` of a version; its source is in a directory of its own, like a checkout."""
    source = directory / f"checkout-{version}" / "src" / "shop.cc"
    source.parent.mkdir(parents=True)
    source.write_text(SHOP)
    made = directory / f"checkout-{version}" / "shop"
    subprocess.run(["g++", "-O2", "-g", "-fno-omit-frame-pointer", "-Wl,--build-id=sha1",
                    f"-DROUNDS={ROUNDS[version - 1]}", f"-DORDERS={ORDERS}", "-o", made, source],
                   check=True)
    return made


@pytest.fixture(scope="module")
def named(servers):
    with NamedCell(servers, "identity") as cell:
        # The more samples, the fewer stacks are in one of two profiles by chance.
        cell.agent.flags["profiling-cpu-sampling-frequency"] = 97
        cell.start()
        yield cell


def query_of(path):
    return '{comm="shop",exe="%s"}' % path


class Deployment:
    """Version 1 runs at the first path, then version 2 at the second one."""

    def __init__(self, cell, directory, paths):
        self.cell, self.sides, self.seconds = cell, [], []
        for version, path in zip((1, 2), paths):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            shutil.copy(build(directory, version), path)
            self.warm_up(path)
            start = time.time()
            done = subprocess.run([path], capture_output=True, text=True, check=True)
            self.seconds.append(float(done.stdout))
            self.sides.append((start, time.time(), query_of(path)))
        wait_until(self.is_named, what="functions of both versions")

    def warm_up(self, path):
        """Lets the agent build the unwind table of this version."""
        began = f"{time.time():.3f}"
        is_stored = False
        while not is_stored:
            subprocess.run([path, "100"], stdout=subprocess.DEVNULL, check=True)
            is_stored = self.cell.total(query_of(path), start=began) > 0

    def params(self, **more):
        made = dict(more)
        for side, (start, end, query) in zip("ab", self.sides):
            made |= {f"{side}_query": query, f"{side}_start": f"{start:.3f}",
                     f"{side}_end": f"{end:.3f}"}
        return made

    def diff(self, **more):
        return self.cell.data("diff", **self.params(**more))

    def is_named(self):
        """The samples of both versions are stored and named."""
        return min(self.table()[SLOWER]) > 0 and all(
            self.cell.total(query, start=f"{start:.3f}", end=f"{end:.3f}") > 0.7e9 * used
            for (start, end, query), used in zip(self.sides, self.seconds))

    def table(self, **more):
        """{function: [self in version 1, self in version 2]}"""
        data = self.diff(**more)
        nodes, names = data["nodes"], data["names"]
        sums = defaultdict(lambda: [0, 0])
        for i, name in enumerate(nodes["name"]):
            sums[names[name]][0] += nodes["a_self"][i]
            sums[names[name]][1] += nodes["b_self"][i]
        return sums


def shared_parts(data):
    """The share of either side's CPU time outside of the kernel in nodes that both sides have."""
    nodes, names = data["nodes"], data["names"]
    own = [i for i, binary in enumerate(nodes["binary"]) if names[binary] != KERNEL]
    both = [i for i in own if nodes["a_total"][i] and nodes["b_total"][i]]
    return [sum(nodes[f"{side}_self"][i] for i in both) /
            sum(nodes[f"{side}_self"][i] for i in own) for side in "ab"]


@pytest.fixture(scope="module", params=["two-paths", "one-path"])
def deployed(request, named, tmp_path_factory):
    directory = tmp_path_factory.mktemp(request.param)
    paths = [directory / "releases" / release / "shop" for release in (
        ("1", "2") if request.param == "two-paths" else ("current", "current"))]
    return Deployment(named, directory, paths)


def test_both_sides_are_in_nodes_that_both_have(deployed, figure):
    parts = shared_parts(deployed.diff())

    figure(f"identity: {parts[0]:.1%} and {parts[1]:.1%} of the CPU time in nodes of both versions")
    assert min(parts) >= 0.9


def test_the_function_that_got_slower_has_the_greatest_change(deployed):
    changes = {name: after - before for name, (before, after) in deployed.table().items()}

    assert max(changes, key=changes.get) == SLOWER
    before, after = deployed.table()[SLOWER]
    assert after > 3 * before > 0


def test_a_node_lists_the_paths_and_builds_of_both_versions(deployed):
    data = deployed.diff(columns="name,binary,builds")
    names, nodes = data["names"], data["nodes"]
    found = [(names[nodes["binary"][i]], data["builds"][nodes["builds"][i]])
             for i, name in enumerate(nodes["name"]) if names[name] == SLOWER]

    assert {binary for binary, _ in found} == {"shop"}
    paths = {names[path] for _, builds in found for path, _ in builds}
    builds = {names[build] for _, builds in found for _, build in builds}
    assert paths == {query.partition('exe="')[2][:-2] for _, _, query in deployed.sides}
    assert len(builds) == 2
    assert "file" not in nodes and data["builds_left_out"] == 0


def test_by_path_only_one_path_is_compared(deployed):
    parts = shared_parts(deployed.diff(merge="path"))

    if deployed.sides[0][2] == deployed.sides[1][2]:
        assert min(parts) >= 0.9
    else:
        assert max(parts) < 0.1


def test_a_share_compares_by_the_same_rule(deployed):
    made = share(deployed.cell.querier, **{
        side: {"query": query, "start": f"{start:.3f}", "end": f"{end:.3f}"}
        for side, (start, end, query) in zip("ab", deployed.sides)})

    frozen = deployed.cell.data("diff", share=made["id"])
    assert frozen["a_total"] == deployed.diff()["a_total"]
    assert min(shared_parts(frozen)) >= 0.9
    rows = deployed.cell.data("query", share=made["id"], side="a", report="table")["rows"]
    assert {row["binary"] for row in rows if row["function"] == SLOWER} == {"shop"}


@pytest.mark.parametrize("path, params, sentence", [
    ("query", {"query": "{}", "report": "table", "merge": "line"},
     'merge: \\"line\\" is none of binary, function, path, address'),
    ("query", {"query": "{}", "report": "pprof", "merge": "path"},
     "merge is for the reports flamegraph and table only"),
    ("query", {"query": "{}", "report": "flamegraph", "columns": "pids"},
     'columns: \\"pids\\" is none of'),
    ("diff", {"a_query": "{}", "b_query": "{}", "merge": "line"}, "merge: "),
])
def test_an_unknown_identity_or_column_is_rejected(named, path, params, sentence):
    status, body = named.api(path, **params)

    assert status == 400 and sentence in body.decode()
