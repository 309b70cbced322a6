# SPDX-License-Identifier: Apache-2.0
"""engine - Docker for tests: the engine that runs, or one of their own where none does.

Debian 12's engine is too old for CAP_BPF and start_interval, so its successor's is taken: fetched
as packages and unpacked below PLACE, not installed. It has a socket of its own, images that stay
for the next run, and ends with the run that started it, as do the rules and the bridge that it
makes.
"""
import contextlib
import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

from local.process import before_exec, clean_environment
from local.servers import OUTSIDE, ROOT

PLACE = OUTSIDE / "docker"
RUN = Path("/run/decima-docker")
PACKAGES = ("docker.io", "containerd", "docker-cli", "docker-compose", "docker-buildx")
SUITE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] " \
        "http://deb.debian.org/debian trixie main\n"


class NoEngine(Exception):
    """There is none and none can be started: a sentence."""


def run(argv, environment=None, timeout=900, **more):
    """What it printed; an error that shows its end when it fails."""
    done = subprocess.run([str(a) for a in argv], stdin=subprocess.DEVNULL, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                          env=environment, timeout=timeout, **more)
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-25:])
        raise AssertionError(f"`{' '.join(map(str, argv))}` ended with {done.returncode}:\n{tail}")
    return done.stdout


def answers(environment):
    """The version of the engine that answers there, with a compose that can be used; or None."""
    if not shutil.which("docker", path=environment["PATH"]):
        return None
    for argv in (["docker", "compose", "version"],
                 ["docker", "version", "--format", "{{.Server.Version}}"]):
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60,
                              env=environment)
        if done.returncode != 0:
            return None
    return done.stdout.strip()


@contextlib.contextmanager
def engine():
    """(the environment to call `docker` with, whether the engine is the tests' own)."""
    environment = clean_environment()
    if answers(environment):
        yield environment, False
        return
    why = why_not()
    if why:
        raise NoEngine(why)
    PLACE.mkdir(parents=True, exist_ok=True)
    with open(PLACE / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one engine for all test runs
        with started() as environment:
            yield environment, True


def why_not():
    """Why no engine can be started here, or None; local/no_skips.py knows how it begins."""
    if os.environ.get("DECIMA_TEST_DOCKER") == "off":
        return "no Docker engine is wanted: DECIMA_TEST_DOCKER=off"
    if os.geteuid() != 0:
        return "no Docker engine answers, and only root can start one"
    release = Path("/etc/os-release").read_text(encoding="utf-8")
    if "VERSION_CODENAME=bookworm" not in release or os.uname().machine != "x86_64":
        return "no Docker engine answers, and the one for tests is for Debian 12 on x86-64"
    if "overlay" not in Path("/proc/filesystems").read_text(encoding="ascii"):
        return "no Docker engine answers, and this kernel has no overlay file system"
    return None


def fetch():
    """The packages, unpacked; their directory."""
    unpacked = PLACE / "engine"
    if unpacked.exists():
        return unpacked
    half = PLACE / "engine.half"
    shutil.rmtree(half, ignore_errors=True)
    (half / "lists" / "partial").mkdir(parents=True)
    (half / "trixie.list").write_text(SUITE, encoding="ascii")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={half}/trixie.list",
           "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={half}/lists",
           "-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=",
           "-o", "APT::Sandbox::User=root"]
    run([*apt, "update"])
    run([*apt, "download", *PACKAGES], cwd=half)
    for package in half.glob("*.deb"):
        run(["dpkg-deb", "-x", package, half / "root"])
    (half / "root").rename(unpacked)
    shutil.rmtree(half)
    return unpacked


@contextlib.contextmanager
def started():
    try:
        run([ROOT / "tools" / "deps.sh", "docker"])
        unpacked = fetch()
    except AssertionError as e:
        why = str(e).splitlines()[-1]
        raise NoEngine(f"no Docker engine answers, and none could be fetched: {why}") from None
    RUN.mkdir(mode=0o700, exist_ok=True)
    environment = client_environment(unpacked)
    before = Path("/proc/sys/net/ipv4/ip_forward").read_text(encoding="ascii")
    bare = not run(["iptables-save"]).strip()
    with open(RUN / "log", "wb") as log:
        # It is asked to end when this process dies, however it does.
        daemon = subprocess.Popen(
            ["dockerd", f"--data-root={PLACE}/data", f"--exec-root={RUN}/exec",
             f"--pidfile={RUN}/pid", f"--host=unix://{RUN}/docker.sock"],
            env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=before_exec(signal.SIGTERM))
    try:
        wait_for(daemon, environment)
        yield environment
    finally:
        daemon.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.wait(60)
        daemon.kill()
        daemon.wait()
        tidy(before, bare)


def client_environment(unpacked):
    configuration = RUN / "client"
    configuration.mkdir(exist_ok=True)
    plugins = unpacked / "usr" / "libexec" / "docker" / "cli-plugins"
    (configuration / "config.json").write_text(
        json.dumps({"cliPluginsExtraDirs": [str(plugins)]}), encoding="ascii")
    path = f"{unpacked}/usr/bin:{unpacked}/usr/sbin:{os.environ['PATH']}:/usr/sbin:/sbin"
    return clean_environment() | {"PATH": path, "DOCKER_HOST": f"unix://{RUN}/docker.sock",
                                  "DOCKER_CONFIG": str(configuration)}


def wait_for(daemon, environment):
    ends = time.monotonic() + 60
    while not answers(environment):
        if daemon.poll() is not None or time.monotonic() > ends:
            words = (RUN / "log").read_text(errors="replace").splitlines()[-3:]
            raise NoEngine("no Docker engine answers, and one could not be started: "
                           + " / ".join(words))
        time.sleep(0.2)


def tidy(forwarding, bare):
    """Take back what the engine set on this machine: rules that name it, bridge, forwarding."""
    for table in ("nat", "filter"):
        rules = run(["iptables", "-t", table, "-S"]).splitlines()
        for rule in rules:
            if rule.startswith("-A") and ("DOCKER" in rule or "docker0" in rule):
                run(["iptables", "-t", table, "-D", *shlex.split(rule)[1:]])
        for rule in rules:
            if rule.startswith("-N DOCKER"):
                run(["iptables", "-t", table, "-X", rule.split()[1]])
    if bare:
        run(["iptables", "-P", "FORWARD", "ACCEPT"])
    for mount in (RUN / "exec" / "netns").glob("*"):
        subprocess.run(["umount", "-q", mount], check=False)
    for link in Path("/sys/class/net").glob("docker0"):
        run(["ip", "link", "delete", link.name])
    Path("/proc/sys/net/ipv4/ip_forward").write_text(forwarding, encoding="ascii")
