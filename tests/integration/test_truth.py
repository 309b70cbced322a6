# SPDX-License-Identifier: Apache-2.0
"""Programs of random shape are profiled, uploaded and named; each sample is judged by construction.

A real agent samples them; the names come from the debuginfo service and the symbolizer, as for
users. Of each program these must hold:

- Each stack is a path of the program's tree of functions, or its beginning: no wrong name, no
  caller too few or too many. A stack that is cut off says why, and is a part of a path.
- The CPU time of the samples is that which the program says it used, within 3 / sqrt(samples).
- The share of each leaf is that of the construction.

`make test` judges one program of each language, always the same. `make test-truth` draws new ones
for an hour (MINUTES=, SEED=).
"""
import itertools
import math
import random
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

import generated_programs
from harness import wait_until
from named_cell import NamedCell
from unwind_programs import GO_ROOTS, ROOTS

HERTZ = 97
SECONDS = 3
WARM_UP = 0.3
SEED = 1
AT_ONCE = 2  # programs that run side by side
OUTSIDE = 0.05  # of the samples: before main(), in exec and exit
# 4.5 standard deviations: of 10,000 leaves that are right, less than 1 is judged as wrong.
DEVIATIONS, SLACK = 4.5, 0.01
CUT = re.compile(r"\[truncated: (\w+)\]")
# musl of Debian has no symbols for the begin of a thread.
ROOT = re.compile(rf"({ROOTS}|{GO_ROOTS}|start_thread|_start_c|libc\.so\+0x[0-9a-f]+)")

pytestmark = pytest.mark.machine


@pytest.fixture(scope="module")
def named(servers):
    with NamedCell(servers, "truth") as cell:
        cell.agent.flags["profiling-cpu-sampling-frequency"] = HERTZ
        cell.start()
        yield cell


class Judgement:
    """What was found of the samples of one language."""

    def __init__(self):
        self.programs = self.samples = self.whole = self.unnamed = 0
        self.cut = Counter()
        self.wrong = []

    def __str__(self):
        cut = ", ".join(f"{reason} {count}" for reason, count in self.cut.most_common())
        return (f"{self.programs} programs, {self.samples} samples, to the root "
                f"{self.whole / max(1, self.samples):.2%}, with a frame without a name "
                f"{self.unnamed}, wrong {len(self.wrong)}; cut off: {cut or 'none'}")


def ticks_of(value):
    return round(value * HERTZ / 1e9)


def judge_stack(program, stack, count, into):
    """Returns the numbers of the functions of a stack that is whole and right; else None."""
    numbers = generated_programs.functions_of(stack)
    into.samples += count
    into.unnamed += count * any(name.startswith("[unknown]") for name in stack)
    if cut := CUT.fullmatch(stack[0]):
        into.cut[cut[1]] += count
        is_right = program.allows_end(numbers)
    else:
        into.whole += count
        is_right = program.allows(numbers) and (not numbers or ROOT.fullmatch(stack[0]))
    if not is_right:
        into.wrong.append(f"{program.path.name} ({program.recipe}): {';'.join(stack)}")
        return None
    return None if cut else numbers


def judge_shares(program, found, into):
    total = sum(found[path] for path in program.paths)
    for path, share in program.paths.items():
        off = DEVIATIONS * math.sqrt(share * (1 - share) / max(1, total)) + SLACK
        if abs(found[path] / max(1, total) - share) > off:
            into.wrong.append(f"{program.path.name} ({program.recipe}): {found[path]} of {total} "
                              f"samples are in {path}, whose share is {share:.3f}")


def judge(cell, program, used, start, into):
    query = '{comm="%s"}' % program.path.name

    def is_complete():
        """The samples are there, and their functions have names."""
        stacks = cell.collapsed(query, start=start)
        total = sum(stacks.values()) / 1e9
        named = sum(value for stack, value in stacks.items()
                    if generated_programs.functions_of(stack)) / 1e9
        return abs(total / used - 1) <= 3 / math.sqrt(used * HERTZ) and named > total / 2 and stacks

    stacks = wait_until(is_complete, what=f"the samples of {used} s of {program}")
    found = Counter()
    for stack, value in stacks.items():
        found[judge_stack(program, stack, ticks_of(value), into)] += ticks_of(value)
    into.programs += 1
    outside = found.pop((), 0)
    if outside > OUTSIDE * sum(stacks.values()) * HERTZ / 1e9:
        into.wrong.append(f"{program.path.name} ({program.recipe}): {outside} samples are in none "
                          "of its functions")
    judge_shares(program, found, into)


def run_and_judge(cell, program, into):
    generated_programs.run(program, WARM_UP)  # the agent builds its unwind table meanwhile
    query = '{comm="%s"}' % program.path.name
    wait_until(lambda: cell.total(query) > 0, what=f"a first sample of {program}")
    start = f"{time.time():.3f}"
    used = generated_programs.run(program, SECONDS)
    judge(cell, program, used, start, into)


def test_every_sample_of_a_generated_program_is_true(named, request, tmp_path, figure):
    minutes = request.config.getoption("--truth-minutes")
    seed = request.config.getoption("--truth-seed") or (
        random.SystemRandom().randrange(10_000) if minutes else SEED)
    end = time.monotonic() + 60 * minutes
    judged = {language: Judgement() for language in generated_programs.LANGUAGES}

    def one(each):
        number, language = each
        program = generated_programs.generate(number, language, tmp_path)
        run_and_judge(named, program, judged[language])
        for file in tmp_path.glob(f"{program.path.name}*"):
            file.unlink()

    for number in itertools.count(seed):
        with ThreadPoolExecutor(AT_ONCE) as executor:
            list(executor.map(one, itertools.product((number,), judged)))
        if time.monotonic() >= end:
            break

    for language, found in judged.items():
        figure(f"seed {seed}, {language}: {found}")
        for wrong in found.wrong[:10]:
            figure(f"    {wrong}")
    assert not any(found.wrong for found in judged.values())


@pytest.mark.parametrize("stack, is_right", [
    ("_start;__libc_start_main;main;fn_1;fn_2", True),
    ("_start;__libc_start_main;main;fn_1;memcpy", True),
    ("_start;__libc_start_main;main;fn_1;fn_2;fn_3", False),  # a function too many
    ("_start;__libc_start_main;main;fn_2", False),            # a caller is missing
    ("_start;__libc_start_main;main;fn_9", False),            # another function
    ("main;fn_1;fn_2", False),                                # cut off without a reason
    ("[truncated: user_no_row];fn_1;fn_2", True),
    ("[truncated: user_no_row];fn_2", True),
    ("[truncated: user_no_row];fn_2;fn_1", False),
])
def test_the_judge_tells_right_stacks_from_wrong_ones(stack, is_right, tmp_path):
    program = generated_programs.Program("C", "", tmp_path, {(1, 2): 0.5, (1, 4): 0.5})
    found = Judgement()
    judge_stack(program, stack.split(";"), 1, found)
    assert (not found.wrong) == is_right


def test_the_judge_tells_wrong_shares(tmp_path):
    program = generated_programs.Program("C", "", tmp_path, {(1,): 0.8, (2,): 0.2})
    right, wrong = Judgement(), Judgement()
    judge_shares(program, Counter({(1,): 240, (2,): 60}), right)
    judge_shares(program, Counter({(1,): 180, (2,): 120}), wrong)
    assert not right.wrong and wrong.wrong
