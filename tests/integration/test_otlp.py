# SPDX-License-Identifier: Apache-2.0
"""Messages of another encoder: OpenTelemetry's own Go code made them (otlp_go/), and every sample
in them is stored and found.

The messages are committed, so the tests run without Go. If Go is installed, the messages are made
again and must be the same.
"""
import json
import os
import shutil
import struct
import subprocess
import time
from pathlib import Path

import pytest

from harness import wait_until

HERE = Path(__file__).resolve().parent / "otlp_go"
NAMES = ["ticks", "aggregated", "valued"]
BASE = 1790000000000  # the time of the committed messages, Unix ms


def moved(message, offsets, start_ms):
    """The message with its times moved to start_ms: a fixed64 keeps its 8 bytes."""
    for offset in sorted(offsets | {0}):
        old = struct.pack("<Q", (BASE + offset) * 1_000_000)
        message = message.replace(old, struct.pack("<Q", (start_ms + offset) * 1_000_000))
    return message


def selector(sample):
    labels = ",".join(f"{name}={json.dumps(value)}" for name, value in sample["labels"].items())
    return f"{sample['type']}{{{labels}}}"


def seconds(ms):
    return f"{ms // 1000}.{ms % 1000:03}"


@pytest.fixture(scope="module", params=NAMES)
def sent(cell, request):
    """(start in ms, samples) of a message that was produced without our headers."""
    samples = json.loads((HERE / "messages" / f"{request.param}.json").read_text())
    # a window of its own for each message
    start_ms = int(time.time() * 1000) - 60_000 - 10_000 * NAMES.index(request.param)
    offsets = {sample["offset_ms"] for sample in samples}
    cell.produce(moved((HERE / "messages" / f"{request.param}.pb").read_bytes(), offsets, start_ms),
                 key=b"somebody else's")
    total = sum(sample["value"] for sample in samples)
    kinds = {sample["type"] for sample in samples}
    window = {"start": seconds(start_ms), "end": seconds(start_ms + 1000)}
    wait_until(lambda: sum(cell.total(kind + "{}", **window) for kind in kinds) == total,
               what=f"{total} in all of {request.param}")
    return start_ms, samples


def test_every_sample_of_another_encoder_is_found_at_its_time_by_its_labels(cell, sent):
    start_ms, samples = sent
    for sample in samples:
        at = start_ms + sample["offset_ms"]

        found = cell.collapsed(selector(sample), start=seconds(at), end=seconds(at + 1))

        assert found == {tuple(sample["stack"]): sample["value"]}, sample


def test_no_other_samples_are_stored(cell, sent):
    start_ms, samples = sent
    times = {start_ms + sample["offset_ms"] for sample in samples}
    ends = sorted(times)[-1] + 1000
    edges = [start_ms - 1000, *sorted(times), ends]
    for kind in {sample["type"] for sample in samples}:
        for after, before in zip(edges, edges[1:]):
            gap_begins = after + 1 if after in times else after
            assert cell.collapsed(kind + "{}", start=seconds(gap_begins),
                                  end=seconds(before)) == {}, (kind, after, before)


def test_the_committed_messages_equal_those_of_the_encoder(tmp_path):
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if not go:
        pytest.skip("there is no Go here to make the messages again")
    built = subprocess.run([go, "build", "-o", tmp_path / "encode", "."], cwd=HERE, check=False,
                           capture_output=True, text=True, timeout=300,
                           env=os.environ | {"GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"})
    if built.returncode:
        pytest.skip("the encoder cannot be built here: " + built.stderr.strip().splitlines()[-1])
    made = tmp_path / "messages"
    made.mkdir()
    subprocess.run([tmp_path / "encode", made], check=True, timeout=60)

    for name in NAMES:
        for suffix in (".pb", ".json"):
            committed = (HERE / "messages" / (name + suffix)).read_bytes()
            assert (made / (name + suffix)).read_bytes() == committed, name + suffix
