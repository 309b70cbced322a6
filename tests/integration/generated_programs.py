# SPDX-License-Identifier: Apache-2.0
"""generated_programs - programs of random shape whose stacks, and their shares, are known.

A program is a tree of functions. Each leaf of the tree uses a known part of the CPU time. An edge
of the tree is a direct call, a call by pointer, a recursion, or a call by bsearch() (C and C++).
The tree may be in a thread. All functions are named fn_N, so the stacks of a sample are compared
with the paths of the tree by these numbers alone.

What is drawn: the tree, the language, the compiler and its flags, and where the debug info is. The
same seed draws the same programs.
"""
import dataclasses
import os
import random
import re
import subprocess
from pathlib import Path

from unwind_programs import make, tool

FUNCTION = re.compile(r"\bfn_(\d+)\b")
EDGES = ["call", "call", "pointer", "recursion", "bsearch"]
RECURSIONS = 7
ROUND_STEPS = 400_000  # of the loop, in all leaves of one round together: about 0.5 ms


@dataclasses.dataclass
class Node:
    number: int
    edge: str = "call"  # how its caller calls it
    children: list = dataclasses.field(default_factory=list)
    weight: int = 0  # of a leaf
    is_inlined: bool = False

    @property
    def name(self):
        return f"fn_{self.number}"

    def each(self):
        yield self
        for child in self.children:
            yield from child.each()


def draw_tree(rng, kinds, may_inline):
    """The functions below main()."""
    numbers = iter(rng.sample(range(100, 1000), 60))

    def grow(depth):
        node = Node(next(numbers), rng.choice(kinds))
        count = 0 if depth <= 0 else rng.choice([1, 1, 1, 2])
        node.children = [grow(depth - 1) for _ in range(count)]
        node.weight = 0 if count else rng.randint(1, 9)
        node.is_inlined = may_inline and node.edge == "call" and rng.random() < 0.25
        return node

    return [grow(rng.randint(0, 6)) for _ in range(rng.randint(1, 3))]


@dataclasses.dataclass
class Program:
    """A built program. .paths: {(numbers from the root to a leaf): share of the CPU time}."""
    language: str
    recipe: str  # compiler and flags, for messages
    path: Path
    paths: dict

    def allows(self, numbers):
        """Whether a sample may have these functions: a path, or its beginning."""
        return any(path[:len(numbers)] == numbers for path in self.paths)

    def allows_end(self, numbers):
        """Whether a stack that was cut off may have these functions: a part of a path."""
        return any(path[at:at + len(numbers)] == numbers for path in self.paths
                   for at in range(len(path)))


def paths_of(roots):
    found = {}

    def walk(node, before):
        own = (node.number,) * (RECURSIONS + 1 if node.edge == "recursion" else 1)
        if node.weight:
            found[before + own] = node.weight
        for child in node.children:
            walk(child, before + own)

    for root in roots:
        walk(root, ())
    total = sum(found.values())
    return {path: weight / total for path, weight in found.items()}


def steps_of(node, total):
    return ROUND_STEPS * node.weight // total


class Writer:
    """Writes the source of a tree; subclasses know a language."""
    kinds = ["call", "pointer", "recursion"]
    may_thread = False

    def __init__(self, roots, thread):
        self.roots, self.thread = roots, thread
        self.total = sum(node.weight for root in roots for node in root.each())

    def source(self):
        nodes = [node for root in self.roots for node in reversed(list(root.each()))]
        return self.HEAD + "".join(map(self.function, nodes)) + self.main()


class C(Writer):
    kinds = EDGES
    may_thread = True
    HEAD = """\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;
static int one = 1;
/* That of the C library, not of its header. */
static void *(*volatile search)(const void *, const void *, size_t, size_t,
				int (*)(const void *, const void *)) = bsearch;

/* One loop for all leaves: the same steps in another place may cost twice as much. */
__attribute__((noinline)) static void spend(unsigned long steps)
{
	for (unsigned long i = 0; i < steps; i++)
		sink += i;
}

static double used(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}
"""

    def declare(self, name, is_inlined):
        how = "static inline __attribute__((always_inline))" if is_inlined else \
            "__attribute__((noinline))"
        return f"{how} int {name}(int n)"

    def spin(self, node):
        return f"\tspend({steps_of(node, self.total)});\n"

    def call(self, child):
        if child.edge == "pointer":
            return f"\tresult += (*(int (*volatile *)(int))&to_{child.name})(n);\n"
        if child.edge == "bsearch":
            return f"\tsearch(&one, &one, 1, sizeof(one), by_{child.name});\n"
        if child.edge == "recursion":
            return f"\tresult += {child.name}({RECURSIONS});\n"
        return f"\tresult += {child.name}(n);\n"

    def around(self, node):
        """What a call of this kind needs after the function."""
        if node.edge == "pointer":
            return f"static int (*to_{node.name})(int) = {node.name};\n"
        if node.edge == "bsearch":
            return (f"static int by_{node.name}(const void *a, const void *b)\n"
                    f"{{\n\tsink += {node.name}(a != b);\n\treturn 0;\n}}\n")
        return ""

    def function(self, node):
        body = "".join(map(self.call, node.children)) or self.spin(node)
        if node.edge == "recursion":
            body = (f"\tif (n > 0) {{\n\t\tresult += {node.name}(n - 1);\n\t\tsink += result;\n"
                    f"\t\treturn result;\n\t}}\n") + body
        return (f"\n{self.declare(node.name, node.is_inlined)}\n{{\n\tint result = n;\n{body}"
                f"\tsink += result;\n\treturn result + {node.number};\n}}\n{self.around(node)}")

    def main(self):
        calls = "".join(map(self.call, self.roots))
        threads = self.thread and (
            "\tpthread_t thread;\n\tpthread_create(&thread, NULL, in_thread, &end);\n"
            "\tpthread_join(thread, NULL);\n") or "\tin_thread(&end);\n"
        return f"""
static void *in_thread(void *end)
{{
	int n = 1, result = 0;

	while (used() < *(double *)end) {{
{calls}	sink += result;
	}}
	return NULL;
}}

int main(int argc, char **argv)
{{
	double end = used() + (argc > 1 ? atof(argv[1]) : 1);

{threads}	printf("%f\\n", used());
	return 0;
}}
"""


