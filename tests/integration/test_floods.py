# SPDX-License-Identifier: Apache-2.0
"""An unprivileged user floods the kernel's records of processes. Needs root, to start the agent.

The records of all processes of a CPU are in one ring. When it overflows, the agent does not know
what the others have mapped; a victim is a program that starts meanwhile.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import shares
from harness import wait_until
from hostile_elf import long_path, write_small_program
from local.services import http
from local_agent import LocalAgent

pytestmark = pytest.mark.machine

BUILD = Path(os.environ.get("DECIMA_TEST_BUILD", Path(__file__).resolve().parents[2] / "build"))
PROGRAMS = BUILD / "tests" / "programs"
NOBODY = 65534
HERTZ = 97
PERIOD = 10**9 // HERTZ
RSS_MAX = 40 << 20
# CPU time of the agent, of a core; without a limit it was 0.23 and more.
CPU_MAX = 0.08
SERIES_OF_OWNER_MAX = 2000
FILES = 9000


@pytest.fixture
def place():
    """A directory that every user can read; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(prefix="decima-floods-") as path:
        os.chmod(path, 0o755)
        yield Path(path)


@pytest.fixture
def own(request, tmp_path):
    hertz = getattr(request, "param", HERTZ)
    (tmp_path / "profiles").mkdir()
    agent = LocalAgent(BUILD / "services" / "agent" / "decima-agent", tmp_path / "profiles",
                       f"--profiling-cpu-sampling-frequency={hertz}")
    yield agent
    if agent.process.poll() is None:
        agent.process.kill()
        agent.process.wait()


def attack(*argv):
    return subprocess.Popen([str(a) for a in argv], user=NOBODY, group=NOBODY, extra_groups=[],
                            stdout=subprocess.PIPE, text=True)


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak(pid):
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return int(re.search(r"^VmHWM:\s+(\d+) kB$", text, re.MULTILINE)[1]) << 10


def counter(agent, name):
    status, body = http(f"http://{agent.address}/metrics")
    assert status == 200
    return sum(map(int, re.findall(rf"^{re.escape(name)}(?:{{.*}})? (\d+)$", body.decode(),
                                   re.MULTILINE)))


class Victim:
    """A program that starts under the attack and uses a known CPU time."""

    def __init__(self, seconds):
        self.path = str((PROGRAMS / "burn").resolve())
        stolen = shares.stolen_seconds()
        stats = json.loads(subprocess.run([self.path, str(seconds)], capture_output=True,
                                          text=True, check=True).stdout)
        self.stolen = shares.stolen_seconds() - stolen
        self.pid, self.seconds = str(stats["pid"]), stats["cpu_seconds"]

    def check(self, samples):
        own = [(labels, frames, value) for labels, frames, value in samples
               if labels.get("pid") == self.pid]
        count = sum(value for _, _, value in own) / PERIOD
        known = sum(labels.get("exe") == self.path and self.path in {f[0] for f in frames}
                    for labels, frames, _ in own)

        assert shares.fits_cpu_time(count, self.seconds, HERTZ, self.stolen), count
        named = sum(all(build_id for path, build_id, *_ in frames if path == self.path)
                    for _, frames, _ in own)
        assert known >= shares.least(0.9, len(own)), (known, len(own))
        assert named >= shares.least(0.9, len(own)), (named, len(own))
        return f"{known} of {len(own)} samples of the victim with its program"


def long_file(place):
    """A file whose path is nearly as long as the kernel allows."""
    file = long_path(place) / "code"
    file.write_bytes(b"\xc3" * 4096)
    file.chmod(0o644)
    return file


def test_a_process_that_maps_in_a_loop_disturbs_no_other(own, place, protos, figure):
    before, began = cpu_seconds(own.process.pid), time.monotonic()
    with attack(PROGRAMS / "flood", long_file(place), 12, 30000, 12) as flood:
        assert flood.stdout.readline() == "ready\n"
        victim = Victim(4)
        maps = int(flood.stdout.readline())
    used, seconds = cpu_seconds(own.process.pid) - before, time.monotonic() - began
    most = peak(own.process.pid)
    muted = counter(own, "decima_agent_sideband_muted_total")
    lost = counter(own, "decima_agent_sideband_lost_total")
    own.stop()

    figure(f"{maps} mappings in 12 s: {lost} records lost, {muted} muted; the agent used "
           f"{used:.2f} s of CPU time and {most >> 20} MiB; {victim.check(own.samples(protos))}")
    assert muted
    assert most <= RSS_MAX
    assert used <= CPU_MAX * seconds


