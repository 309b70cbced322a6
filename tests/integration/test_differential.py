# SPDX-License-Identifier: Apache-2.0
"""Random queries of each report return the same as a slow reference, which sums the messages of the
topic (reference.py). A failure is repeated with DECIMA_TEST_SEED.

There are two kinds of messages: random ones, which use everything that a message can contain, and
batches of a real agent (tests/recorded), as if four hosts had sent them within an hour. Both kinds
are queried as raw rows, and again while and after their rows are merged. Random messages are also
queried after the rollup of their hours and days."""
import json
import os
import random
import re
import sys
import time
from pathlib import Path

import pytest

import reference
from harness import Cell, wait_until
from otlp_messages import CPU, HEAP, PERIOD, Message

sys.path.append(str(Path(__file__).resolve().parents[1] / "recorded"))

import recording  # noqa: E402  (the path comes first)

SEED = int(os.environ.get("DECIMA_TEST_SEED", "0")) or random.randrange(1, 1 << 32)
QUERIES = 20  # by each test; every run draws others
HOUR_MS = 3600_000
DAY_MS = 24 * HOUR_MS
SPAN_MS = 3 * HOUR_MS  # of the messages' times: they are in partitions of several hours
NOT_ROLLED = ("SELECT (SELECT count(*) FROM chunk_raw WHERE merged IS NULL)"
              " + (SELECT count(*) FROM chunk WHERE rolled IS NULL)"
              " + (SELECT count(*) FROM rollup WHERE folded IS NULL AND kind IN (0, 2))")


def random_message(protos, chance, newest_ms):
    """Samples of a process; names and numbers are from small ranges, so that they repeat often."""
    message = Message(protos)
    dictionary, word, attribute = message.dictionary, message.string, message.attribute
    comm = chance.choice(["nginx", "postgres", "redis;x", "sh\tell", "\N{GREEK SMALL LETTER PI}"])
    paths = [f"/usr/bin/{comm}", "/usr/lib/libc.so.6", "/opt/app=1/x y", "[kernel.kallsyms]"]
    for path in paths:
        build = attribute("process.executable.build_id.gnu", chance.choice(["aa01", "bb02"]))
        dictionary.mapping_table.add(filename_strindex=word(path), attribute_indices=[
            build] if path.startswith("/") else [])
    native, kernel = (attribute("profile.frame.type", name) for name in ("native", "kernel"))
    for name in ("main", "work", "read", "f;g", "sys_read"):
        for file in ("", "/src/a.c"):
            dictionary.function_table.add(name_strindex=word(name), filename_strindex=word(file))
    for _ in range(14):
        mapping = chance.randint(1, len(paths))
        place = dictionary.location_table.add(
            mapping_index=mapping, address=chance.choice([0x1000, 0x1F, 0x7FFF00, 0xFFFF800000]),
            attribute_indices=[kernel if mapping == len(paths) else native])
        for _ in range(1 if mapping == len(paths) else chance.choice([0, 0, 1, 2])):
            place.lines.add(function_index=chance.randint(1, len(dictionary.function_table) - 1),
                            line=chance.randint(1, 3))
    for _ in range(12):
        dictionary.stack_table.add(location_indices=[
            chance.randint(1, 14) for _ in range(chance.randint(1, 9))])

    resource_labels = {"host.name": chance.choice(["n1", "n2", "n3"]),
                       "process.executable.name": comm}
    if chance.random() < 0.5:
        resource_labels["service.name"] = chance.choice(["shop", "mail"])
    if chance.random() < 0.3:
        resource_labels["rack.row"] = chance.choice(["7", "8"])
    if chance.random() < 0.2:
        resource_labels["tier"] = "series"
    is_heap = chance.random() < 0.15
    profile = message.profile(HEAP if is_heap else CPU, resource_labels,
                              period=524288 if is_heap else PERIOD,
                              time_unix_nano=newest_ms * 1_000_000)
    begins = newest_ms - chance.randint(0, SPAN_MS)
    # a heap profile is a snapshot: all its samples have one of a few times
    snapshots = [begins - i * chance.choice([10_000, 45_000]) for i in range(chance.randint(1, 4))]
    for _ in range(chance.randint(5, 25)):
        labels = [attribute("process.pid", chance.randint(1, 4))]
        if chance.random() < 0.6:
            labels.append(attribute("thread.name", chance.choice(["io", "w;1", "main"])))
        if chance.random() < 0.1:
            labels.append(attribute("tier", "sample"))
        times = [begins - chance.randint(0, 20_000) for _ in range(chance.randint(1, 4))]
        if is_heap:
            times = chance.sample(snapshots, chance.randint(1, len(snapshots)))
        profile.samples.add(
            stack_index=chance.randint(0, 12), attribute_indices=labels,
            timestamps_unix_nano=[at * 1_000_000 + 999 for at in times],
            values=[chance.randint(0, 9999) for _ in times] if is_heap else [])
    return message.data.SerializeToString()