class Cpp(C):
    """Functions are static members of a template in a namespace."""
    HEAD = C.HEAD.replace("#include <pthread.h>", "#include <pthread.h>\n#include <vector>") + """
namespace tree {
template <typename T> struct Box { std::vector<T> items; };
}
"""

    def declare(self, name, is_inlined):
        how = "inline __attribute__((always_inline))" if is_inlined else "__attribute__((noinline))"
        return f"namespace tree {{ {how} int {name}(int n, const Box<long> &box = {{}}); }}\n" \
               f"{how} int tree::{name}(int n, const Box<long> &box)"

    def call(self, child):
        if child.edge in ("call", "recursion"):
            given = RECURSIONS if child.edge == "recursion" else "n"
            return f"\tresult += tree::{child.name}({given});\n"
        return super().call(child)

    def around(self, node):
        if node.edge == "pointer":
            return (f"static int by_{node.name}(int n)\n{{\n\tint result = tree::{node.name}(n);\n"
                    f"\tsink += result;\n\treturn result;\n}}\n"
                    f"static int (*to_{node.name})(int) = by_{node.name};\n")
        return super().around(node).replace(f"+= {node.name}", f"+= tree::{node.name}")

    def function(self, node):
        return super().function(node).replace(f"result += {node.name}(n - 1)",
                                              f"result += tree::{node.name}(n - 1, box)")


class Rust(Writer):
    HEAD = """\
use std::hint::black_box;

#[repr(C)]
struct Timespec { seconds: i64, nanoseconds: i64 }
extern "C" { fn clock_gettime(clock: i32, time: *mut Timespec) -> i32; }

#[inline(never)]
fn spend(steps: u64) -> u64 {
    let mut result = 0u64;
    for i in 0..steps { result = black_box(result.wrapping_add(i)); }
    result % 1000
}

fn used() -> f64 {
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(2, &mut now); }
    now.seconds as f64 + now.nanoseconds as f64 / 1e9
}
"""

    def call(self, child):
        if child.edge == "pointer":
            return f"    result += (black_box({child.name} as fn(u64) -> u64))(n);\n"
        given = RECURSIONS if child.edge == "recursion" else "n"
        return f"    result += {child.name}({given});\n"

    def function(self, node):
        body = "".join(map(self.call, node.children)) or (
            f"    result += spend({steps_of(node, self.total)});\n")
        if node.edge == "recursion":
            body = (f"    if n > 0 {{ result = black_box({node.name}(n - 1)); "
                    f"return black_box(result); }}\n") + body
        how = "#[inline(always)]" if node.is_inlined else "#[inline(never)]"
        return (f"\n{how}\nfn {node.name}(n: u64) -> u64 {{\n"
                f"    let mut result: u64 = n % 2;\n{body}    result %= 1000;\n"
                f"    black_box(result + {node.number})\n}}\n")

    def main(self):
        calls = "".join(map(self.call, self.roots)).replace("    ", "        ")
        return f"""
fn main() {{
    let end = used() + std::env::args().nth(1).map_or(1.0, |text| text.parse().unwrap());
    let n = black_box(1u64);
    while used() < end {{
        let mut result = 0u64;
{calls}        black_box(result);
    }}
    println!("{{}}", used());
}}
"""


