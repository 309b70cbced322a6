# SPDX-License-Identifier: Apache-2.0
"""reference - the expected responses of the querier, by plain loops over the messages of a topic.

protoc's classes parse the messages; this module shares no code with the programs under test. It is
slow and easy to read: it follows the rules of docs/api.md and docs/labels.md.
"""
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
DAY_MS = 86_400_000
SLOT_MS = 60_000  # of a gauge: a process exists or not in each slot of this length
MILLION = 1_000_000
GAUGES = {"memory:inuse_objects:count:space:bytes", "memory:inuse_space:bytes:space:bytes",
          "goroutine:goroutine:count:goroutine:count",
          "threadcreate:threadcreate:count:threadcreate:count"}
OF_SERIES = {"host.name": "node", "process.executable.name": "comm",
             "process.executable.path": "exe", "service.name": "service_name",
             "container.name": "container", "decima.compose.service": "compose_service",
             "decima.unit": "unit"}
OF_SAMPLE = {"process.pid": "pid", "thread.id": "thread_id", "thread.name": "thread_name",
             "cpu.logical_number": "cpu"}


@dataclass(frozen=True)
class Frame:
    function: str
    file: str
    path: str
    build_id: str
    address: int
    # distinguish stacks, and appear in no report
    line: int = field(default=0, compare=False)
    inlined: bool = field(default=False, compare=False)

    @property
    def text(self):
        return self.function or f"{self.path.rpartition('/')[2] or '[unknown]'}+0x{self.address:x}"

    @property
    def base_name(self):
        return self.path.removesuffix(" (deleted)").rpartition("/")[2]

    @property
    def binary(self):
        """The base name of the binary, without the version of a shared library."""
        return re.sub(r"^(.+?)(-[0-9.]*\.[0-9.]*)?(\.so)(\.[0-9.]*)?$", r"\1\3", self.base_name)


@dataclass(frozen=True)
class Sample:
    type: str
    series: tuple  # ((name, value), ...), sorted; labels have the same form
    labels: tuple
    stack: tuple   # of Frame, root first
    value: int
    time_ms: int

    def get(self, name):
        """The value of a label; the label of the series takes precedence."""
        return dict(self.labels + self.series).get(name, "")

    def group(self, names):
        return tuple((name, self.get(name)) for name in names)

    @property
    def source(self):
        """Of a gauge: the type, the series and the pid, which identify the process."""
        return self.type, self.series, dict(self.labels).get("pid", "")


