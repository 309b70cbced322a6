# SPDX-License-Identifier: Apache-2.0
"""An unprivileged user attacks the agent in all ways at once, beside programs of root.

The attack uses all CPUs, so what the agent should see is computed from what the kernel accounts:
the samples of a program from the CPU time of its processes, those of the host from the busy time of
its CPUs. Each sample that was counted must be in a batch, or be lost for a reason. Needs root.
"""
import json
import os
import re
import subprocess
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import shares
from attacks import GROUPS, Attacks
from forged import Programs
from harness import metrics, servers_of_a_run, wait_until
from priority import AUTOGROUP, with_priority
from spooled import SpoolingAgent, expect_balanced, samples_in
from test_forged_build_id import FUNCTIONS, places_of
from test_short_lived import beginnings

pytestmark = pytest.mark.machine

HERTZ = 19  # and batches of 10 s: the defaults, for which the bounds of memory are meant
RSS_MAX = 40 << 20
LOSS_MAX = 0.01
CPU_MAX = 0.12  # of a core: the budget of docs/internals/processes.md, 0.11, and 0.01
CHILDREN_MAX = 12
AFTER = 5  # seconds after the attack, from when on all stacks are whole
VICTIM_NICE = -10  # that of the sampling thread: they get CPU time among dozens of attackers
WARM = 10  # seconds, until the unwind tables of the victims are built
SHORT, LONG, ALONE = 25, 600, 60


@pytest.fixture(scope="module")
def fleet():
    """A run directory without servers."""
    with servers_of_a_run("-attacks", without=("postgres", "redis", "kafka")) as made:
        yield made


@pytest.fixture
def programs():
    made = Programs()
    yield made
    made.remove()


@pytest.fixture
def own(fleet, protos, tmp_path):
    (tmp_path / "state").mkdir()
    made = SpoolingAgent(fleet, "attacked", tmp_path / "state", protos,
                         profiling_cpu_sampling_frequency=HERTZ,
                         profiling_duration="10s")
    yield made
    made.kill()


def status_of(pid):
    """{field: text} of /proc/PID/status; empty if the process is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return {}
    return dict(re.findall(r"^(\w+):\s+(.*)$", text, re.MULTILINE))


def bytes_of(status, field):
    return int(status.get(field, "0 kB").split()[0]) << 10


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy_seconds():
    """The time since boot in which the CPUs ran anything."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
    return sum(int(fields[i]) for i in (1, 2, 3, 6, 7)) / os.sysconf("SC_CLK_TCK")


class Watch(threading.Thread):
    """Looks at the agent all the time: what it responds, its memory, its child processes."""

    def __init__(self, agent):
        super().__init__(daemon=True)
        self.agent, self.is_over = agent, threading.Event()
        self.bad, self.rss, self.slowest, self.checks = [], [], 0.0, 0
        self.children, self.most_children = {}, 0

    def run(self):
        while not self.is_over.wait(0.2):
            self.look()

    def look(self):
        for path in ("/ready", "/healthy"):
            began = time.monotonic()
            status, body = self.agent.service.get(path)
            self.slowest = max(self.slowest, time.monotonic() - began)
            if status != 200:
                self.bad.append((path, status, body))
        self.checks += 1
        self.rss.append((time.monotonic(), bytes_of(status_of(self.agent.pid), "VmRSS")))
        children = self.look_at_children()
        self.most_children = max(self.most_children, children)

    def child_pids(self):
        pids = set()
        for task in Path(f"/proc/{self.agent.pid}/task").iterdir():
            try:
                pids.update((task / "children").read_text(encoding="ascii").split())
            except OSError:
                continue
        return pids

    def look_at_children(self):
        pids = self.child_pids()
        for pid in pids:
            status = status_of(pid)
            name = status.get("Name", "?")
            self.children[name] = max(self.children.get(name, 0), bytes_of(status, "VmHWM"))
        return len(pids)

    def stop(self):
        self.is_over.set()
        self.join()


class Window:
    """What the kernel and the agent counted between two moments."""

    def __init__(self, agent):
        self.agent = agent
        self.began = self.now()

    def now(self):
        found = metrics(self.agent.service)
        return {"time": time.monotonic(), "busy": busy_seconds(),
                "stolen": shares.stolen_seconds(), "cpu": cpu_seconds(self.agent.pid),
                **{name: sum(value for key, value in found.items()
                             if key.partition("{")[0] == f"decima_agent_{name}_total")
                   for name in ("samples", "samples_lost", "sideband_lost", "sideband_skipped",
                                "sideband_muted", "file_requests_refused", "executables_refused",
                                "samples_of_other_series", "processes_scanned")}}

    def close(self):
        now = self.now()
        for name, value in now.items():
            setattr(self, name, value - self.began[name])