def test_a_user_who_maps_thousands_of_files_takes_no_place_from_others(own, place, protos, figure):
    for i in range(FILES):
        write_small_program(place / str(i), i + 1)
    before, began = cpu_seconds(own.process.pid), time.monotonic()
    with attack(PROGRAMS / "map_files", place, FILES, 6) as mapper:
        assert mapper.stdout.readline() == "ready\n"
        victim = Victim(2)
        executables = counter(own, "decima_agent_executables")
        refused = counter(own, 'decima_agent_executables_refused_total{owner="user"}')
        others = counter(own, 'decima_agent_executables_refused_total{owner="root"}')
        mapper.kill()
    used, seconds = cpu_seconds(own.process.pid) - before, time.monotonic() - began
    most = peak(own.process.pid)
    own.stop()

    figure(f"{FILES} files mapped in {seconds:.1f} s: {executables} are known, {refused} refused; "
           f"the agent used {used:.2f} s of CPU time and {most >> 20} MiB; "
           f"{victim.check(own.samples(protos))}")
    assert refused and not others
    assert most <= RSS_MAX


def test_forks_by_the_thousand_on_a_loaded_host_disturb_no_other(own, protos, figure):
    before, began = cpu_seconds(own.process.pid), time.monotonic()
    with ExitStack() as running:
        attackers = [running.enter_context(attack(PROGRAMS / "forks", 10, 10)) for _ in range(60)]
        for attacker in attackers:
            running.callback(attacker.kill)
        victim = Victim(0.5)
        forks = sum(int(attacker.communicate()[0]) for attacker in attackers)
    used, seconds = cpu_seconds(own.process.pid) - before, time.monotonic() - began
    most = peak(own.process.pid)
    records = counter(own, "decima_agent_sideband_lost_total")
    taken = counter(own, "decima_agent_samples_total")
    lost = counter(own, "decima_agent_samples_lost_total")
    unknown = counter(own, 'decima_agent_over_limit_total{what="process"}')
    own.stop()

    figure(f"{forks} forks in {seconds:.1f} s: {lost} of {taken} samples and {records} records "
           f"lost; the agent used {used:.2f} s of CPU time and {most >> 20} MiB; "
           f"{victim.check(own.samples(protos))}")
    assert records, "the attack was too weak"
    assert lost <= shares.most(0.001, taken)
    assert not unknown
    assert most <= RSS_MAX
    assert used <= CPU_MAX * seconds


def test_the_sampling_thread_has_priority_and_its_helpers_do_not(own):
    threads = list(Path(f"/proc/{own.process.pid}/task").iterdir())
    nice = {path.name: os.getpriority(os.PRIO_PROCESS, int(path.name)) for path in threads}

    assert nice.pop(str(own.process.pid)) == -10
    for path in threads:
        if (path / "comm").read_text() == "proc_reader\n":  # the sampling thread waits for it
            assert nice.pop(path.name) == -10
    assert nice and set(nice.values()) == {os.getpriority(os.PRIO_PROCESS, 0)}


@pytest.mark.parametrize("own", [997], indirect=True)  # so that seconds are enough
def test_processes_with_ever_new_names_make_a_bounded_number_of_series(own, place, protos, figure):
    late = shutil.copy(PROGRAMS / "burn", place / "late")
    with ExitStack() as running:
        victim = running.enter_context(subprocess.Popen([PROGRAMS / "burn"],
                                                        stdout=subprocess.DEVNULL))
        running.callback(victim.terminate)
        wait_until(lambda: counter(own, "decima_agent_samples_total") > 100, what="samples")
        time.sleep(1)
        attackers = [running.enter_context(attack(PROGRAMS / "rename", f"attacker{i}", 300))
                     for i in range(2)]
        for attacker in attackers:
            running.callback(attacker.kill)
        wait_until(lambda: counter(own, "decima_agent_samples_of_other_series_total") > 500,
                   what="more series than an owner may have")
        late_pid = str(json.loads(subprocess.check_output([late, "1"]))["pid"])
    others = counter(own, "decima_agent_samples_of_other_series_total")
    own.stop()

    found = own.samples(protos)
    comms = {labels["comm"] for labels, _, _ in found}
    of_attackers = {comm for comm in comms if comm.startswith("attacker")}
    figure(f"{len(of_attackers)} values of comm; {others} samples of other")
    assert len(of_attackers) <= SERIES_OF_OWNER_MAX
    assert not any(labels["comm"].startswith("attacker") for labels, _, _ in found
                   if labels.get("pid") in {str(attacker.pid) for attacker in attackers})
    assert others and "other" in comms
    for pid, program in (late_pid, late), (str(victim.pid), PROGRAMS / "burn"):
        assert {labels["comm"] for labels, _, _ in found  # before its exec it is python3
                if labels.get("pid") == pid and labels.get("exe") == str(program)
                } == {Path(program).name}
