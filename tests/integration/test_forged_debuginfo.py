# SPDX-License-Identifier: Apache-2.0
"""Files of two builds with one build id are uploaded to the debuginfo service, in all orders."""
import pytest

from debuginfo_store import (  # fleet: start() depends on it
    client, fleet, put, start, stored_files)
from forged import Programs
from harness import metrics
from test_debuginfo_upstream import upstream_of


@pytest.fixture(scope="module")
def programs():
    made = Programs()
    yield made
    made.remove()


def uploads(service, outcome):
    return metrics(service)[f'decima_debuginfo_uploads_total{{outcome="{outcome}"}}']


def stored(service):
    """The content of the only stored file."""
    files = stored_files(service)
    assert len(files) == 1, files
    return (service.store / "files" / files[0]).read_bytes()


def offer(service, programs, program, rank, trusted):
    status, response = put(service, programs.id, program.read_bytes(),
                           f"?rank={rank}&trusted={trusted}")
    return status, response.get("errorType")


def test_a_trusted_file_replaces_a_better_forged_one(start, programs):
    service = start()

    assert offer(service, programs, programs.attacker, "dwarf", "false") == (201, None)
    assert offer(service, programs, programs.victim, "symtab", "true") == (200, None)
    assert stored(service) == programs.victim.read_bytes()
    assert offer(service, programs, programs.attacker, "dwarf", "false") == (409, "already_stored")
    assert stored(service) == programs.victim.read_bytes()
    assert stored_files(service)[0].endswith(".trusted")


def test_a_forged_file_does_not_replace_a_trusted_one(start, programs):
    service = start()

    assert offer(service, programs, programs.victim, "symtab", "true") == (201, None)
    service.stop()
    service = start(keep=True)
    assert offer(service, programs, programs.attacker, "dwarf", "false") == (409, "already_stored")
    assert stored(service) == programs.victim.read_bytes()


@pytest.mark.parametrize("trusted", ["true", "false"])
def test_a_better_file_replaces_one_of_the_same_build_only(start, programs, trusted):
    """As from two hosts on which the files are equally trusted."""
    service = start()

    assert offer(service, programs, programs.victim, "symtab", trusted) == (201, None)
    assert offer(service, programs, programs.attacker, "dwarf", trusted) == (409, "contradicts")
    assert stored(service) == programs.victim.read_bytes()
    assert uploads(service, "contradicts") == 1
    assert offer(service, programs, programs.whole, "dwarf", trusted) == (200, None)
    assert stored(service) == programs.whole.read_bytes()


def test_a_file_that_was_stored_before_files_were_trusted_is_replaced(start, programs):
    """Its name does not say that it is trusted."""
    service = start()
    assert offer(service, programs, programs.attacker, "dwarf", "true") == (201, None)
    file, = (service.store / "files").rglob("*.trusted")
    service.stop()
    file.rename(file.with_suffix(""))
    service = start(keep=True)

    assert offer(service, programs, programs.victim, "symtab", "true") == (200, None)
    assert stored(service) == programs.victim.read_bytes()


def test_only_the_upload_token_vouches_for_a_file(start, programs, tmp_path):
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    service = start(upload_token_file=token)

    status, response = put(service, programs.id, programs.attacker.read_bytes(), "?trusted=true")
    assert (status, response["errorType"]) == (401, "unauthorized")
    assert not stored_files(service)


def test_trusted_is_true_or_false(start, programs):
    service = start()

    assert offer(service, programs, programs.victim, "symtab", "yes") == (400, "bad_data")


@pytest.mark.parametrize("kind", ["debuginfo", "executable"])
def test_a_forged_file_is_not_preferred_to_that_of_upstream(start, fleet, programs, tmp_path, kind):
    with upstream_of(fleet, f"upstream-{kind}", [programs.whole], tmp_path) as upstream:
        service = start(debuginfod_upstream_servers=upstream.url)
        assert offer(service, programs, programs.attacker, "dwarf", "false") == (201, None)
        found = client(service, tmp_path, "debuginfod-find", kind, programs.id)

    assert found.returncode == 0, found.stderr
    with open(found.stdout.strip(), "rb") as file:
        assert file.read() == programs.whole.read_bytes()
