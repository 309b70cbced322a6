# SPDX-License-Identifier: Apache-2.0
"""`diff` puts two flame graphs into one: each side equals the flame graph of `query`."""
import json
import random
import time

import pytest

from harness import wait_until
from otlp_messages import PERIOD, cpu_message

HEAP = "memory:inuse_space:bytes:space:bytes"


@pytest.fixture(scope="module")
def two(cell, protos):
    """The cell with two minutes of random stacks; some stacks are in only one of the minutes."""
    chance = random.Random(7)
    now = int(time.time())
    cell.sides = [(now - 240, now - 180), (now - 120, now - 60)]
    ticks = 0
    for (start, _), comms in zip(cell.sides, (("alpha", "beta"), ("alpha", "gamma"))):
        for comm in comms:
            stacks = {tuple(chance.randrange(6) * 0x10 for _ in range(chance.randrange(1, 9))):
                      chance.randrange(1, 9) for _ in range(40)}
            ticks += sum(stacks.values())
            cell.produce(cpu_message(protos, comm, stacks, at_ms=(start + 30) * 1000))
    wait_until(lambda: cell.total("{}") == ticks * PERIOD, what="samples of both minutes")
    return cell


def diff(cell, query="{}", **more):
    (a_start, a_end), (b_start, b_end) = cell.sides
    return cell.data("diff", a_query=query, a_start=a_start, a_end=a_end,
                     b_query=query, b_start=b_start, b_end=b_end, **more)


def side_of(data, side):
    """{(root, ..., leaf): value} of one side; the sums of the tree are checked."""
    nodes, names, paths, found = data["nodes"], data["names"], [], {}
    below = [0] * len(nodes["parent"])
    for at, parent in enumerate(nodes["parent"]):
        assert -1 <= parent < at
        paths.append((paths[parent] if parent >= 0 else ()) + (names[nodes["name"][at]],))
        if parent >= 0:
            below[parent] += nodes[f"{side}_total"][at]
        value = nodes[f"{side}_self"][at]
        if value:
            found[paths[at]] = found.get(paths[at], 0) + value
    assert [s + b for s, b in zip(nodes[f"{side}_self"], below)] == nodes[f"{side}_total"]
    assert sum(found.values()) == data[f"{side}_total"]
    return found


@pytest.mark.parametrize("query, group_by", [
    ("{}", ""), ("{}", "comm"), ('{comm="alpha"}', ""), ('{comm="beta"}', ""), ('{comm="x"}', "")])
def test_each_side_equals_the_flame_graph_of_query(two, query, group_by):
    data = diff(two, query, group_by=group_by)

    for side, (start, end) in zip("ab", two.sides):
        assert side_of(data, side) == two.flamegraph(query, group_by=group_by, start=start,
                                                     end=end)


def test_the_tree_has_frames_that_are_in_only_one_side(two):
    names = set(diff(two, group_by="comm")["names"])

    assert {"comm=beta", "comm=gamma", "comm=alpha"} <= names


def test_the_stats_are_the_sum_of_both_queries(two):
    status, body = two.api("diff", a_query="{}", b_query="{}")

    assert status == 200
    one = json.loads(two.api("query", query="{}", report="flamegraph")[1])["stats"]
    assert json.loads(body)["stats"]["samples"] == 2 * one["samples"]


@pytest.mark.parametrize("params, words", [
    ({"b_query": "{}"}, "parameter a_query is missing"),
    ({"a_query": "{}", "b_query": "{"}, "b_query: "),
    ({"a_query": "{}", "b_query": "{}", "b_start": "9", "b_end": "8"},
     "b_start must be before b_end"),
    ({"a_query": "{}", "b_query": f"{HEAP}{{}}"}, "only profiles of one type can be compared")])
def test_queries_that_cannot_be_compared_are_rejected(two, params, words):
    status, body = two.api("diff", **params)

    assert (status, json.loads(body)["errorType"]) == (400, "bad_data")
    assert words in json.loads(body)["error"]
