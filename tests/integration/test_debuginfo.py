# SPDX-License-Identifier: Apache-2.0
"""Real clients fetch from the store of debug files: gdb, debuginfod-find, elfutils."""
import http.client
import json
import shutil
import subprocess
import time

import pytest

from debuginfo_store import build, client, fleet, put, start  # fleet: start() depends on it

# real clients


def test_debuginfod_find_fetches_the_uploaded_file(start, build, tmp_path):
    service, files = start(), build()
    assert put(service, files.id, files.debug.read_bytes())[0] == 201

    found = client(service, tmp_path, "debuginfod-find", "debuginfo", files.id)

    assert found.returncode == 0, found.stderr
    with open(found.stdout.strip(), "rb") as file:
        assert file.read() == files.debug.read_bytes()


def test_an_unstripped_program_is_served_as_executable_too(start, build, tmp_path):
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


def test_a_section_is_the_one_that_objcopy_dumps(start, build, tmp_path):
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


def test_an_empty_section_of_a_debug_file_is_not_served(start, build):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())

    assert service.get(f"/buildid/{files.id}/section/.text")[0] == 404
    assert service.get(f"/buildid/{files.id}/section/.debug_line")[0] == 200


def test_gdb_finds_the_lines_of_a_stripped_program(start, build, tmp_path):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())
    shutil.copy(files.stripped, tmp_path / "prog")

    output = client(service, tmp_path, "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled on",
                    "-ex", "info line twice", "./prog")

    assert f'Line 3 of "{files.source}"' in output.stdout, output.stdout + output.stderr


def test_elfutils_find_the_functions_of_a_stripped_program(start, build, tmp_path):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())
    shutil.copy(files.stripped, tmp_path / "prog")

    output = client(service, tmp_path, "eu-addr2line", "-f", "-e", "./prog", "twice")

    assert output.stdout.splitlines()[:1] == ["twice"], output.stdout + output.stderr
    assert f"{files.source}:3" in output.stdout


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
def test_the_response_to_a_generations_request_is_data_or_an_error(start, body, status, kind):
    service = start()
    link = http.client.HTTPConnection(service.address, timeout=180)
    link.request("POST", "/api/v1/generations", body)
    response = link.getresponse()

    assert response.status == status
    output = json.loads(response.read())
    assert output.get("errorType") == kind
    assert kind or output == {"status": "success", "data": {"generations": {}}}


def test_a_generations_request_that_is_too_long_is_rejected(start):
    service = start()
    link = http.client.HTTPConnection(service.address, timeout=180)
    link.request("POST", "/api/v1/generations", None,
                 {"Content-Length": str(3 << 20), "Expect": "100-continue"})
    response = link.getresponse()

    assert response.status == 413 and json.loads(response.read())["errorType"] == "bad_data"


def test_one_response_has_the_generations_of_ten_thousand_builds(start, build, figure):
    service, files = start(), build()
    put(service, files.id, files.debug.read_bytes())
    build_ids = [f"{n:040x}" for n in range(9_998)] + [files.id, files.id.upper()]
    link = http.client.HTTPConnection(service.address, timeout=180)

    began = time.monotonic()
    link.request("POST", "/api/v1/generations", json.dumps({"build_ids": build_ids}))
    response = json.loads(link.getresponse().read())["data"]["generations"]
    figure(f"10,000 generations: {1000 * (time.monotonic() - began):.0f} ms")

    assert len(response) == 9_999
    assert {i for i, g in response.items() if g} == {files.id}