def samples_of(message):
    """The samples of one ProfilesData, one for each timestamp."""
    words = [word.decode() for word in message.dictionary.string_table]
    pairs = [(words[a.key_strindex], text_of(a.value)) for a in message.dictionary.attribute_table]
    frames = [frames_of(message.dictionary, words, pairs, place)
              for place in message.dictionary.location_table]
    stacks = [tuple(frame for place in reversed(stack.location_indices) for frame in frames[place])
              for stack in message.dictionary.stack_table]
    known = {}
    for resource in message.resource_profiles:
        given = {a.key.decode(): text_of(a.value) for a in resource.resource.attributes}
        series = {OF_SERIES.get(name, name.replace(".", "_")): value
                  for name, value in given.items()}
        if not series.get("service_name"):
            series["service_name"] = next(filter(None, (
                series.get(name) for name in ("compose_service", "container", "unit", "comm"))),
                "unknown")
        series = tuple(sorted(series.items()))
        for profile in (p for scope in resource.scope_profiles for p in scope.profiles):
            kind, unit, period, period_unit = (
                words[i] for i in (profile.sample_type.type_strindex,
                                   profile.sample_type.unit_strindex,
                                   profile.period_type.type_strindex,
                                   profile.period_type.unit_strindex))
            is_ticks = (kind, unit, period, period_unit) == ("samples", "count", "cpu",
                                                             "nanoseconds")
            type_ = CPU if is_ticks else f"memory:{kind}:{unit}:{period}:{period_unit}"
            for sample in profile.samples:
                labels = labels_of(pairs, tuple(sample.attribute_indices), known)
                values = list(sample.values) or [1] * len(sample.timestamps_unix_nano)
                for at, value in zip(sample.timestamps_unix_nano, values):
                    yield Sample(type_, series, labels,
                                 stacks[sample.stack_index],
                                 value * profile.period if is_ticks else value, at // 1_000_000)


def labels_of(pairs, indices, known):
    """The labels of a sample; equal indices return the same tuple object."""
    if indices not in known:
        known[indices] = tuple(sorted(
            (OF_SAMPLE.get(name, name.replace(".", "_")), value)
            for name, value in (pairs[i] for i in indices)))
    return known[indices]


def text_of(value):
    return value.string_value.decode() if value.WhichOneof("value") == "string_value" \
        else str(value.int_value)


def frames_of(dictionary, words, pairs, place):
    """The frames of one location; inlined frames come last."""
    mapping = dictionary.mapping_table[place.mapping_index]
    build_id = dict(pairs[i] for i in mapping.attribute_indices).get(
        "process.executable.build_id.gnu", "")
    path = words[mapping.filename_strindex]
    if not place.lines:
        return [Frame("", "", path, build_id, place.address)]
    functions = [(dictionary.function_table[line.function_index], line.line)
                 for line in reversed(place.lines)]
    return [Frame(words[f.name_strindex], words[f.filename_strindex], path, build_id,
                  place.address, line, i > 0) for i, (f, line) in enumerate(functions)]


# selectors: a type and [(name, operator, value), ...]

def matches(operator, wanted, value):
    found = wanted == value if operator in ("=", "!=") \
        else re.fullmatch(wanted, value, re.DOTALL) is not None
    return found != operator.startswith("!")


def selector_text(type_, matchers):
    quoted = (value.replace("\\", "\\\\").replace('"', '\\"') for _, _, value in matchers)
    inner = ",".join(f'{name}{operator}"{value}"'
                     for (name, operator, _), value in zip(matchers, quoted))
    return f"{type_}{{{inner}}}"


class Selected:
    """The samples that a selector and a window select."""

    def __init__(self, samples, type_, matchers, start_ms, end_ms):
        self.start_ms, self.end_ms = start_ms, end_ms
        self.is_gauge = (type_ or CPU) in GAUGES
        self.all = [sample for sample in samples
                    if sample.type == (type_ or CPU) and start_ms <= sample.time_ms < end_ms]
        selected = {}  # by series and labels, which several samples share
        for sample in self.all:
            if (key := (id(sample.series), id(sample.labels))) not in selected:
                selected[key] = all(matches(operator, value, sample.get(name))
                                 for name, operator, value in matchers)
        self.samples = [sample for sample in self.all
                        if selected[id(sample.series), id(sample.labels)]]

    def __bool__(self):
        return bool(self.samples)

    def merged(self, names=()):
        """[(group, stack, value)]: one entry for each stack and group."""
        keys = {}
        for sample in self.samples:
            exact = tuple((frame, frame.line, frame.inlined) for frame in sample.stack)
            keys[id(sample)] = sample.group(names), exact
        sums = values_of(self, self.samples, lambda sample: keys[id(sample)], self.start_ms,
                         self.end_ms)
        return [(group, tuple(frame for frame, _, _ in stack), value)
                for (group, stack), value in sums.items()]


def values_of(selected, samples, key_of, start_ms, end_ms):
    """{key: value}: the sum of the samples; for a gauge, the mean over [start, end)."""
    sums, by_source = Counter(), Counter()
    for sample in samples:
        sums[key_of(sample)] += sample.value
        by_source[key_of(sample), sample.source] += sample.value
    if not selected.is_gauge:
        return dict(sums)
    times = defaultdict(set)  # of all profiles of a source, also those without a selected sample
    for sample in selected.all:
        if start_ms <= sample.time_ms < end_ms:
            times[sample.source].add(sample.time_ms)
    there = {source: range((min(times[source]) - start_ms) // SLOT_MS,
                           (max(times[source]) - start_ms) // SLOT_MS + 1)
             for source in {source for _, source in by_source}}
    slots = len(set().union(*there.values()))
    means = Counter()
    for (key, source), value in by_source.items():
        means[key] += rounded(value * MILLION * len(there[source]), len(times[source]) * slots)
    return {key: rounded(mean, MILLION) for key, mean in means.items()}


def rounded(value, by):
    """value / by, rounded to the nearest integer, halves up."""
    return (2 * value + by) // (2 * by)


def select(samples, type_, matchers, start_ms, end_ms):
    return Selected(samples, type_, matchers, start_ms, end_ms)


# reports of the selected samples

def flamegraph(selected, names=()):
    """{(root, ..., leaf): value}"""
    sums = Counter()
    for group, stack, value in selected.merged(names):
        frames = tuple(frame.text for frame in stack) or ("[no stack]",)
        sums[tuple(f"{name}={wanted}" for name, wanted in group) + frames] += value
    return dict(sums)


def collapsed(selected, names=()):
    sums = Counter()
    for stack, value in flamegraph(selected, names).items():
        sums[tuple(re.sub(r"[\x00-\x1f\x7f]", "?", part).replace(";", ":")
                   for part in stack)] += value
    return dict(sums)


class Symbols:
    """Which frames are one row of a table: merge=binary of docs/api.md. A symbol is a tuple:
    function, binary, the end of the file's path if files distinguish functions of this name, and
    for a frame without a function its build id."""

    def __init__(self, frames):
        files = defaultdict(set)  # by function, binary and build
        for frame in frames:
            if frame.function:
                files[frame.function, frame.binary, frame.build_id].add(frame.file)
        self.components = defaultdict(int)  # that distinguish files, by function and binary
        for (function, binary, _), of_build in files.items():
            needed = next(count for count in range(len(of_build) > 1, 99)
                          if len({path_end(file, count) for file in of_build}) == len(of_build)
                          or len(of_build) == 1)
            self.components[function, binary] = max(needed, self.components[function, binary])

    def of(self, frame):
        if not frame.function:
            return (frame.text, frame.binary, "", frame.build_id)
        return (frame.function, frame.binary, self.end_of(frame.function, frame.binary, frame.file),
                "")

    def of_row(self, row):
        """The symbol of a row of the response."""
        binary = Frame("", "", row["binary"], "", 0).binary
        if "build_id" in row or row["function"] == "[no stack]":
            return (row["function"], binary, "", row.get("build_id", ""))
        return (row["function"], binary, self.end_of(row["function"], binary, row["file"]), "")

    def end_of(self, function, binary, file):
        count = self.components[function, binary]
        return path_end(file, count) if count else ""


def path_end(path, components):
    return "/".join(path.split("/")[-components:])


def symbols_of(selected, names=()):
    return Symbols(frame for _, stack, _ in selected.merged(names) for frame in stack)


def table(selected, names=()):
    """{(group, symbol): [self, total]}"""
    sums = defaultdict(lambda: [0, 0])
    symbol_of = symbols_of(selected, names).of
    for group, stack, value in selected.merged(names):
        symbols = [symbol_of(frame) for frame in stack] or [("[no stack]", "", "", "")]
        group = tuple(pair for pair in group if pair[1])
        sums[group, symbols[-1]][0] += value
        for symbol in set(symbols):
            sums[group, symbol][1] += value
    return dict(sums)


def pprof(selected, names=()):
    """{(group, stack): value}"""
    sums = Counter()
    for group, stack, value in selected.merged(names):
        sums[tuple(sorted(pair for pair in group if pair[1])), stack] += value
    return dict(sums)


def query_range(selected, start_ms, step_ms, sum_by=None, limit=0):
    """({labels: {milliseconds: value}}, number of series that the limit left out)"""
    def key_of(sample):
        key = sample.series + (("__name__", sample.type),) if sum_by is None else \
            tuple(pair for pair in sample.group(sum_by) if pair[1])
        return tuple(sorted(key))

    steps, lines = defaultdict(list), defaultdict(dict)
    for sample in selected.samples:
        steps[(sample.time_ms - start_ms) // step_ms].append(sample)
    for step, samples in steps.items():
        begin = start_ms + step * step_ms
        for key, value in values_of(selected, samples, key_of, begin, begin + step_ms).items():
            lines[key][begin] = value
    kept = sorted(lines, key=lambda key: -sum(lines[key].values()))[:limit or None]
    return {key: lines[key] for key in kept}, len(lines) - len(kept)


def series(selected):
    return {sample.series + (("__name__", sample.type),) for sample in selected.samples}


# labels: those of series are selected by day, those of samples by millisecond

def on_days(samples, start_ms, end_ms):
    days = range(start_ms // DAY_MS, end_ms // DAY_MS + 1)
    return [sample for sample in samples if sample.time_ms // DAY_MS in days]


def possible(samples, type_, matchers, start_ms, end_ms):
    """Samples of the series that a selector can match, on the days of the window. If a series lacks
    a label that samples of these days have, a matcher on this label counts as matching."""
    near = on_days(samples, start_ms, end_ms)
    open_names = {name for sample in near for name, _ in sample.labels}
    return [sample for sample in near if sample.type == (type_ or CPU)
            and all((name in open_names and name not in dict(sample.series))
                    or matches(operator, value, dict(sample.series).get(name, ""))
                    for name, operator, value in matchers)]


def label_values(samples, name, start_ms, end_ms, match=None):
    near = on_days(samples, start_ms, end_ms) if match is None else \
        possible(samples, *match, start_ms, end_ms)
    found = {dict(sample.series).get(name) for sample in near}
    found |= {dict(sample.labels).get(name) for sample in near
              if start_ms <= sample.time_ms < end_ms}
    return sorted(found - {None, ""})


def label_names(samples, start_ms, end_ms, match=None):
    """(names that must be listed, names that may be): the database knows the names of sample labels
    only per row."""
    near = on_days(samples, start_ms, end_ms)
    selected = near if match is None else possible(samples, *match, start_ms, end_ms)
    must = {name for sample in selected for name, _ in sample.series}
    must |= {name for sample in selected for name, _ in sample.labels
             if match is None or start_ms <= sample.time_ms < end_ms}
    may = must | ({name for sample in near for name, _ in sample.labels} if selected else set())
    return must, may
