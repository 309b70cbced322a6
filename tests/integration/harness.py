# SPDX-License-Identifier: Apache-2.0
"""harness - waits, metrics and Cell for the integration tests; conftest.py explains their use."""
import contextlib
import ctypes
import gzip
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import types
import urllib.parse
from pathlib import Path

import confluent_kafka
import confluent_kafka.admin
import psycopg

from local.fleet import SERVICES, Fleet, sweep
from local.process import LIMIT_S
from local.servers import ROOT
from local.services import Service

DEADLINE = LIMIT_S
SLOW = 6  # a promise in seconds may take this many times as long on a busy machine


def waiting(predicate, deadline, what):
    """A generator that yields until predicate() is true, and returns its value.

    The deadline detects a hang. It says nothing about speed: the machine may be busy otherwise.
    An AssertionError in predicate() counts as false; after the deadline it is shown as last seen.
    """
    ends = time.monotonic() + deadline
    while True:
        try:
            value = last = predicate()
        except AssertionError as e:
            value, last = None, e
        if value:
            return value
        if time.monotonic() > ends:
            raise AssertionError(f"not within {deadline} s: {what}; last seen: {last!r}")
        yield


def wait_until(predicate, deadline=DEADLINE, what="the condition", every=0.1):
    """Wait until predicate() is true and return its value; see waiting()."""
    waits = waiting(predicate, deadline, what)
    while True:
        try:
            next(waits)
        except StopIteration as e:
            return e.value
        time.sleep(every)


def stays(predicate, seconds, what="the condition", every=0.2):
    """Fail if predicate() becomes false within `seconds`."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        value = predicate()
        assert value, f"not true for {seconds} s: {what}; now {value!r}"
        time.sleep(every)


def metrics(service):
    """A service's /metrics: {'name' or 'name{label="value"}': number}."""
    status, body = service.get("/metrics")
    assert status == 200, f"/metrics of {service.name}: {status}"
    found = {}
    for line in body.decode().splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            found[name] = float(value)
    return found


def open_socket(service):
    """A connected socket, for requests that a test writes byte by byte."""
    host, port = service.address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=60)


def send(service, path):
    """Send a GET request and return the socket; the caller reads the response later."""
    client = open_socket(service)
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return client


# The samples in all rows that a query may read.
SAMPLES = ("SELECT coalesce(sum(samples), 0)::bigint FROM"
           " (SELECT samples FROM chunk_raw WHERE merged IS NULL"
           " UNION ALL SELECT samples FROM chunk) AS stored")


