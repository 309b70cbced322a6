# SPDX-License-Identifier: Apache-2.0
"""servers - PostgreSQL, Redis and a one-node Kafka, each private to its run directory.

A server is started without waiting, from the main thread, and waited for later, so that all three
start in parallel. `prepare` creates its data on disk, the first time only.
"""
import hashlib
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
from pathlib import Path

from .process import Process, as_user, clean_environment
from .say import Trouble

ROOT = Path(__file__).resolve().parents[2]
PG_BIN = Path("/usr/lib/postgresql/15/bin")
OUTSIDE = Path("/var/lib/decima-dev")  # data of PostgreSQL if its user cannot access the checkout


class Server(Process):
    title = name = ""
    port_names = ()
    stop_signal, stop_timeout = signal.SIGTERM, 60
    tied_signal = signal.SIGKILL  # sent when a test run ends unexpectedly

    def __init__(self, fleet):
        super().__init__(fleet.run_dir, type(self).name, type(self).title)
        self.fleet = fleet
        for port_name in self.port_names:
            fleet.ports.get(port_name)

    @property
    def port(self):
        return self.fleet.ports.get(self.port_names[0])

    def launch(self):
        """Start it unless it runs; True when it was started."""
        if self.alive():
            return False
        for port_name in self.port_names:
            self.fleet.ports.check_free(port_name, self.title)
        self.start(self.argv(), tied_signal=self.tied_signal if self.fleet.tied else None,
                   **self.start_options())
        return True

    def start_options(self):
        return {}


