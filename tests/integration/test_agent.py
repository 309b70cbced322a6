# SPDX-License-Identifier: Apache-2.0
"""The agent alone: it samples programs of known behaviour into local files, and sends to Kafka.

The counts are random: 19 ticks per second of CPU time; shares.py has their bounds.
"""
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from confluent_kafka.admin import NewTopic

import shares
from harness import Cell, metrics, wait_until
from local_agent import LocalAgent, free_address
from local.services import Service

HERTZ = 19
PERIOD = 10**9 // HERTZ

pytestmark = pytest.mark.machine


@pytest.fixture(scope="module")
def build():
    return Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))


@pytest.fixture(scope="module")
def agent_program(build):
    return build / "services" / "agent" / "decima-agent"


def program(build, name):
    return build / "tests" / "programs" / name


@pytest.fixture(scope="module")
def seen(build, agent_program, protos, tmp_path_factory):
    """Runs a CPU burner, many short-lived shells and compilers; returns all that the agent saw."""
    place = tmp_path_factory.mktemp("agent")
    source, log = place / "some.c", place / "gcc.pids"
    source.write_text("#include <stdio.h>\n#include <stdlib.h>\n" + "".join(
        f"int f{i}(int n) {{ char b[64]; sprintf(b, \"%d\", n); return atoi(b) + {i}; }}\n"
        for i in range(100)))
    (place / "profiles").mkdir()
    agent = LocalAgent(agent_program, place / "profiles",
                       "--metadata-external-labels=zone=test;rack=7", "--node=here")
    spawn = program(build, "spawn")
    commands = {
        "burn": [program(build, "burn"), 15],
        "sh": [spawn, 20, 200, "sh", "-c", "true"],
        "gcc": [spawn, 20, 0, "gcc", "-wrapper", f"{spawn},--log,{log}", "-O1", "-c", source,
                "-o", place / "some.o"],
    }
    stolen = shares.stolen_seconds()
    running = {name: subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, text=True)
               for name, argv in commands.items()}
    stats = {name: json.loads(p.communicate(timeout=200)[0]) for name, p in running.items()}
    stolen = shares.stolen_seconds() - stolen
    counters = subprocess.run(["curl", "-fsS", f"http://{agent.address}/metrics"],
                              capture_output=True, text=True, check=True).stdout
    agent.stop()
    return {"samples": agent.samples(protos), "stats": stats, "counters": counters,
            "stolen": stolen,
            "gcc_pids": set(log.read_text().split()), "log": agent.words()}


def ticks(seen, pids):
    return sum(value for labels, _, value in seen["samples"] if labels.get("pid") in pids) / PERIOD


def symbols(path):
    """[(address, size, name)] of a program's own functions."""
    text = subprocess.run(["nm", "-S", "--defined-only", path], capture_output=True, text=True,
                          check=True).stdout
    found = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [Tt] (\S+)$", text, re.MULTILINE)
    return [(int(at, 16), int(size, 16), name) for at, size, name in found]


def burn_chains(build, seen):
    """{(root, ..., leaf): ticks} of the burner's own frames, named by its own symbol table."""
    path = str(program(build, "burn"))
    table = symbols(path)
    chains = {}
    for labels, frames, value in seen["samples"]:
        if labels.get("pid") != str(seen["stats"]["burn"]["pid"]):
            continue
        names = tuple(next((name for begin, size, name in table if begin <= at < begin + size), "?")
                      for where, _, at, _ in reversed(frames) if where == path)
        chains[names] = chains.get(names, 0) + value / PERIOD
    return chains


def test_the_addresses_of_the_burner_lie_in_its_functions(build, seen):
    chains = burn_chains(build, seen)

    right = sum(n for names, n in chains.items()
                if names[names[:1] == ("_start",):] in {("main", "outer", "middle", "leaf_a"),
                                                    ("main", "outer", "middle", "leaf_b")})
    assert right >= shares.least(0.99, round(sum(chains.values()))), chains


