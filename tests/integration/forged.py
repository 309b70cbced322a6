# SPDX-License-Identifier: Apache-2.0
"""forged - two programs with one build id: the victim is root's, the attacker a user's."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

NOBODY = 65534

SOURCE = """
#include <stdlib.h>
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline)) void @leaf(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i;
}
__attribute__((noinline)) void @inner(int n)
{
	volatile char room[ROOM];

	room[n] = 1;
	@leaf();
	sink += room[n];
}
__attribute__((noinline)) void @outer(int n) { @inner(n); sink++; }
int main(int argc, char **argv)
{
	double limit = atof(argv[1]);

	while (clock() < limit * CLOCKS_PER_SEC)
		@outer(argc);
	return 0;
}
"""


def compiled(program, build_id, prefix, room, fillers):
    """With DWARF and with frames and addresses that depend on `room` and `fillers`."""
    source = program.with_suffix(".c")
    source.write_text("#include <stdlib.h>\n" + "".join(
        f"int filler{i}(int n) {{ return n > 1 ? filler{i}(n / 2) + rand() : {i}; }}\n"
        for i in range(fillers)) + SOURCE.replace("@", prefix))
    subprocess.run(["gcc", "-g", "-O1", "-fomit-frame-pointer", f"-DROOM={room}",
                    f"-Wl,--build-id=0x{build_id}", source, "-o", program], check=True)
    return program


class Programs:
    """`victim` has symbols only and is root's, `whole` is the same with DWARF. `attacker` has DWARF
    and is a user's. Every user can read the directory; pytest's own are closed to others."""

    def __init__(self):
        self.place = Path(tempfile.mkdtemp(prefix="decima-forged-"))
        self.place.chmod(0o755)
        self.id = os.urandom(20).hex()
        self.whole = compiled(self.place / "whole", self.id, "", 64, 10)
        self.victim = self.place / "victim"
        subprocess.run(["strip", "-g", "-o", self.victim, self.whole], check=True)
        self.attacker = compiled(self.place / "attacker", self.id, "forged_", 4000, 500)
        for path in (self.attacker, self.attacker.with_suffix(".c")):
            os.chown(path, NOBODY, NOBODY)

    def start(self, program, seconds):
        user = NOBODY if program == self.attacker else 0
        return subprocess.Popen([program, str(seconds)], user=user, group=user, extra_groups=[])

    def run(self, seconds, *programs):
        """Run one after another, each for that CPU time; returns the pid of the last."""
        for program in programs:
            with self.start(program, seconds) as process:
                assert process.wait(100) == 0
        return str(process.pid)

    def remove(self):
        shutil.rmtree(self.place)
