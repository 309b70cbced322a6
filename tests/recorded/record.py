#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record batches of a real agent under a mixed load, for the tests and benches that replay them.

    tests/recorded/record.py                    as root; writes mixed.otlp.xz beside this file
    tests/recorded/record.py --batches 60 --hz 97 --out FILE

The load is what Debian has: compilers, PostgreSQL under pgbench, Redis under its benchmark, Kafka's
JVM, Python, Perl, Node, openssl, xz, shells by the hundred. Of each batch is kept what ran from
/usr, and of its attributes none that names this machine: host, control groups, containers, units.
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "tools"), str(HERE)]

from confluent_kafka.admin import NewTopic  # noqa: E402  (the path comes first)

import recording  # noqa: E402
from harness import Cell, compile_protos, metrics, servers_of_a_run, wait_until  # noqa: E402

COMMS = {"cc1", "cc1plus", "as", "sh", "postgres", "pgbench", "redis-server", "redis-benchmark",
         "java", "python3", "perl", "node", "openssl", "xz", "sort", "sqlite3"}
KEPT = {"host.name", "process.executable.name", "process.executable.path"}
CXX = "#include <regex>\n#include <map>\nint main() { return std::regex(\"a+\").flags(); }\n"
C = "#include <libelf.h>\n#include <pthread.h>\n" + "".join(
    f"static int f{i}(int *a) {{ for (int i = 0; i < {i}; i++) a[i] += a[i / 2]; return a[0]; }}\n"
    f"int g{i}(int *a) {{ return f{i}(a) + {i}; }}\n" for i in range(300))
PYTHON = """
import compileall, json, re, tempfile
cache = tempfile.mkdtemp()
import sys; sys.pycache_prefix = cache
while True:
    compileall.compile_dir('/usr/lib/python3.11/json', force=True, quiet=2, workers=1)
    data = [{'a': i, 'b': str(i) * 3} for i in range(20000)]
    json.loads(json.dumps(data)); sorted(str(x) for x in data)
    re.findall(r'(\\w+)-(\\d+)', 'abc-123 x ' * 20000)
"""
NODE = """
function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
for (;;) {
  f(24);
  JSON.parse(JSON.stringify(Array.from({length: 20000}, (_, i) => ({i, s: 'x' + i}))));
  [...Array(50000).keys()].map(String).sort();
}
"""
PERL = "while (1) { my %h; $h{$_ % 977} .= chr(65 + $_ % 26) for 1 .. 50000; " \
       "my @s = sort map { lc } values %h; }"
SQL = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 300000) " \
      "SELECT count(DISTINCT x % 1013) FROM c"


def load(fleet, place):
    """The programs' command lines; each is started again when it ends."""
    (place / "a.cc").write_text(CXX)
    (place / "a.c").write_text(C)
    redis = fleet.redis.address().rpartition(":")[2]
    bench = fleet.postgres.address("bench")
    return [
        f"while :; do gcc -O2 -c {place}/a.c -o /dev/null; done",
        f"while :; do g++ -O1 -c {place}/a.cc -o /dev/null; done",
        "while :; do sh -c true; sh -c 'echo a | sort'; done",
        f"while :; do pgbench -n -c 4 -T 1000 '{bench}'; done",
        f"while :; do redis-benchmark -q -p {redis} -c 20 -n 200000; done",
        "while :; do openssl speed -seconds 1 rsa2048 sha256 aes-128-gcm; done",
        "while :; do xz -6 -c /usr/bin/gdb; done",
        "while :; do sort -R /usr/share/perl/5.36/unicore/Name.pl; done",
        f"while :; do sqlite3 :memory: '{SQL}'; done",
        ["/usr/bin/python3", "-c", PYTHON], ["/usr/bin/node", "-e", NODE],
        ["/usr/bin/perl", "-e", PERL],
    ]