def test_the_leaves_of_the_burner_are_sampled_three_to_one(build, seen):
    leaves = {"leaf_a": 0, "leaf_b": 0}
    for names, n in burn_chains(build, seen).items():
        if names and names[-1] in leaves:
            leaves[names[-1]] += n

    n = round(sum(leaves.values()))
    assert n >= shares.needed(0.75, 0.2)
    assert shares.least(0.75, n) <= leaves["leaf_a"] <= shares.most(0.75, n), leaves


def test_the_total_of_the_burner_is_its_cpu_time(seen):
    stats = seen["stats"]["burn"]

    assert shares.fits_cpu_time(ticks(seen, {str(stats["pid"])}), stats["cpu_seconds"], HERTZ,
                                seen["stolen"])


def test_the_build_id_of_the_burner_is_the_one_that_readelf_prints(build, seen):
    path = str(program(build, "burn"))
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                           check=True).stdout

    build_ids = {build_id for _, frames, _ in seen["samples"]
            for where, build_id, _, _ in frames if where == path}
    assert build_ids == {re.search(r"Build ID: ([0-9a-f]+)", notes)[1]}


def test_shells_that_live_a_millisecond_are_counted_by_pid(seen):
    children = seen["stats"]["sh"]["children"]
    seconds = sum(child[3] for child in children)

    found = ticks(seen, {str(child[0]) for child in children})
    assert shares.fits_cpu_time(found, seconds, HERTZ, seen["stolen"]), (found, seconds)


def test_compilers_and_their_children_are_counted_by_pid(seen):
    children = seen["stats"]["gcc"]["children"]
    seconds = sum(child[3] for child in children)

    found = ticks(seen, {str(child[0]) for child in children} | seen["gcc_pids"])
    assert shares.fits_cpu_time(found, seconds, HERTZ, seen["stolen"]), (found, seconds)


def test_samples_of_new_processes_have_mapped_code_and_the_current_name(seen):
    pids = {str(child[0]) for child in seen["stats"]["sh"]["children"]}
    shells = [(labels, frames) for labels, frames, _ in seen["samples"]
             if labels.get("pid") in pids]
    # frames without a function are user code; the one nearest to the leaf is the thread's position
    leaves = [next((f for f in frames if not f[3]), None) for _, frames in shells]
    user = [leaf for leaf in leaves if leaf]

    assert sum(1 for leaf in user if leaf[0]) >= shares.least(0.97, len(user)), user
    assert {labels["comm"] for labels, _ in shells} <= {"sh", "spawn"}
    assert any(labels.get("exe", "").endswith(("dash", "bash")) for labels, _ in shells)


def test_labels_identify_the_host_and_the_process(seen):
    labels = next(labels for labels, _, _ in seen["samples"]
                  if labels.get("pid") == str(seen["stats"]["burn"]["pid"]))

    assert labels["comm"] == labels["thread_name"] == "burn"
    assert labels["exe"].endswith("/tests/programs/burn")
    assert labels["node"] == "here"
    assert (labels["zone"], labels["rack"]) == ("test", "7")
    assert labels["cgroup"].startswith("/")
    assert labels["thread_id"] == labels["pid"] and labels["cpu"].isdigit()


def test_kernel_frames_have_names_and_no_addresses(seen):
    kernel = {f for _, frames, _ in seen["samples"] for f in frames if f[3]}

    assert kernel
    assert all(address == 0 and function for _, _, address, function in kernel)
    assert any(function.startswith(("do_syscall_64", "el0_svc")) for *_, function in kernel)


def test_no_sample_is_lost(seen):
    lost = [line for line in seen["counters"].splitlines()
            if re.match(r"decima_agent_(samples_lost|sideband_lost)_total", line)]

    assert lost and all(line.endswith(" 0") for line in lost), lost


def run(agent_program, *flags):
    return subprocess.run([agent_program, f"--http-address={free_address()}", *flags],
                          capture_output=True, text=True, check=False, timeout=20)


