# SPDX-License-Identifier: Apache-2.0
"""otlp_messages - OTLP messages encoded by protoc's classes, independently of our encoder."""
import time

PERIOD = 52_631_578


CPU = (("samples", "count"), ("cpu", "nanoseconds"))
HEAP = (("inuse_space", "bytes"), ("space", "bytes"))


class Message:
    """ProfilesData that is filled step by step; entry 0 of each table exists from the start."""

    def __init__(self, protos):
        self.data = protos.profiles.ProfilesData()
        self.dictionary = self.data.dictionary
        self.strings = {}
        self.string("")
        for table in ("mapping", "location", "function", "link", "attribute", "stack"):
            getattr(self.dictionary, f"{table}_table").add()

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings)
            self.dictionary.string_table.append(text.encode())
        return self.strings[text]

    def attribute(self, key, value):
        entry = self.dictionary.attribute_table.add(key_strindex=self.string(key))
        if isinstance(value, int):
            entry.value.int_value = value
        else:
            entry.value.string_value = value.encode()
        return len(self.dictionary.attribute_table) - 1

    def profile(self, kind, attributes, **fields):
        """A profile, CPU or HEAP, of a resource with these attributes."""
        resource = self.data.resource_profiles.add()
        for key, value in attributes.items():
            resource.resource.attributes.add(key=key.encode()).value.string_value = value.encode()
        profile = resource.scope_profiles.add().profiles.add(**fields)
        for field, (name, unit) in zip((profile.sample_type, profile.period_type), kind):
            field.type_strindex, field.unit_strindex = self.string(name), self.string(unit)
        return profile


def cpu_message(protos, comm, ticks, node="test", build_id="c0ffee", at_ms=None, path="/bin/test",
                pid=1):
    """ProfilesData of `ticks` CPU samples of one process, each PERIOD ns.

    `ticks` is {(root address, ..., leaf address): count}; samples are a millisecond apart and end
    at at_ms (now).
    """
    message = Message(protos)
    dictionary = message.dictionary
    build = message.attribute("process.executable.build_id.gnu", build_id)
    native = message.attribute("profile.frame.type", "native")
    process = message.attribute("process.pid", pid)
    dictionary.mapping_table.add(filename_strindex=message.string(path), attribute_indices=[build])
    profile = message.profile(CPU, {"host.name": node, "process.executable.name": comm,
                                    "process.executable.path": path},
                              period=PERIOD, time_unix_nano=time.time_ns())
    locations = {}
    at = int(time.time() * 1000) if at_ms is None else at_ms
    for stack, count in ticks.items():
        for address in stack:
            if address not in locations:
                dictionary.location_table.add(mapping_index=1, address=address,
                                              attribute_indices=[native])
                locations[address] = len(dictionary.location_table) - 1
        dictionary.stack_table.add(location_indices=[locations[a] for a in reversed(stack)])
        times = [(at - i) * 1_000_000 for i in range(count)]
        profile.samples.add(stack_index=len(dictionary.stack_table) - 1,
                            attribute_indices=[process], timestamps_unix_nano=times)
    return message.data.SerializeToString()


def heap_message(protos, comm, at_ms, sizes=None, node="n1", pid=1):
    """A heap profile of /bin/test; sizes: {stack: bytes in use}, by default 5,000 in one stack."""
    sizes = sizes or {(0x77,): 5000}
    message = protos.profiles.ProfilesData.FromString(
        cpu_message(protos, comm, dict.fromkeys(sizes, 1), node=node, at_ms=at_ms, pid=pid))
    texts = message.dictionary.string_table
    profile = message.resource_profiles[0].scope_profiles[0].profiles[0]
    for field, value in ((profile.sample_type, b"inuse_space"), (profile.period_type, b"space")):
        texts.append(value)
        field.type_strindex = len(texts) - 1
        texts.append(b"bytes")
        field.unit_strindex = len(texts) - 1
    profile.period = 524288
    for sample, size in zip(profile.samples, sizes.values()):
        sample.values.append(size)
    return message.SerializeToString()


def headers(sequence, epoch=1_700_000_000_000_000_000, status=None):
    """The headers of a batch with a sequence number."""
    given = {"decima-epoch": str(epoch).encode(), "decima-seq": str(sequence).encode()}
    return given | ({"decima-status": status} if status is not None else {})
