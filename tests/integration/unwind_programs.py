# SPDX-License-Identifier: Apache-2.0
"""unwind_programs - programs whose call chains are known, and how each is built and run.

One table of cases: a form (language, compiler, linking), the program, and a regular expression that
must match in its stacks. A stack is the names from the root to the leaf, joined by ";".
If a compiler is missing, its cases fail: tools/deps.sh installs all compilers.
"""
import dataclasses
import os
import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "programs" / "chains"
C_FLAGS = ["-O2", "-D_GNU_SOURCE", "-fomit-frame-pointer", "-fno-optimize-sibling-calls",
           "-fno-builtin-toupper"]
SPENT = "spend(;|$)"
DEEP = 400

# kind of chains.c -> regular expression of its stacks from main on
KINDS = {
    "calls": f";main;first;second;third;{SPENT}",
    "recursion": f";main;recursion(;deep){{{DEEP + 1}}};{SPENT}",
    "alloca": f";main;with_alloca;room;{SPENT}",
    "realigned": f";main;realigned;aligned;{SPENT}",
    "signal": f";main;by_signal;provoke(;[^;]+)+;on_signal;{SPENT}",
    "altstack": f";main;on_alternate;(settle|provoke(;[^;]+)+;on_signal;{SPENT})",
    "fault": f";main;by_fault;stumble;[^;]+;on_fault;{SPENT}",
    "noreturn": f";main;ending;no_return;{SPENT}",
    "vfork": ";main;by_vfork(;child_once|;waitpid|;.*wait4|$)",
    "thread": f";on_thread;first;second;third;{SPENT}",
    "plugins": ";main;by_plugins;take_turns(;|$)",
    "swaps": ";main;by_swaps;take_turns(;|$)",
    "plt": ";main;by_plt;through",
    "lazy": ";main;by_lazy;(is_over|bind)(;|$)",
    "jit": f";main;by_jit;(settle|framed;enter;[^;]*;{SPENT})",
    "moved": rf";main;by_moved;(enter;\?;{SPENT}|settle|visit|plugin_open)",
    "vdso": ";main;by_vdso;(ask|is_over)(;|$)",
    "kernel": ";main;by_kernel;(call_kernel|is_over)(;|$)",
}
# The kinds that each form of chains.c runs; only some forms can load plugins or have a vdso.
SPECIAL = ("plugins", "swaps", "plt", "lazy", "jit", "moved", "vdso")
COMMON = [kind for kind in KINDS if kind not in SPECIAL]
FEW = ["calls", "recursion", "realigned", "signal", "vfork"]
# The kinds whose stacks contain no function of libc. Debian's musl has neither .eh_frame nor
# .debug_frame: code analysis unwinds it to _start, but not from a signal handler through raise().
OWN = ["calls", "recursion", "alloca", "realigned", "fault", "noreturn", "vfork"]
ROOTS = r"_start|_dl_start_user|(__)?clone3?|__GI___clone3?|thread_start"
GO_ROOTS = r"runtime\.(goexit|mstart|mcall|rt0_go|systemstack)\b.*|_rt0_amd64_linux"


@dataclasses.dataclass
class Case:
    form: str
    kind: str
    argv: list
    chain: str  # regular expression of the whole chain
    roots: str = ROOTS
    right: float = 0.95  # share of stacks that must match the chain
    own: str = ";(main|on_thread)(;|$)"  # matches only stacks in the program's own functions
    also: str = "$^"  # other valid stacks, on the way to the chain's end and back
    moment: float = 0.3  # seconds of a short run, of CPU time or of elapsed time

    def warm(self):
        """The command for a short run."""
        return [self.moment if isinstance(word, (int, float)) and word != DEEP else word
                for word in self.argv]

    @property
    def name(self):
        return f"{self.form} {self.kind}"


def tool(name, *places):
    found = shutil.which(name) or next((p for p in places if os.access(p, os.X_OK)), None)
    assert found, f"there is no {name}: run tools/deps.sh"
    return found


def make(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **options)
    assert done.returncode == 0, f"{command}: {done.stderr}"


def chains_cases(form, program, seconds, kinds):
    return [Case(form, kind, [program, kind, seconds, DEEP], KINDS[kind],
                 also=r";main;(\w+;is_over|__isoc99_sscanf)(;|$)") for kind in kinds]