class Go(Writer):
    HEAD = """\
package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

var sink uint64

//go:noinline
func spend(steps uint64) {
	for i := uint64(0); i < steps; i++ {
		sink += i
	}
}

func used() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Sec+usage.Stime.Sec) +
		float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}
"""

    def call(self, child):
        if child.edge == "pointer":
            return f"\tresult += to_{child.name}(n)\n"
        given = RECURSIONS if child.edge == "recursion" else "n"
        return f"\tresult += {child.name}({given})\n"

    def function(self, node):
        body = "".join(map(self.call, node.children)) or (
            f"\tspend({steps_of(node, self.total)})\n")
        if node.edge == "recursion":
            body = (f"\tif n > 0 {{\n\t\tresult = {node.name}(n - 1)\n\t\tsink += result\n"
                    f"\t\treturn result\n\t}}\n") + body
        around = f"\nvar to_{node.name} = {node.name}\n" if node.edge == "pointer" else ""
        how = "" if node.is_inlined else "//go:noinline\n"
        return (f"\n{how}func {node.name}(n uint64) uint64 {{\n\tresult := n % 2\n{body}"
                f"\tsink += result\n\treturn result + {node.number}\n}}\n{around}")

    def main(self):
        calls = "".join(map(self.call, self.roots)).replace("\t", "\t\t")
        return f"""
func main() {{
	seconds := 1.0
	if len(os.Args) > 1 {{
		seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	}}
	n := uint64(len(os.Args) / len(os.Args))
	for end := used() + seconds; used() < end; {{
		result := n % 2
{calls}		sink += result
	}}
	fmt.Println(used())
}}
"""


def compile_c(rng, writer, source, path, with_lines):
    """Returns the recipe. Without debug info no inlined call has a name."""
    compilers = {C: ["gcc", "clang-14"], Cpp: ["g++", "clang++-14"]}[type(writer)]
    compiler = rng.choice(compilers)
    flags = [rng.choice(["-O0", "-O1", "-O2", "-O3", "-Os"]),
             rng.choice(["-fomit-frame-pointer", "-fno-omit-frame-pointer"])]
    flags += rng.choice([[], [], ["-no-pie", "-fno-pie"], ["-static"], ["-static-pie", "-fPIE"],
                         ["-ffunction-sections", "-Wl,--gc-sections"], ["-Wl,-z,now"],
                         ["-mno-red-zone"], ["-fcf-protection=none"], ["-fstack-protector-all"]])
    flags += rng.choice([["-g"], ["-g", "-gdwarf-4"], ["-g", "-gz"], ["-ggdb3"]]) \
        if with_lines else ["-g0"]
    if compiler == "gcc" and rng.random() < 0.2:
        compiler, flags = "musl-gcc", [f for f in flags if f not in ("-static-pie", "-fPIE")]
    if rng.random() < 0.2 and compiler in ("gcc", "g++"):
        flags += ["-flto"]
    make(tool(compiler), *flags, "-fno-optimize-sibling-calls", source, "-o", path, "-pthread",
         "-Wl,--build-id=sha1")
    return [compiler, *flags]


def compile_rust(rng, _writer, source, path, with_lines):
    flags = ["-C", f"opt-level={rng.choice('0123s')}", "-g" if with_lines else "-Cdebuginfo=0",
             "-C", f"force-frame-pointers={rng.choice(['yes', 'no'])}"]
    make(tool("rustc"), *flags, "--edition=2021", "-C", "link-arg=-Wl,--build-id=sha1", source,
         "-o", path)
    return ["rustc", *flags]


def compile_go(rng, _writer, source, path, with_lines):
    mode = rng.choice([[], ["-buildmode=pie"]])
    linker = [] if with_lines else [f"-ldflags={rng.choice(['-s -w', '-w'])}"]
    # its names of inlined calls are in its own table
    make(tool("go", "/usr/local/go/bin/go"), "build", *mode, *linker, "-o", path, source,
         env=os.environ | {"GO111MODULE": "off", "GOFLAGS": "-buildvcs=false"})
    return ["go", *mode, *linker]


LANGUAGES = {"C": (C, ".c", compile_c), "C++": (Cpp, ".cc", compile_c),
             "Rust": (Rust, ".rs", compile_rust), "Go": (Go, ".go", compile_go)}


def separate(rng, path):
    """Moves the debug info into a file of its own, as distributions do it."""
    debug = Path(f"{path}.debug")
    make("objcopy", "--only-keep-debug", path, debug)
    make("strip", rng.choice(["-g", "--strip-all"]), path)
    make("objcopy", f"--add-gnu-debuglink={debug}", path)


def generate(seed, language, directory):
    """Draw, write and build a program; its name is unique for the seed."""
    rng = random.Random(f"{seed} {language}")
    writer_class, suffix, build = LANGUAGES[language]
    with_lines = rng.random() < 0.75
    has_thread = writer_class.may_thread and rng.random() < 0.3
    roots = draw_tree(rng, writer_class.kinds, with_lines)
    writer = writer_class(roots, has_thread)
    path = directory / f"tree{seed}{language.lower().replace('+', 'p')}"
    source = directory / f"{path.name}{suffix}"
    source.write_text(writer.source())
    recipe = build(rng, writer, source, path, with_lines)
    if language != "Go" and with_lines and rng.random() < 0.3:
        separate(rng, path)
        recipe.append("debug file")
    return Program(language, " ".join(map(str, recipe)), path, paths_of(roots))


def functions_of(stack):
    """The numbers of the functions of a stack of names, from the root to the leaf."""
    return tuple(int(match[1]) for match in map(FUNCTION.search, stack) if match)


def run(program, seconds):
    """The CPU time that the program says it used."""
    done = subprocess.run([program.path, str(seconds)], capture_output=True, text=True, check=True)
    return float(done.stdout)