class Cell:
    """An ingester and a querier with a database and a topic of their own, on shared servers.

    For more services: cell.service("ingester", "second") is a Service that is not yet started.
    """

    def __init__(self, fleet, name, partitions=4, flush_interval="200ms"):
        self.fleet, self.name = fleet, name
        self.database = self.topic = f"test_{name}"
        # After a kill, Kafka waits for the session timeout: as short as a loaded machine allows.
        self.ingester_flags = {"kafka-partitions": partitions, "flush-interval": flush_interval,
                               "kafka-session-timeout": "5s"}
        self.started = []
        self.ingester = self.service("ingester")
        self.querier = self.service("querier")
        self._producer = None
        with psycopg.connect(fleet.postgres.address("postgres"), autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {self.database}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for service in reversed(self.started):
            service.kill()

    @property
    def postgres_address(self):
        return self.fleet.postgres.address(self.database)

    def service(self, kind, suffix=None, flags=None):
        """A further service of this cell; start it with start_service()."""
        name = "-".join(filter(None, (self.name, kind, suffix)))
        given = {}
        if kind == "ingester":
            given = {"kafka-topic": self.topic, "kafka-group": self.topic} | self.ingester_flags
        if kind == "agent":
            given = {"kafka-topic": self.topic}
        service = Service(self.fleet, kind, name, given | (flags or {}))
        self.started.append(service)
        return service

    def start_service(self, service):
        """Start or restart a service and wait until it is ready."""
        service.launch({"DECIMA_POSTGRES": self.postgres_address})
        service.wait_ready(service.ready)
        return service

    def start(self):
        """Start the ingester, which creates the schema and the topic, then the querier."""
        self.start_service(self.ingester)
        self.start_service(self.querier)

    def processes(self):
        return self.started

    # PostgreSQL

    def connect(self):
        """A new psycopg connection in autocommit mode."""
        return psycopg.connect(self.postgres_address, autocommit=True)

    def rows(self, sql, *args):
        with self.connect() as db:
            return db.execute(sql, args).fetchall()

    def samples(self):
        """The number of stored samples in the rows that a query may read."""
        return self.rows(SAMPLES)[0][0]

    # Kafka

    def kafka_settings(self, **more):
        return {"bootstrap.servers": self.fleet.kafka.address(),
                "allow.auto.create.topics": False} | more

    def admin(self):
        return confluent_kafka.admin.AdminClient(
            {"bootstrap.servers": self.fleet.kafka.address()})

    def produce(self, value, key=b"test/host", headers=None, partition=None, topic=None):
        """Produce a message to the topic and wait until Kafka acknowledges it."""
        where = {} if partition is None else {"partition": partition}
        self.produce_all([(value, {"key": key, "headers": headers or {}} | where)], topic)

    def produce_all(self, messages, topic=None):
        """Produce several messages: (value, arguments of Producer.produce)."""
        if self._producer is None:
            self._producer = confluent_kafka.Producer(
                {"bootstrap.servers": self.fleet.kafka.address(), "linger.ms": 0})
        failures = []
        for value, more in messages:
            self._producer.produce(topic or self.topic, value=value, **more,
                                   on_delivery=lambda e, _: failures.append(e) if e else None)
        assert self._producer.flush(DEADLINE) == 0, "Kafka did not acknowledge the messages"
        assert not failures, failures

    def consume(self, topic=None, count=1, deadline=DEADLINE):
        """The first `count` messages of a topic, from its beginning."""
        consumer = confluent_kafka.Consumer(self.kafka_settings(**{
            "group.id": f"test-{os.getpid()}-{time.monotonic_ns()}",
            "auto.offset.reset": "earliest", "enable.auto.commit": False}))
        try:
            consumer.subscribe([topic or self.topic])
            found, ends = [], time.monotonic() + deadline
            while len(found) < count and time.monotonic() < ends:
                message = consumer.poll(0.2)
                if message is not None and not message.error():
                    found.append(message)
            assert len(found) == count, f"{len(found)} of {count} messages on {topic or self.topic}"
            return found
        finally:
            consumer.close()

    def delete_records(self, partition, before):
        """Remove the messages below an offset, as retention does.

        It calls librdkafka directly: Debian's Python client has no such function.
        """
        kafka = ctypes.CDLL("librdkafka.so.1")
        for name in ("conf_new", "new", "topic_partition_list_new", "DeleteRecords_new",
                     "queue_new", "queue_poll"):
            getattr(kafka, f"rd_kafka_{name}").restype = ctypes.c_void_p
        kafka.rd_kafka_topic_partition_list_set_offset.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_int64]
        pointer, why = ctypes.c_void_p, ctypes.create_string_buffer(256)
        topic = self.topic.encode()

        conf = pointer(kafka.rd_kafka_conf_new())
        kafka.rd_kafka_conf_set(conf, b"bootstrap.servers", self.fleet.kafka.address().encode(),
                                why, len(why))
        client = pointer(kafka.rd_kafka_new(0, conf, why, len(why)))
        places = pointer(kafka.rd_kafka_topic_partition_list_new(1))
        kafka.rd_kafka_topic_partition_list_add(places, topic, partition)
        kafka.rd_kafka_topic_partition_list_set_offset(places, topic, partition, before)
        request = pointer(kafka.rd_kafka_DeleteRecords_new(places))
        queue = pointer(kafka.rd_kafka_queue_new(client))
        kafka.rd_kafka_DeleteRecords(client, ctypes.byref(request), 1, None, queue)
        event = pointer(kafka.rd_kafka_queue_poll(queue, DEADLINE * 1000))
        assert event and kafka.rd_kafka_event_error(event) == 0, "records were not deleted"

    # the querier

    def api(self, path, **params):
        """(status, body) of /api/v1/PATH; a list becomes a repeated parameter."""
        query = urllib.parse.urlencode(params, doseq=True)
        return self.querier.get(f"/api/v1/{path}" + (f"?{query}" if query else ""))

    def data(self, path, **params):
        """The `data` of a response that must be a success."""
        status, body = self.api(path, **params)
        assert status == 200, f"{path} {params}: {status} {body[:300]!r}"
        response = json.loads(body)
        assert response["status"] == "success", response
        return response["data"]

    def collapsed(self, query="{}", **params):
        """{(root, ..., leaf): value} of a query."""
        status, body = self.api("query", query=query, report="collapsed", **params)
        assert status == 200, f"{query}: {status} {body[:300]!r}"
        found = {}
        for line in body.decode().splitlines():
            stack, _, value = line.rpartition(" ")
            found[tuple(stack.split(";"))] = int(value)
        return found

    def total(self, query="{}", **params):
        return sum(self.collapsed(query, **params).values())

    def flamegraph(self, query="{}", **params):
        """{(root, ..., leaf): value} of a query's tree; the tree's invariants are checked."""
        data = self.data("query", query=query, report="flamegraph", **params)
        names, nodes = data["names"], data["nodes"]
        assert len({len(column) for column in nodes.values()}) == 1
        paths, below, found = [], [0] * len(nodes["parent"]), {}
        roots = 0
        for at, (parent, name, self_, total) in enumerate(
                zip(nodes["parent"], nodes["name"], nodes["self"], nodes["total"])):
            assert -1 <= parent < at
            paths.append((paths[parent] if parent >= 0 else ()) + (names[name],))
            if parent >= 0:
                below[parent] += total
            else:
                roots += total
            if self_:
                found[paths[at]] = found.get(paths[at], 0) + self_
        assert [s + b for s, b in zip(nodes["self"], below)] == nodes["total"]
        assert sum(nodes["self"]) == roots == data["total"]
        return found

    def pprof(self, protos, query="{}", **params):
        """The profile of a query, parsed."""
        status, body = self.api("query", query=query, report="pprof", **params)
        assert status == 200, f"{query}: {status} {body[:300]!r}"
        profile = protos.pprof.Profile()
        profile.ParseFromString(gzip.decompress(body))
        return profile