def recorded_message(protos, chance, newest_ms, batch):
    """A batch of the recording, shifted to a random time of the last hour."""
    message = protos.profiles.ProfilesData.FromString(batch)
    node = f"web-{chance.randint(1, 4)}".encode()
    profiles = []
    for resource in message.resource_profiles:
        for attribute in resource.resource.attributes:
            if attribute.key == b"host.name":
                attribute.value.string_value = node
        profiles += [p for scope in resource.scope_profiles for p in scope.profiles]
    last = max(max(s.timestamps_unix_nano) for p in profiles for s in p.samples)
    shift = (newest_ms - chance.randint(0, 3600_000)) * 1_000_000 - last
    for sample in (s for p in profiles for s in p.samples):
        sample.timestamps_unix_nano[:] = [at + shift for at in sample.timestamps_unix_nano]
    return message.SerializeToString()


def on_hosts(protos, message, nodes):
    """Copies of a message from several hosts."""
    parsed = protos.profiles.ProfilesData.FromString(message)
    name = next(a for a in parsed.resource_profiles[0].resource.attributes
                if a.key == b"host.name")
    for node in nodes:
        name.value.string_value = node
        yield parsed.SerializeToString()


def messages_of(cell, protos, chance, newest_ms):
    if cell.state == "rolled":  # hosts have equal stacks, so that rollups without host are stored
        made = [random_message(protos, chance, newest_ms) for _ in range(40)]
        return [copy for message in made
                for copy in on_hosts(protos, message, [b"n1", b"n2", b"n3", b"n4"])]
    if cell.kind == "made":
        return [random_message(protos, chance, newest_ms) for _ in range(150)]
    return [recorded_message(protos, chance, newest_ms, batch)
            for batch in chance.sample(recording.read(), 16)]