def test_malformed_external_labels_are_an_error_message(agent_program, tmp_path):
    done = run(agent_program, f"--local-store-directory={tmp_path}",
               "--metadata-external-labels=zone")

    assert done.returncode == 1
    assert '"zone" is not name=value' in done.stderr.replace("\\", "")


@pytest.fixture
def offline(servers, tmp_path):
    """An agent without a Kafka at its address."""
    made = Service(servers, "agent", "lonely-agent", flags={
        "kafka-brokers": "127.0.0.1:1", "state-directory": tmp_path / "state",
        "profiling-duration": "1s"})
    made.launch()
    made.wait_ready(made.ready)
    yield made
    made.kill()


def test_without_kafka_the_agent_starts_and_spools_and_stops_in_time(offline, tmp_path):
    wait_until(lambda: metrics(offline)["decima_agent_spool_batches"] >= 2, what="two batches")
    busy_until = time.monotonic() + 0.5
    while time.monotonic() < busy_until:  # so that the last batch has samples
        pass

    offline.send(signal.SIGTERM)
    wait_until(lambda: not offline.alive(), what="the agent ended")

    assert offline.exit_code() == 0, offline.last_words()
    assert len(list((tmp_path / "state" / "spool").glob("*.batch"))) >= 3


def test_samples_are_counted_before_the_first_batch(servers, tmp_path):
    made = Service(servers, "agent", "early-agent", flags={
        "kafka-brokers": "127.0.0.1:1", "state-directory": tmp_path / "state",
        "profiling-duration": "10m"})
    made.launch()
    try:
        wait_until(lambda: metrics(made)["decima_agent_samples_total"] > 0, what="samples")
        assert metrics(made)["decima_agent_batches_total"] == 0
    finally:
        made.kill()


def test_a_second_agent_with_the_same_state_directory_exits(agent_program, offline, tmp_path):
    done = run(agent_program, f"--state-directory={tmp_path / 'state'}")

    assert done.returncode == 1
    assert str(tmp_path / "state") in done.stderr and "agent" in done.stderr
    assert offline.alive()


def test_an_agent_whose_address_is_in_use_ends_before_it_samples(agent_program, offline, tmp_path):
    """Otherwise its first samples would be lost, and its successor would account for them."""
    state = tmp_path / "other"

    done = run(agent_program, f"--state-directory={state}", f"--http-address={offline.address}")

    assert done.returncode == 1
    assert offline.address in done.stderr and "Address already in use" in done.stderr
    assert not state.exists() and 'msg="sampling"' not in done.stderr
    assert offline.alive()


@pytest.fixture
def kafka(servers):
    """A Cell whose topic has no consumer."""
    with Cell(servers, "agent_spool") as made:
        yield made


def test_a_restarted_agent_sends_spooled_batches_and_continues_counting(kafka, protos, tmp_path):
    cell, topic = kafka, kafka.topic
    made = cell.service("agent", flags={"state-directory": tmp_path / "state",
                                        "kafka-brokers": "127.0.0.1:1",
                                        "profiling-duration": "1s"})
    cell.start_service(made)
    wait_until(lambda: metrics(made)["decima_agent_spool_batches"] >= 2, what="two batches")
    made.stop()
    admin = cell.admin()
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    made.flags["kafka-brokers"] = cell.fleet.kafka.address()
    cell.start_service(made)
    wait_until(lambda: metrics(made)["decima_agent_batches_sent_total"] >= 5, what="five batches")
    made.stop()

    messages = sorted(cell.consume(topic, 5), key=lambda m: int(dict(m.headers())["decima-seq"]))
    headers = [dict(m.headers()) for m in messages]
    statuses = [protos.status.AgentStatus.FromString(h["decima-status"]) for h in headers]

    assert [int(h["decima-seq"]) for h in headers] == [1, 2, 3, 4, 5]
    assert len({h["decima-epoch"] for h in headers}) == 1
    assert len({m.key() for m in messages}) == 1
    spooled = 0
    for status in statuses:
        spooled += status.batch_samples
        assert status.sampled == spooled + sum(c.samples for c in status.lost)
        assert status.frequency_hz == HERTZ
