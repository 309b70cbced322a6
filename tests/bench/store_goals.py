# SPDX-License-Identifier: Apache-2.0
"""store_goals - what bench_store has measured beside what was to be reached and what others reach.

Figures of others are constants: measured on the same machine type (2 cores, 24 GiB), 100 hosts with
10 processes each for 10 minutes, 3.6 M samples by OTLP/gRPC; Parca 3b5647cd with persistence,
Pyroscope 3fe6a457 with its v2 storage and its rate limits raised. Published ones say so.
"""

# key: what it is, unit, goal (a bound from below where `more`), Parca, Pyroscope
GOALS = {
    "decoder": ("decoder alone, samples/s and core", "more", 1_000_000, "", ""),
    "end to end": ("end to end, samples/s and core", "more", 200_000, "16,400", "19,400"),
    "ingester": ("ingester's CPU alone, samples/s and core", "", None, "", ""),
    "kept 40 hosts": ("kept, 40 hosts x 1 h, B a sample", "less", 4, "194", "303"),
    "sums 40 hosts": ("its sums, B a sample", "", None, "", ""),
    "kept 1 host": ("kept, 1 host x 10 min, B a sample", "less", 7, "", ""),
    "WAL": ("WAL, B a sample, stored and merged", "", None, "", ""),
    "50 nodes": ("50 nodes, GB a day", "less", 1, "1 (published)", ""),
    "rows": ("rows a flush, most of all fleets", "less", 64, "", ""),
    "RSS": ("ingester's peak RSS at full speed, MB", "less", 512, "13,500", "850"),
    "names": ("label names of 1 M series, ms of CPU", "less", 10, "1,711", "10.5"),
    "values": ("10,000 values of 1 M series, ms of CPU", "less", 10, "463 (1,000)", "12.5 (1,000)"),
    "matchers": ("matchers on 1 M series, worst, ms of CPU", "less", 20, "", ""),
    "30 days": ("30 days x 100 hosts, flame graph, least ms", "less", 2000, "", "refused (1 day)"),
    "30 days, a service": ("30 days, one comm, least ms", "less", 2000, "", "refused (1 day)"),
    "ingester flat": ("ingester's RSS, at the end / before", "less", 1.25, "", ""),
    "querier flat": ("querier's RSS, at the end / before", "less", 1.25, "", ""),
}


def is_met(key, value):
    _, sense, goal, *_ = GOALS[key]
    return goal is None or (value >= goal if sense == "more" else value <= goal)


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"


def print_goals(found):
    """The table; the names of what was missed."""
    print(f"\n{'':44} {'measured':>11} {'goal':>12} {'Parca':>14} {'Pyroscope':>16}")
    missed = []
    for key, (title, sense, goal, parca, pyroscope) in GOALS.items():
        if key not in found:
            continue
        goal_s = "" if goal is None else ("≥ " if sense == "more" else "≤ ") + f"{goal:,}"
        mark = "" if is_met(key, found[key]) else "  MISSED"
        missed += [title] * bool(mark)
        print(f"{title:44} {number(found[key]):>11} {goal_s:>12} {parca:>14} {pyroscope:>16}{mark}")
    print("Others: measured on the same machine type with as many samples of another workload, or "
          "published.")
    return missed
