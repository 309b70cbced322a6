"""reference - what the querier must answer, by plain loops over the messages of a topic.

Messages are read by protoc's classes; nothing here is shared with the programs under test. Slow,
and meant to be read: rules as docs/api.md and docs/labels.md say them.
"""
import re
from collections import Counter, defaultdict
from dataclasses import dataclass

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
DAY_MS = 86_400_000
OF_SERIES = {"host.name": "node", "process.executable.name": "comm",
             "process.executable.path": "exe", "service.name": "service_name",
             "container.name": "container", "decima.unit": "unit"}
OF_SAMPLE = {"process.pid": "pid", "thread.id": "thread_id", "thread.name": "thread_name",
             "cpu.logical_number": "cpu"}


@dataclass(frozen=True)
class Frame:
    function: str
    file: str
    path: str
    build_id: str
    address: int

    @property
    def text(self):
        return self.function or f"{self.path.rpartition('/')[2] or '[unknown]'}+0x{self.address:x}"

    @property
    def symbol(self):
        """What is one row of a table."""
        if self.function:
            return (self.function, self.path, self.file, "")
        return (self.text, self.path, "", self.build_id)


@dataclass(frozen=True)
class Sample:
    type: str
    series: tuple  # ((name, value), ...), sorted, and so the next
    labels: tuple
    stack: tuple   # of Frame, root first
    value: int
    time_ms: int

    def get(self, name):
        """The value of a label: the series' wins."""
        return dict(self.labels + self.series).get(name, "")

    def group(self, names):
        return tuple((name, self.get(name)) for name in names)


def samples_of(message):
    """The samples of one ProfilesData, one for each timestamp."""
    words = [word.decode() for word in message.dictionary.string_table]
    pairs = [(words[a.key_strindex], text_of(a.value)) for a in message.dictionary.attribute_table]
    frames = [frames_of(message.dictionary, words, pairs, place)
              for place in message.dictionary.location_table]
    stacks = [tuple(frame for place in reversed(stack.location_indices) for frame in frames[place])
              for stack in message.dictionary.stack_table]
    for resource in message.resource_profiles:
        given = {a.key.decode(): text_of(a.value) for a in resource.resource.attributes}
        series = {OF_SERIES.get(name, name.replace(".", "_")): value
                  for name, value in given.items()}
        if not series.get("service_name"):
            series["service_name"] = next(filter(None, (
                series.get(name) for name in ("container", "unit", "comm"))), "unknown")
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
                labels = sorted((OF_SAMPLE.get(name, name.replace(".", "_")), value) for name, value
                                in (pairs[i] for i in sample.attribute_indices))
                values = list(sample.values) or [1] * len(sample.timestamps_unix_nano)
                for at, value in zip(sample.timestamps_unix_nano, values):
                    yield Sample(type_, tuple(sorted(series.items())), tuple(labels),
                                 stacks[sample.stack_index],
                                 value * profile.period if is_ticks else value, at // 1_000_000)


def text_of(value):
    return value.string_value.decode() if value.WhichOneof("value") == "string_value" \
        else str(value.int_value)


def frames_of(dictionary, words, pairs, place):
    """The frames of one location, those inlined last."""
    mapping = dictionary.mapping_table[place.mapping_index]
    build_id = dict(pairs[i] for i in mapping.attribute_indices).get(
        "process.executable.build_id.gnu", "")
    path = words[mapping.filename_strindex]
    if not place.lines:
        return [Frame("", "", path, build_id, place.address)]
    functions = [dictionary.function_table[line.function_index] for line in place.lines]
    return [Frame(words[f.name_strindex], words[f.filename_strindex], path, build_id,
                  place.address) for f in reversed(functions)]


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


def select(samples, type_, matchers, start_ms, end_ms):
    return [sample for sample in samples
            if sample.type == (type_ or CPU) and start_ms <= sample.time_ms < end_ms
            and all(matches(operator, value, sample.get(name))
                    for name, operator, value in matchers)]


# reports: of the samples that were selected

def group_prefix(sample, names):
    return tuple(f"{name}={value}" for name, value in sample.group(names))


def flamegraph(selected, names=()):
    """{(root, ..., leaf): value}"""
    sums = Counter()
    for sample in selected:
        stack = tuple(frame.text for frame in sample.stack) or ("[no stack]",)
        sums[group_prefix(sample, names) + stack] += sample.value
    return dict(sums)


def collapsed(selected, names=()):
    sums = Counter()
    for stack, value in flamegraph(selected, names).items():
        sums[tuple(re.sub(r"[\x00-\x1f\x7f]", "?", part).replace(";", ":")
                   for part in stack)] += value
    return dict(sums)


def table(selected, names=()):
    """{(group, symbol): [self, total]}"""
    sums = defaultdict(lambda: [0, 0])
    for sample in selected:
        symbols = [frame.symbol for frame in sample.stack] or [("[no stack]", "", "", "")]
        group = tuple(pair for pair in sample.group(names) if pair[1])
        sums[group, symbols[-1]][0] += sample.value
        for symbol in set(symbols):
            sums[group, symbol][1] += sample.value
    return dict(sums)


def pprof(selected, names=()):
    """{(group, stack): value}"""
    sums = Counter()
    for sample in selected:
        group = tuple(sorted(pair for pair in sample.group(names) if pair[1]))
        sums[group, sample.stack] += sample.value
    return dict(sums)


def query_range(selected, start_ms, step_ms, sum_by=None, limit=0):
    """({labels: {milliseconds: value}}, how many were left out)"""
    lines = defaultdict(Counter)
    for sample in selected:
        key = sample.series + (("__name__", sample.type),) if sum_by is None else \
            tuple(pair for pair in sample.group(sum_by) if pair[1])
        step = (sample.time_ms - start_ms) // step_ms
        lines[tuple(sorted(key))][start_ms + step * step_ms] += sample.value
    kept = sorted(lines, key=lambda key: -sum(lines[key].values()))[:limit or None]
    return {key: dict(lines[key]) for key in kept}, len(lines) - len(kept)


def series(selected):
    return {sample.series + (("__name__", sample.type),) for sample in selected}


# labels: of series to the day, of samples to the millisecond

def on_days(samples, start_ms, end_ms):
    days = range(start_ms // DAY_MS, end_ms // DAY_MS + 1)
    return [sample for sample in samples if sample.time_ms // DAY_MS in days]


def possible(samples, type_, matchers, start_ms, end_ms):
    """Samples of the series that a selector can mean, on the days of the window: a matcher on a
    label that the series lacks and samples of these days have is left open."""
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
    """(those that must be there, those that may): names of sample labels are known to the row."""
    near = on_days(samples, start_ms, end_ms)
    meant = near if match is None else possible(samples, *match, start_ms, end_ms)
    must = {name for sample in meant for name, _ in sample.series}
    must |= {name for sample in meant for name, _ in sample.labels
             if match is None or start_ms <= sample.time_ms < end_ms}
    may = must | ({name for sample in near for name, _ in sample.labels} if meant else set())
    return must, may
