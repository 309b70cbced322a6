# SPDX-License-Identifier: Apache-2.0
"""The store of debug files, asked by real clients: gdb, debuginfod-find, elfutils."""
import http.client
import json
import shutil
import subprocess
import time

import pytest

from debuginfo_store import build, client, fleet, put, start  # fleet: what start() asks for

# what real clients get


def test_debuginfod_find_fetches_the_file_that_was_uploaded(start, build, tmp_path):
    service, files = start(), build()
    assert put(service, files.id, files.debug.read_bytes())[0] == 201

    found = client(service, tmp_path, "debuginfod-find", "debuginfo", files.id)

    assert found.returncode == 0, found.stderr
    with open(found.stdout.strip(), "rb") as file:
        assert file.read() == files.debug.read_bytes()


def test_an_unstripped_program_answers_for_its_executable_too(start, build, tmp_path):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())
    without_code = service.get(f"/buildid/{files.id}/executable")[0]
    other = start()
    put(other, files.id, files.whole.read_bytes())

    found = client(other, tmp_path, "debuginfod-find", "executable", files.id)

    assert without_code == 404
    assert found.returncode == 0, found.stderr
    with open(found.stdout.strip(), "rb") as file:
        assert file.read() == files.whole.read_bytes()


def test_sections_are_what_objcopy_dumps(start, build, tmp_path):
    service, files = start(), build()
    put(service, files.id, files.whole.read_bytes())

    for name in (".debug_info", ".text", ".note.gnu.build-id"):
        subprocess.run(["objcopy", "--dump-section", f"{name}={tmp_path / 'expected'}",
                        files.whole, "/dev/null"], check=True)
        found = client(service, tmp_path, "debuginfod-find", "section", files.id, name)
        assert found.returncode == 0, found.stderr
        with open(found.stdout.strip(), "rb") as file:
            assert file.read() == (tmp_path / "expected").read_bytes(), name
    assert service.get(f"/buildid/{files.id}/section/.bss")[0] == 404
    assert service.get(f"/buildid/{files.id}/section/.nowhere")[0] == 404


def test_a_section_that_was_left_out_of_a_debug_file_is_not_answered_from_it(start, build):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())

    assert service.get(f"/buildid/{files.id}/section/.text")[0] == 404
    assert service.get(f"/buildid/{files.id}/section/.debug_line")[0] == 200


def test_gdb_knows_the_lines_of_a_stripped_program(start, build, tmp_path):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())
    shutil.copy(files.stripped, tmp_path / "prog")

    said = client(service, tmp_path, "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled on",
                  "-ex", "info line twice", "./prog")

    assert f'Line 3 of "{files.source}"' in said.stdout, said.stdout + said.stderr


def test_elfutils_name_the_functions_of_a_stripped_program(start, build, tmp_path):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())
    shutil.copy(files.stripped, tmp_path / "prog")

    said = client(service, tmp_path, "eu-addr2line", "-f", "-e", "./prog", "twice")

    assert said.stdout.splitlines()[:1] == ["twice"], said.stdout + said.stderr
    assert f"{files.source}:3" in said.stdout


# generations


@pytest.mark.parametrize("body, status, kind", [
    (b'{"build_ids":[]}', 200, None),
    (b"", 400, "bad_data"),
    (b'{"build_ids":', 400, "bad_data"),
    (b"[]", 400, "bad_data"),
    (b'{"build_ids":"0123456789"}', 400, "bad_data"),
    (b'{"build_ids":[17]}', 400, "bad_data"),
    (b'{"build_ids":["../../etc/passwd"]}', 400, "bad_data"),
    (b'{"build_ids":["01234567\\u0000"]}', 400, "bad_data"),
    (json.dumps({"build_ids": [f"{n:08x}" for n in range(10_001)]}).encode(), 422, "execution"),
], ids=["none", "empty", "half", "list", "text", "number", "path", "nul", "many"])
def test_generations_answer_or_say_what_is_wrong(start, body, status, kind):
    service = start()
    link = http.client.HTTPConnection(service.address, timeout=30)
    link.request("POST", "/api/v1/generations", body)
    answer = link.getresponse()

    assert answer.status == status
    said = json.loads(answer.read())
    assert said.get("errorType") == kind
    assert kind or said == {"status": "success", "data": {"generations": {}}}


def test_a_question_for_generations_that_is_too_long_is_refused(start):
    service = start()
    link = http.client.HTTPConnection(service.address, timeout=30)
    link.request("POST", "/api/v1/generations", None,
                 {"Content-Length": str(3 << 20), "Expect": "100-continue"})
    answer = link.getresponse()

    assert answer.status == 413 and json.loads(answer.read())["errorType"] == "bad_data"


def test_generations_of_ten_thousand_builds_are_one_answer(start, build, figure):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())
    asked = [f"{n:040x}" for n in range(9_998)] + [files.id, files.id.upper()]
    link = http.client.HTTPConnection(service.address, timeout=30)

    began = time.monotonic()
    link.request("POST", "/api/v1/generations", json.dumps({"build_ids": asked}))
    answer = json.loads(link.getresponse().read())["data"]["generations"]
    figure(f"10,000 generations: {1000 * (time.monotonic() - began):.0f} ms")

    assert len(answer) == 9_999
    assert {i for i, g in answer.items() if g} == {files.id}
