# SPDX-License-Identifier: Apache-2.0
"""The agent's uploads: the debug info of a short-lived program stays in the store."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import DEADLINE, wait_until
from symbol_oracles import lines_of
from test_symbols import CHECK, table_of
from uploads import (  # fleet: a fixture that start() uses
    Program, fleet, outcomes, run, start, told)

pytestmark = pytest.mark.machine


def test_a_program_that_ran_for_half_a_second_is_symbolized_by_its_lines(start, tmp_path):
    service = start("debuginfo")
    agent = start("agent", debuginfo_url=service.url)
    program = Program(tmp_path / "a", "shortlived")

    program.run()

    wait_until(lambda: program.is_named_by(service, tmp_path), what="the program's lines")
    assert f"build_id={program.id}" in service.log_file.read_text()
    assert service.get(f"/buildid/{program.id}/executable")[0] == 404  # not the code
    wait_until(lambda: told(agent, program.id) == ["stored"], what="the agent's outcome")
    assert outcomes(agent)["stored"] >= 1


def test_a_program_deleted_right_after_its_exec_is_symbolized(start, tmp_path):
    service = start("debuginfo")
    start("agent", debuginfo_url=service.url)
    program = Program(tmp_path / "a", "deleted")

    # it runs long enough for one poll of the agent, four a second: no other process has the file
    running = subprocess.Popen([program.path, "1500"])
    program.path.unlink()
    assert running.wait(DEADLINE) == 0

    wait_until(lambda: program.is_named_by(service, tmp_path), what="the program's lines")


def test_gdb_gets_the_lines_of_a_stripped_program_from_the_upload(start, tmp_path):
    service = start("debuginfo")
    agent = start("agent", debuginfo_url=service.url)
    program = Program(tmp_path / "a", "forgdb")
    program.run()
    wait_until(lambda: told(agent, program.id) == ["stored"], what="the stored file")
    stripped = tmp_path / "stripped"
    run("strip", "--strip-all", "-o", stripped, program.path)
    environment = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}

    printed = subprocess.run(
        ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled on", "-ex",
         f"info line work_{program.mark}", "-ex", f"break work_{program.mark}", "-ex", "run",
         "-ex", "backtrace", stripped], text=True, capture_output=True, check=False, timeout=100,
        stdin=subprocess.DEVNULL, env=environment | {
            "DEBUGINFOD_URLS": service.url, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache"),
            "HOME": str(tmp_path)})

    assert f'Line 5 of "{program.source}"' in printed.stdout, printed.stdout + printed.stderr
    assert re.search(rf"#0 +work_forgdb .*{program.source}:5", printed.stdout), printed.stdout


@pytest.mark.parametrize("place", ["beside", ".debug", "global", "build-id"])
def test_a_stripped_programs_debug_file_is_found(start, tmp_path, place):
    service = start("debuginfo")
    program = Program(tmp_path / "a", f"stripped-{place}")
    debug = tmp_path / "a" / f"{program.mark}.debug"
    run("objcopy", "--only-keep-debug", program.path, debug)
    run("strip", "--strip-all", program.path)
    there = {
        "beside": tmp_path / "a",
        ".debug": tmp_path / "a" / ".debug",
        "global": Path(f"/usr/lib/debug{tmp_path / 'a'}"),
        "build-id": Path(f"/usr/lib/debug/.build-id/{program.id[:2]}"),
    }[place]
    link = there / debug.name
    if place == "build-id":
        link = there / f"{program.id[2:]}.debug"
    else:
        run("objcopy", f"--add-gnu-debuglink={debug}", program.path)
    there.mkdir(parents=True, exist_ok=True)
    if link != debug:
        debug.rename(link)
    try:
        start("agent", debuginfo_url=service.url)
        program.run()
        wait_until(lambda: program.is_named_by(service, tmp_path), what="the program's lines")
    finally:
        link.unlink()
        if place == "global":
            shutil.rmtree(there)


def test_the_package_of_a_split_build_is_uploaded_with_its_program(start, tmp_path):
    """At first the package is missing; then an agent that finds it replaces what is stored."""
    service = start("debuginfo")
    program = Program(tmp_path / "a", "split", "-gsplit-dwarf", "-gdwarf-4")
    package = Path(f"{program.path}.dwp")
    agent = start("agent", "without", debuginfo_url=service.url)
    program.run()
    wait_until(lambda: told(agent, program.id) == ["stored"], what="the program's own file")
    agent.stop()
    assert service.get(f"/buildid/{program.id}/section/.debug_cu_index")[0] == 404

    run("dwp", *program.path.parent.glob("*.dwo"), "-o", package)
    agent = start("agent", "with", debuginfo_url=service.url)
    program.run()

    wait_until(lambda: told(agent, program.id) == ["stored"], what="the file with its package")
    assert "rank=split" in service.log_file.read_text()
    status, body = service.get(f"/buildid/{program.id}/debuginfo")
    stored = tmp_path / "stored"
    address = re.search(rf"(\w+) T work_{program.mark}", run("nm", program.path))[1]
    stored.write_bytes(body)
    found, = lines_of(CHECK, table_of(stored, tmp_path), [int(address, 16)])
    assert status == 200 and found[0][:3] == (f"work_{program.mark}", str(program.source), 5)
    for name in package_sections(package):
        assert service.get(f"/buildid/{program.id}/section/{name}")[1] == bytes_of(package, name)


@pytest.mark.parametrize("what", ["malformed", "another-machine", "of-a-user"])
def test_a_program_is_uploaded_without_an_unusable_package(start, tmp_path, what):
    service = start("debuginfo")
    program = Program(tmp_path / "a", f"package-{what}", "-gsplit-dwarf", "-gdwarf-4")
    package = Path(f"{program.path}.dwp")
    run("dwp", *program.path.parent.glob("*.dwo"), "-o", package)
    image = bytearray(package.read_bytes())
    if what == "malformed":
        image[40:48] = (1 << 40).to_bytes(8, "little")  # e_shoff
    if what == "another-machine":
        image[18:20] = (183).to_bytes(2, "little")  # e_machine: arm64
    package.write_bytes(image)
    if what == "of-a-user":
        os.chown(package, 65534, 65534)
    agent = start("agent", debuginfo_url=service.url)

    program.run()

    wait_until(lambda: told(agent, program.id) == ["stored"], what="the program's own file")
    assert service.get(f"/buildid/{program.id}/section/.debug_info")[0] == 200
    assert service.get(f"/buildid/{program.id}/section/.debug_cu_index")[0] == 404


def package_sections(package):
    return re.findall(r"\.debug_[a-z_.]+", run("readelf", "-SW", package))


def bytes_of(path, section):
    out = path.with_name("section")
    run("objcopy", f"--dump-section={section}={out}", path, "/dev/null")
    return out.read_bytes()


def test_a_debug_file_of_another_build_is_not_used(start, tmp_path):
    service = start("debuginfo")
    program, other = Program(tmp_path / "a", "mine"), Program(tmp_path / "b", "other")
    debug = tmp_path / "a" / "mine.debug"
    run("objcopy", "--only-keep-debug", other.path, debug)
    run("strip", "--strip-all", program.path)
    run("objcopy", f"--add-gnu-debuglink={debug}", program.path)
    (tmp_path / "a" / ".debug").mkdir()
    os.mkfifo(tmp_path / "a" / ".debug" / "mine.debug")  # the agent must not wait for a pipe
    start("agent", debuginfo_url=service.url)

    program.run()

    wait_until(lambda: service.get(f"/buildid/{program.id}/debuginfo")[0] == 200,
               what="the program's own file")
    assert service.get(f"/buildid/{program.id}/section/.dynsym")[0] == 200
    assert service.get(f"/buildid/{program.id}/section/.debug_info")[0] == 404


@pytest.mark.parametrize("owner, mode", [(65534, 0o644), (0, 0o666)], ids=["users", "writable"])
def test_a_debug_file_that_a_user_can_write_is_not_used_for_a_program_of_root(
        start, tmp_path, owner, mode):
    service = start("debuginfo")
    program = Program(tmp_path / "a", "roots")
    debug = tmp_path / "a" / "roots.debug"
    run("objcopy", "--only-keep-debug", program.path, debug)
    run("strip", "--strip-all", program.path)
    run("objcopy", f"--add-gnu-debuglink={debug}", program.path)
    os.chown(debug, owner, owner)
    debug.chmod(mode)
    agent = start("agent", debuginfo_url=service.url)

    program.run()

    wait_until(lambda: told(agent, program.id) == ["stored"], what="the program's own file")
    assert service.get(f"/buildid/{program.id}/section/.dynsym")[0] == 200
    assert service.get(f"/buildid/{program.id}/section/.debug_info")[0] == 404


def test_in_another_root_the_debug_files_of_that_root_are_used(start, tmp_path):
    service = start("debuginfo")
    program = Program(tmp_path / "root", "inside", "-static")
    place = tmp_path / "root" / "usr" / "lib" / "debug" / ".build-id" / program.id[:2]
    place.mkdir(parents=True)
    run("objcopy", "--only-keep-debug", program.path, place / f"{program.id[2:]}.debug")
    run("strip", "--strip-all", program.path)
    start("agent", debuginfo_url=service.url)

    subprocess.run(["chroot", tmp_path / "root", "/inside", "1500"], check=True)

    wait_until(lambda: program.is_named_by(service, tmp_path), what="the program's lines")


def test_the_common_file_of_dwz_is_uploaded_too(start, tmp_path):
    if not shutil.which("dwz"):
        pytest.skip("there is no dwz")
    service = start("debuginfo")
    programs = [Program(tmp_path / "a", f"common{n}") for n in range(2)]
    for program in programs:
        run("objcopy", "--only-keep-debug", program.path, f"{program.path}.debug")
        run("objcopy", "--strip-all", f"--add-gnu-debuglink={program.path}.debug", program.path)
    run("dwz", "-m", tmp_path / "a" / "common.dwz", "-M", tmp_path / "a" / "common.dwz",
        *[f"{p.path}.debug" for p in programs])
    if not (tmp_path / "a" / "common.dwz").exists():
        pytest.skip("dwz found nothing in common")
    common = run("readelf", "-n", tmp_path / "a" / "common.dwz")
    for program in programs:  # the CRC must be of the file that dwz wrote
        run("objcopy", "--remove-section=.gnu_debuglink", program.path)
        run("objcopy", f"--add-gnu-debuglink={program.path}.debug", program.path)
    start("agent", debuginfo_url=service.url)

    programs[0].run()

    build_id = common.partition("Build ID:")[2].split()[0]
    wait_until(lambda: service.get(f"/buildid/{build_id}/debuginfo")[0] == 200,
               what="the common file")