def run_or_trouble(what, argv, **kwargs):
    """Run a command; if it fails, Trouble with the end of its output."""
    done = subprocess.run([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          cwd=kwargs.pop("cwd", "/"), **kwargs)
    if done.returncode != 0:
        words = "\n".join(f"    {t}" for t in done.stdout.splitlines()[-12:])
        raise Trouble(f"{what} failed with status {done.returncode}:\n{words}")
    return done.stdout


class Postgres(Server):
    name, title = "postgres", "PostgreSQL"
    port_names = ("postgres",)
    stop_signal = signal.SIGINT  # a fast shutdown
    tied_signal = signal.SIGQUIT  # an immediate shutdown, including its children

    @property
    def data(self):
        return self.fleet.run_dir / "postgres"

    def prepare(self):
        if not (PG_BIN / "postgres").exists():
            raise Trouble(f"there is no {PG_BIN}/postgres: run tools/deps.sh")
        if (self.data / "PG_VERSION").exists():
            return
        self._place()
        password = secrets.token_hex(16)
        with open(os.open(self._password_file(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
                  "w", encoding="ascii") as f:
            f.write(password)
        with tempfile.NamedTemporaryFile("w") as copy:  # readable by user postgres
            copy.write(password)
            copy.flush()
            if os.geteuid() == 0:
                shutil.chown(copy.name, "postgres")
            run_or_trouble("initdb", [
                PG_BIN / "initdb", "--pgdata", self.data.resolve(), "--username=decima",
                "--auth=scram-sha-256", f"--pwfile={copy.name}", "--encoding=UTF8",
                "--locale=C.UTF-8", "--no-sync"],
                env=clean_environment(), **as_user("postgres"))
        self._make_database()

    def _place(self):
        """Create the data directory where user postgres can access it.

        This is RUN/postgres if the user can access it. Otherwise, for example below /root,
        RUN/postgres is a link to a directory below /var/lib.
        """
        for half_made in (self.data, self.data.resolve()):
            if half_made.is_dir() and not half_made.is_symlink():
                shutil.rmtree(half_made)
        self.data.unlink(missing_ok=True)
        reach = subprocess.run(["test", "-x", self.fleet.run_dir], check=False, cwd="/",
                               **as_user("postgres"))
        place = self.data
        if reach.returncode != 0:
            key = hashlib.sha256(str(self.data).encode()).hexdigest()[:16]
            place = OUTSIDE / key / "postgres"
            place.parent.mkdir(parents=True, exist_ok=True)
            (place.parent / "belongs-to").write_text(f"{self.data}\n")
            self.data.symlink_to(place)
        place.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(place, "postgres", "postgres")

    def _password_file(self):
        return self.fleet.run_dir / "postgres.password"

    def _make_database(self):
        """createdb without a server: the single-user backend reads SQL from stdin."""
        argv = [PG_BIN / "postgres", "--single", "-F", "-D", self.data.resolve(), "postgres"]
        done = subprocess.run([str(a) for a in argv], input="CREATE DATABASE decima\n", text=True,
                              capture_output=True, check=False, cwd="/", env=clean_environment(),
                              **as_user("postgres"))
        if done.returncode != 0:
            raise Trouble(f"PostgreSQL could not make its database: {done.stderr.strip()}")

    def argv(self):
        settings = {
            "listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "",
            "max_connections": 200, "timezone": "UTC", "log_timezone": "UTC",
            "log_line_prefix": "%m [%p] %q%d ", "cluster_name": "decima",
            "fsync": "off" if self.fleet.tied else "on",
        }
        argv = [PG_BIN / "postgres", "-D", self.data.resolve()]
        for name, value in settings.items():
            argv += ["-c", f"{name}={value}"]
        return argv

    def start_options(self):
        return {"user": "postgres"}

    def ready(self):
        return subprocess.run([PG_BIN / "pg_isready", "-q", "-h", "127.0.0.1", "-p",
                               str(self.port)], check=False).returncode == 0

    def address(self, database="decima"):
        password = self._password_file().read_text().strip()
        return f"postgresql://decima:{password}@127.0.0.1:{self.port}/{database}"


class Redis(Server):
    name, title = "redis", "Redis"
    port_names = ("redis",)

    def prepare(self):
        if not shutil.which("redis-server"):
            raise Trouble("there is no redis-server: run tools/deps.sh")

    def argv(self):
        return [shutil.which("redis-server"), "--bind", "127.0.0.1", "--port", self.port,
                "--save", "", "--appendonly", "no", "--maxmemory", "64mb",
                "--maxmemory-policy", "allkeys-lru"]

    def start_options(self):
        return {"user": "redis"}

    def ready(self):
        return exchange(self.port, b"PING\r\n").startswith(b"+PONG")

    def address(self):
        return f"127.0.0.1:{self.port}"


class Kafka(Server):
    name, title = "kafka", "Kafka"
    port_names = ("kafka", "kafka-controller")
    stop_timeout = 120

    @property
    def data(self):
        return self.fleet.run_dir / "kafka"

    def prepare(self):
        check_java()
        self.jars = fetch_jars()
        self._write_settings()
        if not (self.data / "logs" / "meta.properties").exists():
            shutil.rmtree(self.data / "logs", ignore_errors=True)
            run_or_trouble("formatting Kafka's storage", self._java("64m") + [
                "kafka.tools.StorageTool", "format", "--config", self.data / "server.properties",
                "--cluster-id", "ZGVjaW1hLWxvY2FsLTAwMQ"], env=clean_environment())

    def _java(self, heap):
        return ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                f"-Dlog4j2.configurationFile={self.data}/log4j2.properties",
                "-cp", f"{self.jars}/*"]

    def _write_settings(self):
        self.data.mkdir(parents=True, exist_ok=True)
        listen = f"PLAINTEXT://127.0.0.1:{self.port}"
        controller = f"127.0.0.1:{self.fleet.ports.get('kafka-controller')}"
        settings = {
            "process.roles": "broker,controller", "node.id": 1,
            "controller.quorum.voters": f"1@{controller}",
            "listeners": f"{listen},CONTROLLER://{controller}",
            "advertised.listeners": listen, "controller.listener.names": "CONTROLLER",
            "log.dirs": self.data / "logs",
            # One node, small and fast: no replicas, no delay for further group members.
            "offsets.topic.replication.factor": 1, "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 4,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            # After kill -9 a node waits until its former session expires.
            "broker.session.timeout.ms": 4000, "broker.heartbeat.interval.ms": 500,
            "group.min.session.timeout.ms": 1000,
            "group.initial.rebalance.delay.ms": 0, "auto.create.topics.enable": "false",
            "log.index.size.max.bytes": 1048576, "log.cleaner.dedupe.buffer.size": 8388608,
            "num.network.threads": 2, "num.io.threads": 4,
        }
        text = "".join(f"{k}={v}\n" for k, v in settings.items())
        (self.data / "server.properties").write_text(text)
        (self.data / "log4j2.properties").write_text(
            "status=error\nappender.out.type=Console\nappender.out.name=out\n"
            "appender.out.layout.type=PatternLayout\n"
            "appender.out.layout.pattern=%d{ISO8601} %p %c{1}: %m%n\n"
            "rootLogger.level=warn\nrootLogger.appenderRef.out.ref=out\n"
            "logger.server.name=kafka.server\nlogger.server.level=info\n")

    def argv(self):
        return self._java("512m") + ["kafka.Kafka", self.data / "server.properties"]

    def ready(self):
        """True if it responds to ApiVersions (key 18, version 0), not only accepts connections."""
        client = b"decima"
        request = struct.pack(">hhih", 18, 0, 1, len(client)) + client
        return len(exchange(self.port, struct.pack(">i", len(request)) + request)) > 8

    def address(self):
        return f"127.0.0.1:{self.port}"


def exchange(port, request):
    """Send bytes to a loopback port and return the first response bytes; b"" if there are none."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as s:
            s.sendall(request)
            return s.recv(4096)
    except OSError:
        return b""


def check_java():
    try:
        done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Trouble("there is no java, which Kafka needs: run tools/deps.sh, or put a Java 17 "
                      "or newer into PATH") from None
    version = done.stderr.partition('"')[2].partition('"')[0]
    major = version.split(".")[0]
    if not major.isdigit() or int(major) < 17:
        raise Trouble(f"Kafka needs Java 17 or newer, and `java` is version {version or 'unknown'}")


def fetch_jars():
    """Download Kafka's jars with Maven, once per version of the pom; all fleets share them."""
    pom = ROOT / "deploy" / "kafka" / "pom.xml"
    key = hashlib.sha256(pom.read_bytes()).hexdigest()[:12]
    jars = ROOT / ".run" / "jars" / key
    if jars.exists():
        return jars
    if not shutil.which("mvn"):
        raise Trouble("there is no mvn, which fetches Kafka's jars: run tools/deps.sh")
    half = jars.with_name(f"{key}.{os.getpid()}")
    run_or_trouble("fetching Kafka's jars with Maven (it needs a network the first time)", [
        "mvn", "-B", "-q", "-Dstyle.color=never", "-f", pom, "dependency:copy-dependencies",
        f"-DoutputDirectory={half}"])
    try:
        half.rename(jars)
    except OSError:  # another process was faster
        shutil.rmtree(half)
    return jars