def take(fleet, args, place):
    """(Messages of an agent, while the load runs.)"""
    with Cell(fleet, "record") as cell:
        admin = cell.admin()
        admin.create_topics([NewTopic(cell.topic, 1, 1)])[cell.topic].result()
        with cell.connect() as db:
            db.execute("CREATE DATABASE bench")
        subprocess.run(["pgbench", "-i", "-q", fleet.postgres.address("bench")], check=True,
                       stderr=subprocess.DEVNULL)
        running = [subprocess.Popen(argv, shell=isinstance(argv, str), start_new_session=True,
                                    cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                   for argv in load(fleet, place)]
        try:
            agent = cell.start_service(cell.service("agent", flags={
                "profiling-cpu-sampling-frequency": args.hz, "profiling-duration": args.interval,
                "node": "recorded"}))
            wait_until(lambda: metrics(agent)["decima_agent_batches_sent_total"] > args.batches,
                       1200, f"{args.batches} batches", every=1)
        finally:
            for process in running:
                os.killpg(process.pid, 9)
                process.wait()
        agent.stop()
        return [message.value() for message in cell.consume(cell.topic, args.batches + 1)[1:]]


class Clean:
    """A batch again, with what may be kept and a dictionary of that alone."""

    def __init__(self, protos, data):
        self.old = protos.profiles.ProfilesData.FromString(data)
        self.new = protos.profiles.ProfilesData()
        self.words, self.moved = {}, {}
        self.word(0)
        for table in ("mapping", "location", "function", "link", "attribute", "stack"):
            self.entry(table, 0)
        for resource in self.old.resource_profiles:
            if self.is_wanted(resource):
                self.resource(resource)

    def text(self, index):
        return self.old.dictionary.string_table[index].decode()

    def word(self, index):
        if index not in self.words:
            self.words[index] = len(self.words)
            self.new.dictionary.string_table.append(self.old.dictionary.string_table[index])
        return self.words[index]

    def entry(self, table, index):
        """Copy the entry of a table and all entries that it references. Returns its new index."""
        if (table, index) in self.moved:
            return self.moved[table, index]
        old = getattr(self.old.dictionary, f"{table}_table")[index]
        new = type(old)()
        new.CopyFrom(old)
        for field in old.DESCRIPTOR.fields:
            name = field.name
            if name.endswith("_strindex"):
                setattr(new, name, self.word(getattr(old, name)))
            elif name.endswith("_index"):
                setattr(new, name, self.entry(name.removesuffix("_index"), getattr(old, name)))
            elif name.endswith("_indices"):
                getattr(new, name)[:] = [self.entry(name.removesuffix("_indices"), i)
                                         for i in getattr(old, name)]
        for old_line, new_line in zip(getattr(old, "lines", ()), getattr(new, "lines", ())):
            new_line.function_index = self.entry("function", old_line.function_index)
        entries = getattr(self.new.dictionary, f"{table}_table")
        entries.append(new)
        self.moved[table, index] = len(entries) - 1
        return self.moved[table, index]

    @staticmethod
    def is_wanted(resource):
        given = {a.key.decode(): a.value.string_value.decode()
                 for a in resource.resource.attributes}
        return given.get("process.executable.name") in COMMS \
            and given.get("process.executable.path", "").startswith("/usr/")

    def is_plain(self, sample):
        """Whether all of its files are the distribution's."""
        tables = self.old.dictionary
        paths = {self.text(tables.mapping_table[tables.location_table[i].mapping_index]
                           .filename_strindex)
                 for i in tables.stack_table[sample.stack_index].location_indices}
        return all(path.startswith(("/usr/", "[")) or not path for path in paths)

    def resource(self, old):
        new = self.new.resource_profiles.add()
        new.CopyFrom(old)
        kept = [a for a in old.resource.attributes if a.key.decode() in KEPT]
        del new.resource.attributes[:]
        new.resource.attributes.extend(kept)
        for profile in (p for scope in new.scope_profiles for p in scope.profiles):
            samples = [s for s in profile.samples if self.is_plain(s)]
            del profile.samples[:]
            for sample in samples:
                sample.stack_index = self.entry("stack", sample.stack_index)
                sample.attribute_indices[:] = [self.entry("attribute", i)
                                               for i in sample.attribute_indices]
            profile.samples.extend(samples)
            for kind in (profile.sample_type, profile.period_type):
                kind.type_strindex = self.word(kind.type_strindex)
                kind.unit_strindex = self.word(kind.unit_strindex)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--batches", type=int, default=72)
    parser.add_argument("--interval", default="4s", help="of a batch")
    parser.add_argument("--hz", type=int, default=99)
    parser.add_argument("--out", type=Path, default=recording.FILE)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, \
            servers_of_a_run("-record") as fleet:
        os.chmod(scratch, 0o755)
        protos = compile_protos(scratch)
        batches = take(fleet, args, Path(scratch))
    clean = [Clean(protos, batch).new for batch in batches]
    recording.write(args.out, [batch.SerializeToString() for batch in clean])
    counts = collections.Counter()
    for resource in (r for batch in clean for r in batch.resource_profiles):
        comm = next(a.value.string_value.decode() for a in resource.resource.attributes
                    if a.key == b"process.executable.name")
        counts[comm] += sum(len(s.timestamps_unix_nano) for scope in resource.scope_profiles
                            for p in scope.profiles for s in p.samples)
    print(f"{len(clean)} batches, {sum(counts.values())} samples, "
          f"{args.out.stat().st_size} bytes in {args.out}")
    print(", ".join(f"{comm} {count}" for comm, count in counts.most_common()))


if __name__ == "__main__":
    main()