def c_forms(place, build, seconds):
    """The program with the flags of the release build, then other compilers and linkings."""
    yield from chains_cases("C", build / "tests" / "programs" / "chains", seconds, KINDS)
    forms = {
        "C, clang": (["clang-14"], [*FEW, "plt", "lazy", "jit"]),
        "C, -O0": (["gcc", "-O0"], ["calls", "realigned", "signal"]),
        "C, frame pointers": (["gcc", "-fno-omit-frame-pointer"], ["calls", "recursion"]),
        "C, static": (["gcc", "-static"], [*FEW, "thread", "fault"]),
        "C, static-pie": (["gcc", "-static-pie", "-fPIE"], [*FEW, "thread", "fault"]),
        "C, .debug_frame": (["gcc", "-fno-asynchronous-unwind-tables", "-g"], ["calls", "alloca"]),
        "C, musl": (["musl-gcc"], OWN),
        "C, musl static": (["musl-gcc", "-static"], OWN),
    }
    for form, ((compiler, *flags), kinds) in forms.items():
        program = place / form.replace(", ", "-").replace(" ", "-") / "chains"
        program.parent.mkdir()
        make(tool(compiler), *C_FLAGS, *flags, SOURCES / "chains.c", "-o", program, "-pthread",
             "-Wl,-z,lazy", "-Wl,--build-id", *([] if "musl" in form else ["-ldl"]))
        yield from chains_cases(form, program, seconds, kinds)


def cpp_form(place, _build, seconds):
    for form, compiler in {"C++": "g++", "C++, clang": "clang++-14"}.items():
        program = place / f"exceptions-{compiler}"
        make(tool(compiler), "-O2", "-fomit-frame-pointer", "-std=gnu++17",
             SOURCES / "exceptions.cpp", "-o", program)
        yield Case(form, "exceptions", [program, seconds], ";main;.*catcher", right=0.9,
                   also=";main(;(__)?clock_gettime.*|;.*seconds.*|;__vdso_.*|;\\[vdso\\].*)?$")


def rust_form(place, _build, seconds):
    make(tool("rustc"), "-O", "-C", "force-frame-pointers=no", SOURCES / "chain.rs", "-o",
         place / "chain_rs")
    yield Case("Rust", "dyn, panics", [place / "chain_rs", 4 * seconds],
               r"_start;.*main;.*outer.*middle.*(;[^;]*deep[^;]*){20}", right=0.8, own="outer",
               also=r"_start;.*main[^;]*;[^;]*outer[^;]*(;(?!.*(middle|deep)).*"
                    r"|;[^;]*middle[^;]*(;(?!.*deep).*|(;[^;]*(spend|deep)[^;]*)*))?$")


def go_form(place, _build, seconds):
    make(tool("go", "/usr/local/go/bin/go"), "build", "-o", place / "chain_go",
         SOURCES / "chain.go", cwd=place,
         env=os.environ | {"GOCACHE": str(place / "go-cache"), "HOME": str(place),
                           "GOFLAGS": "-mod=mod", "GO111MODULE": "off"})
    yield Case("Go", "goroutines", [place / "chain_go", 4 * seconds],
               r"main\.outer;main\.middle(;main\.deep){20}", roots=f"{ROOTS}|{GO_ROOTS}", right=0.8,
               own=r";main\.", also=r";main\.(main|main\.func1|spend|outer|"
                                    r"middle(;main\.deep){0,21})(;(?!main\.)[^;]+)*$")


def node_form(_place, _build, seconds):
    yield Case("Node", "JIT", [tool("node"), SOURCES / "chain.js", 4 * seconds], "", right=0)


def java_form(place, _build, seconds):
    """Frame pointers lead to start_thread at most: the code before it sets them to 0."""
    make(tool("javac"), "-d", place, SOURCES / "Chain.java")
    yield Case("OpenJDK", "JIT", [tool("java"), "-Xmx64m", "-XX:+PreserveFramePointer", "-cp",
                                  place, "Chain", 4 * seconds], "", right=0,
               roots=f"{ROOTS}|start_thread")


FORMS = [c_forms, cpp_form, rust_form, go_form, node_form, java_form]


def cases(place, build, seconds):
    """All cases; their programs are built."""
    return [case for form in FORMS for case in form(place, build, seconds)]