class Recorded:
    """The samples on the topic, and random queries of them."""

    def __init__(self, cell, messages):
        self.cell = cell
        self.is_rolled = cell.state == "rolled"
        self.samples = samples = [sample for message in messages for sample in message]
        self.chance = random.Random(SEED + 1)
        self.first = min(s.time_ms for s in samples)
        self.last = max(s.time_ms for s in samples)
        self.edges = [edge(s.time_ms for s in message) for message in messages
                      for edge in (min, max)]
        self.values = {}
        self.found = 0  # queries of this test that select a sample
        for sample in samples:
            for name, value in sample.series + sample.labels:
                self.values.setdefault(name, set()).add(value)

    def window(self):
        """A window around all samples, with samples' times as its ends, or at random times."""
        chance = self.chance
        if self.is_rolled and chance.random() < 0.6:  # whole hours or days, or nearly
            unit = chance.choice([HOUR_MS, DAY_MS])
            first = chance.randint(self.first // unit, self.last // unit) * unit
            return (first - chance.choice([0, 0, 0, 1, HOUR_MS // 3]),
                    first + chance.choice([1, 2, 4]) * unit + chance.choice([0, 0, 0, 1, -1]))
        kind = chance.random()
        if kind < 0.2:
            return self.first - 5, self.last + 5
        if kind < 0.35:  # one moment
            start = chance.choice(self.edges)
            return start, start + 1
        if kind < 0.6:  # a sample at the start is in the window, a sample at the end is not
            start, end = sorted(chance.choice(self.edges) for _ in range(2))
            return start, end + chance.choice([0, 1]) + (start == end)
        start = chance.randint(self.first - 10_000, self.last)
        return start, start + chance.choice([1, 500, 20_000, 600_000, 3_600_000, SPAN_MS])

    def matcher(self):
        chance = self.chance
        name = chance.choice([*self.values, "nobody"])
        value = chance.choice(sorted(self.values.get(name, {"x"})))
        operator = chance.choice(["=", "!=", "=~", "!~"])
        if operator in ("=~", "!~"):
            value = chance.choice([re.escape(value), f"{re.escape(value[:2])}.*", ".*", ".+", "",
                                   f"{re.escape(value)}|n1|io", "[a-n].*", "(?:n|w).*"])
        elif chance.random() < 0.1:
            value = ""
        return name, operator, value

    def selector(self):
        type_ = self.chance.choice(["", "", "", reference.CPU,
                                    "memory:inuse_space:bytes:space:bytes"])
        return type_, [self.matcher() for _ in range(self.chance.choice([0, 1, 1, 2, 3]))]

    def names(self):
        return self.chance.sample([*self.values, "nobody"], self.chance.choice([0, 0, 1, 2, 3]))

    def random_query(self):
        """(selected samples, group names, parameters, message of a failed assert)"""
        (type_, matchers), (start, end) = self.selector(), self.window()
        names = self.names()
        text = reference.selector_text(type_, matchers)
        params = {"query": text, "start": seconds(start), "end": seconds(end)}
        selected = reference.select(self.samples, type_, matchers, start, end)
        self.found += bool(selected)
        return selected, names, params, f"seed {SEED}: {params} by {names}"


@pytest.fixture(autouse=True)
def enough_queries_select_samples(recorded):
    """Fails a test of which hardly any query selects a sample: it would test little."""
    recorded.found = 0
    yield
    if recorded.found:
        assert recorded.found > QUERIES // 10, f"seed {SEED}: {recorded.found} queries with samples"


def seconds(ms):
    return f"{ms // 1000}.{ms % 1000:03}"


@pytest.fixture(scope="module", params=[
    "made", "recorded", "made-merged", "recorded-merged", "made-rolled"])
def cell(servers, request):
    name = request.param.replace("-", "_")
    with Cell(servers, f"differential_{name}") as made:
        made.kind, _, made.state = request.param.partition("-")
        made.ingester_flags["compaction-age"] = "100ms" if made.state else "0s"
        made.ingester = made.service("ingester", "merging")
        made.start()
        yield made


@pytest.fixture(scope="module")
def recorded(cell, protos, figure):
    chance = random.Random(SEED)
    newest_ms = int(time.time() * 1000)
    if cell.state == "rolled":  # around a midnight between two past days
        newest_ms -= newest_ms % DAY_MS + 2 * DAY_MS - SPAN_MS // 2
    sent = messages_of(cell, protos, chance, newest_ms)
    for number, message in enumerate(sent):
        cell.produce(message, key=f"host/{number % 5}".encode())
    messages = [list(reference.samples_of(
        protos.profiles.ProfilesData.FromString(message.value())))
                for message in cell.consume(count=len(sent), deadline=60)]
    count = sum(map(len, messages))
    wait_until(lambda: cell.samples() == count, what=f"all samples, seed {SEED}")
    if cell.state == "rolled":
        wait_until(lambda: cell.rows(NOT_ROLLED) == [(0,)], what="all is rolled up")
        kinds = dict(cell.rows("SELECT kind, sum(samples)::bigint FROM rollup GROUP BY kind"))
        figure(f"differential: rolled-up samples by kind {kinds}, seed {SEED}")
        assert kinds[2] * 2 <= kinds[1] and kinds[4], kinds
    figure(f"differential: {count} samples of {len(sent)} {cell.kind} messages, seed {SEED}")
    return Recorded(cell, messages)


def test_collapsed_stacks_equal_the_reference(recorded):
    for _ in range(QUERIES):
        selected, names, params, what = recorded.random_query()

        got = recorded.cell.collapsed(**params, group_by=",".join(names))
        assert got == reference.collapsed(selected, names), what


def test_flame_graphs_equal_the_reference(recorded):
    for _ in range(QUERIES):
        selected, names, params, what = recorded.random_query()

        got = recorded.cell.flamegraph(**params, group_by=",".join(names))
        expected = reference.flamegraph(selected, names)
        assert got == {stack: value for stack, value in expected.items() if value}, what


def test_tables_equal_the_reference(recorded):
    for _ in range(QUERIES):
        selected, names, params, what = recorded.random_query()

        data = recorded.cell.data("query", **params, report="table", group_by=",".join(names))
        symbols = reference.symbols_of(selected, names)
        got = {}
        for row in data["rows"]:
            symbol = symbols.of_row(row)
            labels = row.get("labels", {})
            key = tuple((n, labels[n]) for n in names if n in labels), symbol
            assert key not in got, (what, key)
            got[key] = [row["self"], row["total"]]
        assert got == reference.table(selected, names), what
        assert data["total"] == sum(value for _, _, value in selected.merged(names)), what


def test_pprof_profiles_equal_the_reference(recorded, protos):
    for _ in range(QUERIES):
        selected, names, params, what = recorded.random_query()

        profile = recorded.cell.pprof(protos, **params, group_by=",".join(names))
        assert stacks_of(profile) == reference.pprof(selected, names), what


def stacks_of(profile):
    words = [word.decode() for word in profile.string_table]
    mappings = {m.id: (words[m.filename], words[m.build_id]) for m in profile.mapping}
    functions = {f.id: (words[f.name], words[f.filename]) for f in profile.function}
    frames = {}
    for place in profile.location:
        path, build_id = mappings.get(place.mapping_id, ("", ""))
        lines = [functions[line.function_id] for line in reversed(place.line)]  # inlined: last
        frames[place.id] = [reference.Frame(function, file, path, build_id, place.address)
                            for function, file in lines or [("", "")]]
    found = {}
    for sample in profile.sample:
        group = tuple(sorted((words[label.key], words[label.str] or str(label.num))
                             for label in sample.label))
        stack = tuple(frame for i in reversed(sample.location_id) for frame in frames[i])
        found[group, stack] = found.get((group, stack), 0) + sample.value[0]
    return found


def test_sums_over_time_equal_the_reference(recorded):
    chance = recorded.chance
    for _ in range(QUERIES):
        selected, names, params, what = recorded.random_query()
        start, end = (round(float(params[name]) * 1000) for name in ("start", "end"))
        step = max(chance.choice([1, 777, 1000, 15_000, 60_000, HOUR_MS, 2 * HOUR_MS, DAY_MS]),
                   (end - start) // 11_000 + 1)
        sum_by = chance.choice([None, names])
        limit = chance.choice([0, 0, 1, 3])
        if sum_by is not None:
            params["sum_by"] = ",".join(sum_by)
        params |= {"step": f"{step}ms", "limit": limit}

        status, body = recorded.cell.api("query_range", **params)
        assert status == 200, (what, body)
        response = json.loads(body)
        got = {tuple(sorted(line["metric"].items())): {
            round(at * 1000): int(value) for at, value in line["values"]}
               for line in response["data"]["result"]}
        expected, left_out = reference.query_range(selected, start, step, sum_by, limit)
        assert bool(left_out) == ("warnings" in response), (what, params)
        if left_out:  # of series with equal sums, any may be in the response
            assert f" {left_out} more series" in response["warnings"][0]
            everything, _ = reference.query_range(selected, start, step, sum_by)
            assert all(got[key] == everything[key] for key in got), (what, params)
            assert sorted(sum(line.values()) for line in got.values()) == sorted(
                sum(line.values()) for line in expected.values()), (what, params)
        else:
            assert got == expected, (what, params)


def test_series_equal_the_reference(recorded):
    for _ in range(QUERIES):
        matches, found = [], set()
        start, end = recorded.window()
        for _ in range(recorded.chance.choice([1, 1, 2])):
            type_, matchers = recorded.selector()
            matches.append(reference.selector_text(type_, matchers))
            found |= reference.series(
                reference.select(recorded.samples, type_, matchers, start, end))

        got = recorded.cell.data("series", **{"match[]": matches}, start=seconds(start),
                                 end=seconds(end))
        assert sorted(sorted(one.items()) for one in got) == sorted(
            sorted(one) for one in found), f"seed {SEED}: {matches} {start} {end}"


@pytest.mark.parametrize("matched", [False, True])
def test_labels_equal_the_reference(recorded, matched):
    chance = recorded.chance
    for _ in range(QUERIES):
        start, end = recorded.window()
        name = chance.choice([*recorded.values, "nobody"])
        match = recorded.selector() if matched else None
        params = {"start": seconds(start), "end": seconds(end)}
        if matched:
            params["match[]"] = reference.selector_text(*match)
        what = f"seed {SEED}: {name} {params}"

        values = recorded.cell.data(f"label/{name}/values", **params)
        assert values == reference.label_values(recorded.samples, name, start, end, match), what
        names = recorded.cell.data("labels", **params)
        must, may = reference.label_names(recorded.samples, start, end, match)
        assert must <= set(names) <= may, what
        assert names == sorted(names, key=str.encode), what
