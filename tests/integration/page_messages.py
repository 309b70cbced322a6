"""page_messages - a profile to look at: named and unnamed frames, several binaries and services."""
from otlp_messages import PERIOD

KERNEL = "[kernel]"


def page_message(protos, comm, stacks, node="web-1", path=None, build_id="c0ffee" * 6, at_ms=0,
                 apart_ms=1):
    """ProfilesData of one process.

    `stacks` is [((root, ..., leaf), ticks)], a frame is a name, (name, file), or an address in
    `path`. The samples end at at_ms and are apart_ms from each other.
    """
    profiles = protos.profiles
    message = profiles.ProfilesData()
    dictionary = message.dictionary
    strings, locations = {}, {}

    def string(text):
        if text not in strings:
            strings[text] = len(strings)
            dictionary.string_table.append(text.encode())
        return strings[text]

    def attribute(key, value):
        entry = dictionary.attribute_table.add(key_strindex=string(key))
        if isinstance(value, int):
            entry.value.int_value = value
        else:
            entry.value.string_value = value.encode()
        return len(dictionary.attribute_table) - 1

    def location(frame):
        if frame in locations:
            return locations[frame]
        if isinstance(frame, int):
            dictionary.location_table.add(mapping_index=1, address=frame,
                                          attribute_indices=[native])
        else:
            name, file = frame if isinstance(frame, tuple) else (frame, "")
            dictionary.function_table.add(name_strindex=string(name),
                                          filename_strindex=string(file))
            made = dictionary.location_table.add(mapping_index=1, attribute_indices=[managed])
            made.lines.add(function_index=len(dictionary.function_table) - 1)
        locations[frame] = len(dictionary.location_table) - 1
        return locations[frame]

    string("")
    for table in ("mapping", "location", "function", "link", "attribute", "stack"):
        getattr(dictionary, f"{table}_table").add()
    build = attribute("process.executable.build_id.gnu", build_id)
    native = attribute("profile.frame.type", "native")
    managed = attribute("profile.frame.type", "go")
    path = path or f"/usr/bin/{comm}"
    dictionary.mapping_table.add(filename_strindex=string(path), attribute_indices=[build])

    resource = message.resource_profiles.add()
    for key, value in (("host.name", node), ("process.executable.name", comm),
                       ("process.executable.path", path), ("service.name", comm)):
        resource.resource.attributes.add(key=key.encode()).value.string_value = value.encode()
    profile = resource.scope_profiles.add().profiles.add(period=PERIOD)
    profile.sample_type.type_strindex = string("samples")
    profile.sample_type.unit_strindex = string("count")
    profile.period_type.type_strindex = string("cpu")
    profile.period_type.unit_strindex = string("nanoseconds")
    profile.time_unix_nano = at_ms * 1_000_000
    for frames, ticks in stacks:
        indices = [location(frame) for frame in reversed(frames)]
        dictionary.stack_table.add(location_indices=indices)
        times = [(at_ms - i * apart_ms) * 1_000_000 for i in range(ticks)]
        profile.samples.add(stack_index=len(dictionary.stack_table) - 1,
                            timestamps_unix_nano=times)
    return message.SerializeToString()