class Victim:
    """A process of root, with the times between which its pid was its own."""

    def __init__(self, pid, start, end, cpu, stolen):
        self.pid, self.start, self.end = str(pid), start * 1000, end * 1000
        self.cpu, self.stolen = cpu, stolen

    def own(self, samples):
        """`samples` are a Trial's: by pid."""
        return [s for s in samples[self.pid] if self.start <= s.time_ms <= self.end]


def run_victim(program, seconds):
    """Runs for some time; how much CPU time it gets depends on the other programs."""
    start, stolen = time.time(), shares.stolen_seconds()
    with subprocess.Popen([program, "3600"], preexec_fn=with_priority(VICTIM_NICE)) as process:
        time.sleep(seconds)
        process.kill()
        _, process.returncode, usage = os.wait4(process.pid, 0)
    return Victim(process.pid, start, time.time(), usage.ru_utime + usage.ru_stime,
                  shares.stolen_seconds() - stolen)


class Resident:
    """A program that runs from before the attack until after it."""

    def __init__(self, program):
        self.start, self.stolen = time.time(), shares.stolen_seconds()
        self.process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True,
                                        preexec_fn=with_priority(VICTIM_NICE))

    def end(self):
        self.process.terminate()
        said = json.loads(self.process.communicate()[0])
        return Victim(self.process.pid, self.start, time.time(), said["cpu_seconds"],
                      shares.stolen_seconds() - self.stolen)


