# SPDX-License-Identifier: Apache-2.0
"""The checks in tools/ find the faults that they must find."""
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness import ROOT


def tool(name):
    spec = importlib.util.spec_from_file_location(f"tool_{name}", ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path, include, wrong", [
    ("lib/base/str.c", "server/http/http.h", "lib/base may not use lib/server/http"),
    ("lib/profile/labels.c", "store/chunk/chunk_encode.h", "may not use lib/store/chunk"),
    ("lib/store/write/writer.c", "store/read/sample_reader.h", "may not use lib/store/read"),
    ("services/querier/main.c", "ingester/consume/consume.h", "may not use services/ingester"),
    ("services/querier/main.c", "bpf/sample.h", "services/querier/main may not use bpf"),
    ("lib/store/write/writer.c", "store/chunk/chunk_columns_internal.h", "is internal to"),
    ("lib/unheard/of.c", "base/str.h", "not in the table of layers"),
    ("services/agent/capture/sampler.c", "bpf/sample.h", None),
    ("lib/profile/labels.c", "labels.h", "include labels.h by its path"),
    ("lib/profile/labels.c", "profile/labels.h", None),
    ("lib/store/write/writer.c", "client/postgres.h", None),
])
def test_an_include_across_layers_is_found(path, include, wrong):
    found = tool("layers").wrong_use(Path(path), include)

    assert found is None if wrong is None else wrong in found


def test_a_library_outside_of_its_wrapper_is_found():
    layers = tool("layers")

    assert "lib/client/postgres" in layers.wrong_library("services/querier/main.c", "libpq-fe.h")
    assert layers.wrong_library("lib/client/postgres.c", "libpq-fe.h") is None


@pytest.mark.parametrize("code, called", [
    ("x = atoi(text);", ["atoi"]),
    ("  strcpy (a, b); sprintf(c, d);", ["strcpy", "sprintf"]),
    ('puts("call strcpy() now");', []),
    ("/* not atoi(text),\n nor rand() */ // alloca(3)", []),
    ("snprintf(a, 3, b); my_rand(); object->rand();", []),
])
def test_banned_calls_are_found_in_code_alone(code, called):
    banned = tool("banned")

    found = [m[1] for m in banned.CALL.finditer(banned.COMMENT_OR_TEXT.sub(banned.blank, code))]
    assert found == called


@pytest.mark.parametrize("line, words", [
    ("/* nobody is told; so many of them */", ["nobody", "told", "so many"]),
    ("static void crew_start(struct row_crew *crew)", ["crew", "crew", "crew"]),
    ("the side band, and SIDE_BAND_FORK", ["side band", "SIDE_BAND"]),
    ("a distributed, stretched-out sentence about keepers", ["keepers"]),
    ("int screw = intell, detoured;", []),
])
def test_retired_words_are_found_in_sentences_and_in_identifiers(line, words):
    banned = tool("banned")

    assert [word for word, _ in banned.retired_words(line)] == words
    assert all(term for _, term in banned.retired_words(line))


def result(stdout, verdict="OK"):
    return {"name": "x", "result": verdict, "stdout": stdout, "stderr": "", "command": ["x"]}


@pytest.mark.parametrize("test, counts", [
    (result("1..2\nok 1 - a\nok 2 - b\n"), {"passed": 2}),
    (result("1..2\nok 1 - a\nnot ok 2 - b\n", "FAIL"), {"passed": 1, "failed": 1}),
    (result("1..2\nok 1 - a\n", "ERROR"), {"passed": 1, "failed": 1}),
    (result("1..2\nok 1 - a\nok 2 - b # SKIP no BTF\n"), {"passed": 1, "skipped": 1}),
    (result("", "TIMEOUT"), {"failed": 1}),
    (result("no TAP at all"), {"passed": 1}),
])
def test_c_tests_are_counted_by_claim_and_a_crash_is_a_failure(test, counts):
    assert dict(tool("test").count_c_test(test)) == counts


def test_a_pure_module_with_uncovered_lines_is_reported_with_its_lines():
    coverage = tool("coverage")
    found = {name: {(f"{name}.c", 1): True} for name in coverage.listed()}
    found["lib/base/str"] = {("lib/base/str.c", n): n not in (3, 4, 5, 9) for n in range(1, 21)}

    assert list(coverage.faults(found, set())) == [
        "lib/base/str: unit tests cover 80.0 % of its lines, 95 % are required: "
        "lib/base/str.c: 3-5 9"]