@contextlib.contextmanager
def servers_of_a_run(suffix="", without=()):
    """A Fleet of servers that ends with this run; `without` names servers that are not started."""
    runs = ROOT / ".run"
    remove_abandoned(runs)
    fleet = Fleet(runs / f"test-{os.getpid()}{suffix}", tied=True,
                  without=SERVICES,
                  build=os.environ.get("DECIMA_TEST_BUILD", ROOT / "build"))
    fleet.servers = [server for server in fleet.servers if server.name not in without]
    try:
        fleet.start_servers()
        yield fleet
    finally:
        fleet.kill()
        fleet.remove()


def compile_protos(out):
    """The modules that protoc generates from proto/*.proto, by file name."""
    files = sorted((ROOT / "proto").glob("*.proto"))
    assert shutil.which("protoc"), "there is no protoc: run tools/deps.sh"
    subprocess.run(["protoc", f"-I{ROOT / 'proto'}", f"--python_out={out}", *map(str, files)],
                   check=True)
    sys.path.insert(0, str(out))
    return types.SimpleNamespace(**{f.stem: __import__(f"{f.stem}_pb2") for f in files})


def remove_abandoned(runs):
    """End the processes and remove the files of test runs that were killed."""
    for place in runs.glob("test-*"):
        pid = re.fullmatch(r"test-(\d+)(-\w+)?", place.name)
        if not pid or _is_a_run(int(pid[1])):
            continue
        print(f"removing {place}, which a killed run left", file=sys.stderr)
        fleet = Fleet(place, tied=True, without=SERVICES)
        fleet.kill()
        for pid_file in (place / "pid").glob("*"):
            Service(fleet, "querier", pid_file.name).kill()
        unmount_below(place)
        fleet.remove()
        shutil.rmtree(place, ignore_errors=True)
    sweep()


def unmount_below(place):
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in reversed(mounts):
        if mount.startswith(f"{place}/"):
            subprocess.run(["umount", "--lazy", mount], check=False)


def _is_a_run(pid):
    """Whether the process is pytest or a bench."""
    try:
        return b"python" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