class Trial:
    """An attack of some seconds, and what was seen of the victims and of the agent."""

    def __init__(self, agent, attacks, programs, resident):
        self.agent, self.attacks, self.programs = agent, attacks, programs
        self.resident, self.fresh, self.later = resident, [], []
        self.samples = defaultdict(list)  # by pid

    def run(self, groups, seconds):
        self.attacks.prepare(groups)
        resident = Resident(self.resident)
        self.watch = Watch(self.agent)
        try:
            run_victim(self.programs.victim, WARM)
            self.watch.start()
            self.attack(groups, seconds)
            self.attacks.stop()
            self.recover()
        finally:
            self.attacks.stop()
            self.last = resident.end()
        self.watch.stop()
        self.peak = bytes_of(status_of(self.agent.pid), "VmHWM")
        self.agent.stop()
        self.batches = self.agent.batches()
        for sample in samples_in(self.batches):
            self.samples[sample.get("pid")].append(sample)

    def attack(self, groups, seconds):
        self.attacked = time.time()
        late = groups[1:] and groups[-1]
        for group in groups:
            if group != late:
                self.attacks.start(group)
        self.window = Window(self.agent)
        self.load(seconds * 2 / 3)
        if late:
            self.attacks.start(late)
        self.load(seconds / 3)
        self.window.close()

    def load(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.fresh.append(run_victim(self.programs.victim, 1))

    def recover(self):
        time.sleep(AFTER)
        for _ in range(3):
            self.later.append(run_victim(self.programs.victim, 1))


def is_whole(stack):
    """True if the root of a user stack is where its program begins."""
    root = stack[0]
    return any(at <= root.address < at + size for at, size in beginnings(root.path))


class Stacks:
    """The user stacks of `victim` in some of its processes, and what is wrong with them."""

    def __init__(self, samples, victims, programs):
        path, places = str(programs.victim), places_of(programs.victim)
        self.count, self.wrong = 0, Counter()
        for sample in (s for victim in victims for s in victim.own(samples)):
            user = [f for f in sample.stack if not f.function]
            kernel = [f.function for f in sample.stack if f.function]
            if not user or any("execve" in name for name in kernel) or \
                    sample.get("exe") not in (path, ""):
                continue  # between fork and exec
            own = [f for f in user if f.path == path]
            names = [next((n for n, (begin, end) in places.items() if begin <= f.address < end),
                          "?") for f in own]
            self.count += 1
            self.wrong["no program"] += sample.get("exe") != path or not own
            self.wrong["no build id"] += any(not f.build_id for f in own)
            self.wrong["other build id"] += any(f.build_id not in ("", programs.id) for f in own)
            self.wrong["other function"] += "leaf" in names and all(f.build_id for f in own) and \
                names[-4:] != list(FUNCTIONS)[-len(names[-4:]):]
            self.wrong["cut off"] += not is_whole(user)
        self.wrong = +self.wrong


def check_counts(trial, figure):
    sampled, lost = expect_balanced(trial.batches)
    window, ticks = trial.window, HERTZ * trial.window.busy
    figure(f"{sampled} samples taken by the kernel, {lost or 'none'} lost; during the attack "
           f"{window.samples:.0f} of {ticks:.0f} ticks")
    assert sum(lost.values()) <= shares.most(LOSS_MAX, sampled)
    # The agent publishes its count once in a round.
    assert window.samples >= (1 - LOSS_MAX) * ticks - 2 * HERTZ * os.cpu_count()
    for name, victims in (("long", [trial.last]), ("short", trial.fresh)):
        count = sum(len(v.own(trial.samples)) for v in victims)
        cpu, stolen = sum(v.cpu for v in victims), sum(v.stolen for v in victims)
        figure(f"the {name}-running victim: {count} samples of {cpu:.1f} s of CPU time in "
               f"{len(victims)} processes, {100 * (count / (cpu * HERTZ) - 1):+.1f} %")
        assert shares.ticks((1 - LOSS_MAX) * cpu, HERTZ)[0] <= count
        assert count <= shares.ticks(cpu + stolen, HERTZ)[1]


def check_stacks(trial, programs, resident, figure):
    during = Stacks(trial.samples, trial.fresh, programs)
    later = Stacks(trial.samples, trial.later, programs)
    own = [s for s in trial.last.own(trial.samples)
           if s.time_ms > trial.attacked * 1000 and s.get("exe") in (str(resident), "")]
    user = [[f for f in s.stack if not f.function] for s in own]
    whole = sum(bool(stack) and all(f.build_id for f in stack) and is_whole(stack)
                for stack in user)
    figure(f"stacks: {dict(during.wrong) or 'none'} of {during.count} wrong in victims that "
           f"started under attack, {dict(later.wrong) or 'none'} of {later.count} in later ones; "
           f"{whole} of {len(own)} whole in the one that ran before")
    assert not during.wrong["other build id"] and not during.wrong["other function"]
    for what in ("no program", "no build id", "cut off"):
        assert during.wrong[what] <= shares.most(LOSS_MAX, during.count), during.wrong
    assert later.count and not later.wrong
    assert whole >= shares.least(0.99, len(own))


def check_agent(trial, figure):
    watch, window = trial.watch, trial.window
    share = window.cpu / window.time
    rss = [size for _, size in watch.rss]
    figure(f"the agent: {100 * share:.1f} % of a core, RSS {rss[0] >> 20} MiB before, at most "
           f"{max(rss) >> 20}, {rss[-1] >> 20} after, peak {trial.peak >> 20}; slowest response "
           f"{watch.slowest:.1f} s; at most {watch.most_children} children, peaks in MiB "
           f"{ {name: size >> 20 for name, size in sorted(watch.children.items())} }")
    figure("counted: " + ", ".join(f"{name} {value:.0f}" for name, value in vars(window).items()
                                   if name not in ("agent", "began", "time", "cpu", "busy")))
    assert trial.peak <= RSS_MAX
    assert not watch.bad, watch.bad[:5]
    assert share <= CPU_MAX
    assert watch.most_children <= CHILDREN_MAX
    for name in ("decima-agent-op", "decima-agent-re"):
        assert watch.children.get(name, 0) <= RSS_MAX, watch.children


@pytest.mark.skipif(not os.path.exists(AUTOGROUP), reason="no autogroups")
def test_the_agent_has_priority_over_other_sessions_and_its_helpers_do_not(own):
    """A user can make any number of sessions, which else have the same CPU time each."""
    def autogroup(pid):
        """Empty if the process is gone: a helper ends when it is idle."""
        try:
            return Path(f"/proc/{pid}/autogroup").read_text(encoding="ascii").split()
        except OSError:
            return []

    group, _, nice = autogroup(own.pid)
    assert int(nice) == -10
    helpers = wait_until(lambda: list(filter(None, map(autogroup, Watch(own).child_pids()))),
                         what="a helper process")
    assert all(its_group != group and int(its_nice) >= 0 for its_group, _, its_nice in helpers)


ONE_AFTER_ANOTHER = [pytest.param((group,), ALONE, id=group) for group in GROUPS]


# In `make test` the attack would disturb the tests beside it; each attack alone is there.
@pytest.mark.long
@pytest.mark.parametrize("groups, seconds", [
    pytest.param(GROUPS, SHORT, id="all"), pytest.param(GROUPS, LONG, id="all, for 10 minutes"),
    *ONE_AFTER_ANOTHER])
def test_a_user_who_attacks_the_agent_takes_nothing_from_others(
        own, fleet, programs, groups, seconds, figure):
    built = fleet.build / "tests" / "programs"
    trial = Trial(own, Attacks(programs.place, built, programs.attacker, own.pid), programs,
                  built / "burn")

    trial.run(groups, seconds)

    figure(f"{', '.join(groups)} for {trial.window.time:.0f} s:")
    failures = []
    for check in (lambda: check_agent(trial, figure), lambda: check_counts(trial, figure),
                  lambda: check_stacks(trial, programs, built / "burn", figure)):
        try:
            check()
        except AssertionError as failure:  # all figures are shown
            failures.append(str(failure))
    assert not failures, "\n".join(failures)
