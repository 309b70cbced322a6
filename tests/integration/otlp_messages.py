# SPDX-License-Identifier: Apache-2.0
"""otlp_messages - OTLP messages by protoc's own classes: an encoder that is not ours."""
import time

PERIOD = 52_631_578


def cpu_message(protos, comm, ticks, node="test", build_id="c0ffee", at_ms=None, path="/bin/test",
                pid=1):
    """ProfilesData of `ticks` CPU samples of one process, each PERIOD ns.

    `ticks` is {(root address, ..., leaf address): count}; samples are a millisecond apart and end
    at at_ms (now).
    """
    profiles = protos.profiles
    message = profiles.ProfilesData()
    dictionary = message.dictionary
    strings = {}

    def string(text):
        if text not in strings:
            strings[text] = len(strings)
            dictionary.string_table.append(text.encode())
        return strings[text]

    string("")
    dictionary.mapping_table.add()
    dictionary.location_table.add()
    dictionary.function_table.add()
    dictionary.link_table.add()
    dictionary.attribute_table.add()
    dictionary.stack_table.add()

    def attribute(key, value):
        entry = dictionary.attribute_table.add(key_strindex=string(key))
        if isinstance(value, int):
            entry.value.int_value = value
        else:
            entry.value.string_value = value.encode()
        return len(dictionary.attribute_table) - 1

    build = attribute("process.executable.build_id.gnu", build_id)
    native = attribute("profile.frame.type", "native")
    process = attribute("process.pid", pid)
    dictionary.mapping_table.add(filename_strindex=string(path), attribute_indices=[build])

    locations = {}
    resource = message.resource_profiles.add()
    for key, value in (("host.name", node), ("process.executable.name", comm),
                       ("process.executable.path", path)):
        resource.resource.attributes.add(key=key.encode()).value.string_value = value.encode()
    profile = resource.scope_profiles.add().profiles.add(
        period=PERIOD, time_unix_nano=time.time_ns())
    profile.sample_type.type_strindex = string("samples")
    profile.sample_type.unit_strindex = string("count")
    profile.period_type.type_strindex = string("cpu")
    profile.period_type.unit_strindex = string("nanoseconds")

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
    return message.SerializeToString()


def heap_message(protos, comm, at_ms, sizes=None, node="n1", pid=1):
    """A heap of /bin/test: {stack: bytes in use}; 5,000 bytes in one stack."""
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
    """The headers of a numbered batch."""
    given = {"decima-epoch": str(epoch).encode(), "decima-seq": str(sequence).encode()}
    return given | ({"decima-status": status} if status is not None else {})
