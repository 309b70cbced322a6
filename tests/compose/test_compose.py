# SPDX-License-Identifier: Apache-2.0
"""`docker compose up`: names at once, replicas that share the work, and nothing lost.

The tests go on from each other, in this order: up, scaled, killed, down and up again.
"""
import concurrent.futures
import contextlib
import json
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import confluent_kafka
import pytest

import shares
from harness import wait_until
from local.building import build
from local.ports import any_free
from local.process import before_exec
from local.servers import ROOT
from local.services import http
from otlp_messages import PERIOD, cpu_message, headers

NODES = ("host", "contained")
BURN = ("main", "outer", "middle", "leaf_a")


@pytest.fixture(scope="module")
def burn():
    """A program of known shape, on the host."""
    build(ROOT / "build")
    with subprocess.Popen([ROOT / "build" / "tests" / "programs" / "burn"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          preexec_fn=before_exec(signal.SIGKILL)) as running:
        yield running
        running.terminate()


class Hosts:
    """Made-up hosts that send numbered batches, so that every partition has work."""

    def __init__(self, fleet, protos, count):
        self.fleet, self.protos = fleet, protos
        self.producer = confluent_kafka.Producer({
            "bootstrap.servers": fleet.kafka, "allow.auto.create.topics": False, "linger.ms": 5})
        self.names = [f"made-{number}" for number in range(count)]
        self.sequence = self.failed = 0

    def send(self, ticks=10):
        """A batch from each, of addresses that no request has named before."""
        self.sequence += 1
        sampled = self.sequence * ticks
        for name in self.names:
            status = self.protos.status.AgentStatus(
                node=name.encode(), version=b"test", sampled=sampled, batch_samples=ticks,
                time_unix_nano=time.time_ns()).SerializeToString()
            stack = {(0x1000 + 16 * self.sequence, 0x200000 + 16 * self.sequence): ticks}
            self.producer.produce(
                "otlp_profiles", key=f"{name}/host".encode(),
                value=cpu_message(self.protos, "made", stack, node=name),
                headers=headers(self.sequence, status=status), on_delivery=self._delivered)
            self.producer.poll(0)

    def _delivered(self, error, _):
        self.failed += error is not None

    def flush(self):
        assert self.producer.flush(60) == 0 and not self.failed

    def sums(self):
        """The sums of them all; None while they do not close."""
        found = self.fleet.hosts()
        if not set(self.names) <= set(found):
            return None
        rows = [found[name] for name in self.names]
        closed = all(row["sampled"] == row["stored"] + row["in_flight"] + sum(row["lost"].values())
                     for row in rows)
        assert closed, rows
        return {name: sum(row[name] for row in rows) for name in ("sampled", "stored", "duplicate")}

    def wait_stored(self, ticks=10):
        everything = self.sequence * ticks * len(self.names)
        wait_until(lambda: (self.sums() or {}).get("stored") == everything,
                   what=f"{everything} samples of made-up hosts", every=0.5)
        return everything


@pytest.fixture(scope="module")
def hosts(fleet, protos):
    return Hosts(fleet, protos, 64)


def test_a_cold_start_ends_in_a_flame_graph_with_names(fleet, burn, figure):
    def named():
        found = fleet.stacks(f'{{comm="burn",node="contained",pid="{burn.pid}"}}')
        return any(stack[-4:] == BURN for stack in found)

    wait_until(named, what="burn's functions by name, through the front proxy", every=0.5)
    figure(f"first flame graph with names through the front proxy: {fleet.began.seconds:.0f} s "
           f"after `docker compose build`, {fleet.started.seconds:.0f} s after `up`")


def test_what_runs_in_containers_is_known_by_its_name(fleet):
    def named():
        found = fleet.data("series", **{"match[]": '{compose_service="kafka"}'})
        assert found
        return found[0]

    kafka = wait_until(named, what="Kafka by the name that Compose gave it", every=0.5)

    container, = fleet.containers("kafka")
    wanted = {"container_id": container, "container": f"{fleet.project}-kafka-1",
              "image": "apache/kafka:4.1.0", "compose_project": fleet.project,
              "service_name": "kafka", "node": "contained"}
    assert {name: kafka.get(name) for name in wanted} == wanted


def test_everything_is_said_to_be_small(fleet, figure):
    sizes, memory = fleet.sizes(), fleet.memory()

    figure("images: " + ", ".join(f"{name} {size}" for name, size in sorted(sizes.items())))
    figure(f"memory: {sum(memory.values()):.0f} MiB in all; "
           + ", ".join(f"{name} {used:.0f}" for name, used in sorted(memory.items())))
    assert len(sizes) == 6
    assert memory["agent"] < 100


def test_the_agent_is_not_privileged_and_the_others_have_no_rights_at_all(fleet):
    for service in ("agent", "ingester", "querier", "symbolizer", "debuginfo", "front"):
        container, = fleet.containers(service)
        about = json.loads(fleet.docker("inspect", container))[0]
        assert not about["HostConfig"]["Privileged"] and about["HostConfig"]["ReadonlyRootfs"]
        pid = about["State"]["Pid"]
        rights = int(re.search(r"CapEff:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())[1], 16)
        # DAC_READ_SEARCH, SYS_PTRACE, SYS_NICE, SYSLOG, PERFMON, BPF, CHECKPOINT_RESTORE
        wanted = {2, 19, 23, 34, 38, 39, 40} if service == "agent" else set()
        assert {bit for bit in range(64) if rights >> bit & 1} == wanted, service


@contextlib.contextmanager
def agent_on_the_host(fleet, directory):
    flags = {"node": "host", "http-address": "127.0.0.1:0", "kafka-brokers": fleet.kafka,
             "state-directory": directory / "state", "bpffs-directory": directory / "bpf"}
    with open(directory / "log", "wb") as log, subprocess.Popen(
            [ROOT / "build/services/agent/decima-agent", *(f"--{k}={v}" for k, v in flags.items())],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=before_exec(signal.SIGTERM)) as running:
        try:
            yield
        finally:
            running.terminate()
            running.wait(60)
            subprocess.run(["umount", "-q", directory / "bpf"], check=False)


def test_the_agent_in_a_container_sees_the_stacks_that_one_on_the_host_sees(
        fleet, burn, tmp_path, figure):
    (tmp_path / "bpf").mkdir()
    query = f'{{comm="burn",pid="{burn.pid}",node="%s"}}'
    began = time.time()
    with agent_on_the_host(fleet, tmp_path):
        def seen():
            found = {node: fleet.stacks(query % node, start=began) for node in NODES}
            return found if all(sum(each.values()) > 15e9 for each in found.values()) else None

        answers = wait_until(seen, what="15 s of burn by both agents", every=1)

    def counted(node):
        """The samples of each stack's user side."""
        found = Counter()
        for stack, value in answers[node].items():
            user = stack[:stack.index("leaf_a") + 1] if "leaf_a" in stack else stack
            found[user] += round(value / PERIOD)
        return found

    host, contained = map(counted, NODES)
    n, m = sum(host.values()), sum(contained.values())
    frequent = {stack for stack in host | contained
                if shares.least((host[stack] + contained[stack]) / (n + m), min(n, m)) > 0}
    figure(f"stacks of one program, by the agents on the host and in a container: {n} and {m} "
           f"samples, {len(frequent)} frequent stacks")
    assert frequent
    for stack in frequent:
        share = (host[stack] + contained[stack]) / (n + m)
        assert shares.least(share, n) <= host[stack] <= shares.most(share, n), stack
        assert shares.least(share, m) <= contained[stack] <= shares.most(share, m), stack


def test_three_ingesters_two_queriers_and_two_symbolizers_share_the_work(fleet, hosts, figure):
    fleet.up("--no-build", "--no-recreate", "--scale", "ingester=3", "--scale", "querier=2",
             "--scale", "symbolizer=2")
    ports = {"ingester": (7072, "decima_ingester_samples_total"),
             "querier": (7070, "decima_querier_queries_total"),
             "symbolizer": (7073, "decima_symbolizer_addresses_total")}

    def done():
        hosts.send()
        hosts.flush()
        for node in hosts.names[:8]:
            fleet.stacks(f'{{node="{node}"}}')
        work = {service: [fleet.metric(c, port, name) for c in fleet.containers(service)]
                for service, (port, name) in ports.items()}
        assert {s: len(done) for s, done in work.items()} == {"ingester": 3, "querier": 2,
                                                              "symbolizer": 2}
        assert all(amount > 0 for each in work.values() for amount in each), work
        return work

    work = wait_until(done, what="every replica has done work", every=1)
    figure("work of the replicas: " + "; ".join(
        f"{service} {'/'.join(f'{n:.0f}' for n in amounts)}" for service, amounts in work.items()))
    hosts.wait_stored()


def test_a_link_made_by_one_querier_opens_at_the_other(fleet):
    first, second = fleet.containers("querier")
    request = json.dumps({"query": '{node="contained"}', "start": time.time() - 60,
                          "end": time.time()})

    made = json.loads(fleet.ask(first, "/api/v1/share", method="POST", body=request))["data"]
    answers = [json.loads(fleet.ask(querier, f"/api/v1/query?share={made['id']}&report=table"))
               for querier in (first, second)]

    assert answers[0]["data"] == answers[1]["data"] and answers[0]["data"]["total"] > 0
    assert b"<html" in fleet.get(f"/s/{made['id']}").lower() or made["url"].endswith(made["id"])


def test_one_of_each_is_killed_and_no_query_fails_and_no_sample_is_lost(fleet, hosts, figure):
    began, asked, victims = time.monotonic(), 0, []
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        for service in ("ingester", "querier", "symbolizer"):
            victim = fleet.containers(service)[0]
            killed = threads.submit(fleet.docker, "kill", victim)
            victims.append(victim)
            while not killed.done() or time.monotonic() < began + 5 * len(victims):
                fleet.stacks(f'{{node="{hosts.names[asked % 64]}"}}')
                asked += 1
                if asked % 20 == 0:
                    hosts.send()
            killed.result()
    hosts.flush()

    everything = hosts.wait_stored()
    sums = hosts.sums()
    total = sum(fleet.stacks('{comm="made"}').values())
    figure(f"one ingester, querier and symbolizer killed: {asked} queries, none failed; "
           f"{sums['sampled']} sampled, {sums['stored']} stored, "
           f"{sums['duplicate']} came twice")
    assert sums["sampled"] == everything and total == everything * PERIOD
    assert not set(victims) & set(fleet.containers("ingester") + fleet.containers("querier"))


def test_down_and_up_again_loses_nothing(fleet, hosts, figure):
    hosts.send()
    hosts.flush()
    everything = hosts.wait_stored()
    sampled = fleet.hosts()["contained"]["sampled"]
    link = json.loads(fleet.ask(fleet.containers("querier")[0], "/api/v1/share", method="POST",
                                body=json.dumps({"query": '{comm="made"}'})))["data"]["id"]

    fleet.compose("down")
    fleet.up("--no-build")

    assert sum(fleet.stacks('{comm="made"}').values()) == everything * PERIOD
    assert fleet.data("query", share=link, report="table")["total"] == everything * PERIOD

    def goes_on():
        agent = fleet.hosts()["contained"]
        return agent if agent["sampled"] > sampled and agent["in_flight"] == 0 else None

    agent = wait_until(goes_on, what="the agent's counts go on", every=0.5)
    figure(f"down and up: {agent['sampled']} samples of the agent sampled, {agent['stored']}"
           f" stored, lost {agent['lost'] or 'none'}")
    assert agent["sampled"] == agent["stored"] + sum(agent["lost"].values())
    assert set(agent["lost"]) == set()
    hosts.send()
    hosts.flush()
    hosts.wait_stored()


def test_a_further_host_joins_by_its_agent_alone(fleet, tmp_path):
    token = tmp_path / "token"
    token.touch(mode=0o600)
    token.write_text(fleet.compose("exec", "-T", "debuginfo", "cat", "/run/decima/token"))
    port = any_free()
    second = {"DECIMA_KAFKA_BROKERS": fleet.kafka, "DECIMA_DEBUGINFO_URL": fleet.debuginfo,
              "DECIMA_DEBUGINFO_TOKEN_FILE": str(token), "DECIMA_NODE": "second",
              "DECIMA_AGENT_ADDRESS": f"127.0.0.1:{port}"}

    with fleet.of_its_own("compose.agent.yaml", second):
        wait_until(lambda: fleet.hosts().get("second", {}).get("stored"),
                   what="samples of the second host", every=0.5)

        def uploads():
            _, text = http(f"http://127.0.0.1:{port}/metrics")
            found = dict(re.findall(r'^decima_agent_debuginfo_uploads_total{outcome="(\w+)"} (\d+)',
                                    text.decode(), re.MULTILINE))
            assert found["refused"] == "0" and found["already_stored"] != "0", found
            return True

        wait_until(uploads, what="debug files that are there already", every=0.5)


def test_nothing_is_left_when_it_is_taken_down(fleet):
    fleet.remove()

    ours = f"label=com.docker.compose.project={fleet.project}"
    left = [fleet.docker(*kind, "-q", "--filter", ours)
            for kind in (("ps", "-a"), ("volume", "ls"), ("network", "ls"))]
    assert left == ["", "", ""]
    assert fleet.volumes() <= fleet.volumes_before, "volumes without a name"