def test_a_module_without_system_calls_has_to_be_in_the_list():
    coverage = tool("coverage")
    found = {"lib/base/new": ({"new_make"}, {"memcpy", "other_make"}),
             "lib/base/other": ({"other_make"}, {"qsort"}),
             "lib/base/reads": ({"reads_all"}, {"pread64"}),
             "lib/base/calls": ({"calls_it"}, {"reads_all"})}

    assert coverage.looks_pure(found) == {"lib/base/new", "lib/base/other"}
    faults = [line for line in coverage.faults({}, {"lib/base/new"}) if "lib/base/new" in line]
    assert len(faults) == 1 and "PURE of tools/coverage.py" in faults[0]


@pytest.mark.parametrize("line, holds", [
    ("abort(); /* GCOVR_EXCL_LINE: no test makes malloc fail */", True),
    ("abort(); /* GCOVR_EXCL_LINE */", False),
    ("/* GCOVR_EXCL_START: why */", False),  # one word is no reason
])
def test_an_exception_to_coverage_needs_a_reason(line, holds):
    assert bool(tool("coverage").REASON.search(line)[2]) == holds


SKIPPING = """
import pytest

def test_lacks_a_tool():
    pytest.skip("there is no dwz")

@pytest.mark.skipif(True, reason="no Go here to read it with")
def test_lacks_another():
    pass

@pytest.mark.skip(reason="long: make test-long")
def test_is_long():
    pass

@pytest.fixture
def agent():
    pytest.skip("the agent needs root")

def test_wants_an_agent(agent):
    pass
"""


def test_a_skip_for_want_of_a_package_fails_the_run(tmp_path):
    (tmp_path / "test_it.py").write_text(SKIPPING)

    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "local.no_skips", "-p",
                          "no:cacheprovider", tmp_path], capture_output=True, text=True,
                         check=False, env=os.environ | {"PYTHONPATH": str(ROOT / "tools")})

    assert ran.returncode == 1
    assert "skipped: there is no dwz" in ran.stdout
    assert "skipped: no Go here to read it with" in ran.stdout
    assert re.search(r"2 skipped", ran.stdout) and ran.stdout.count("tools/deps.sh;") == 2


@pytest.mark.parametrize("name, before, after", [
    ("lib/base/x.c", "/*\n * x - one.\n */\n",
     "// SPDX-License-Identifier: Apache-2.0\n/*\n * x - one.\n */\n"),
    ("bpf/x.bpf.c", "// SPDX-License-Identifier: MIT\nint x;\n",
     "// SPDX-License-Identifier: GPL-2.0\nint x;\n"),
    ("bpf/x.h", "int x;\n", "// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0\nint x;\n"),
    ("tools/x.py", "#!/usr/bin/env python3\n\"\"\"X.\"\"\"\n",
     "#!/usr/bin/env python3\n# SPDX-License-Identifier: Apache-2.0\n\"\"\"X.\"\"\"\n"),
    ("lib/store/schema/0001_x.sql", "SELECT 1;\n",
     "-- SPDX-License-Identifier: Apache-2.0\nSELECT 1;\n"),
])
def test_a_file_without_its_licence_is_found_and_fixed(name, before, after):
    spdx = tool("spdx")

    assert spdx.fault(name, before)
    assert spdx.written(name, before) == after
    assert spdx.fault(name, after) is None


def test_python_form_finds_wide_lines_and_unused_imports(tmp_path):
    file = tmp_path / "x.py"
    file.write_text("import os\nimport sys\nprint(sys.argv)\n" + "# " + "x" * 100 + "\n")

    assert tool("python_form").faults(str(file)) == [(4, "wider than 100 columns"),
                                                     (1, "os is imported and not used")]


def test_a_test_that_was_retried_twice_in_ten_runs_fails_the_run(tmp_path):
    retries, record = tool("retries"), tmp_path / "retries.tsv"

    assert retries.add(["a.py::test_x[1 2]"], record) == []
    for run in range(8):
        assert retries.add(["b.py::test_y"] if run == 7 else [], record) == []
    assert retries.add(["a.py::test_x[1 2]"], record) != []
    assert retries.add([], record) == []  # the first row is not among the last ten any more
    assert "retried in 2 of" in retries.add(["b.py::test_y"], record)[0]
    assert "b.py::test_y" in retries.add([], record)[0]  # until it is mended
    assert len(record.read_text(encoding="utf-8").splitlines()) == 13


def test_the_record_of_retries_is_bounded(tmp_path):
    retries, record = tool("retries"), tmp_path / "retries.tsv"

    for _ in range(retries.KEPT + 2):
        retries.add([], record)
    assert len(record.read_text(encoding="utf-8").splitlines()) == retries.KEPT


def test_the_last_line_has_the_same_three_counts_in_each_case():
    test = tool("test")

    assert test.summary({"passed": 3, "failed": 0, "skipped": 0}) == "3 passed, 0 failed, 0 skipped"
