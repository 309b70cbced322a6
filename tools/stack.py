#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a whole fleet on this machine: up, down, status, clean.

    tools/stack.py up                         start everything, under .run/ (this is `make up`)
    tools/stack.py up --only servers --run-dir DIR
                                              only PostgreSQL, Redis and Kafka, in another directory
    tools/stack.py down [--run-dir DIR]       stop the processes that `up` started, and no others
    tools/stack.py clean                      down, and remove the data

Each run directory is a separate fleet. The implementation is in tools/local/.
"""
import argparse
import os
import platform
import sys
from pathlib import Path

from local import say
from local.building import build
from local.fleet import SERVICES, Fleet, sweep
from local.servers import ROOT, fetch_jars


BTF = Path("/sys/kernel/btf/vmlinux")


def check_machine(without):
    if os.geteuid() != 0:
        raise say.Trouble("`make up` must be run as root: the agent loads BPF programs, and "
                          "PostgreSQL is started as its own user")
    if "agent" not in without and not BTF.exists():
        raise say.Trouble(f"this kernel ({platform.release()}) has no BTF ({BTF} is missing), "
                          "which the agent's BPF programs need: boot a kernel with "
                          "CONFIG_DEBUG_INFO_BTF, or run `tools/stack.py up --without agent`")


def up(fleet, only):
    if only != "servers":
        build(fleet.build)
    with fleet.locked():
        sweep()
        say.waiting("fetching Kafka's jars with Maven")
        fetch_jars()
        fleet.start_servers()
        if only != "servers":
            fleet.start_services()
        fleet.write_environment()
        if only == "servers":
            say.line(f"addresses: {fleet.run_dir}/env")
            return
        if "agent" not in fleet.services or "querier" not in fleet.services:
            return
        stacks = fleet.wait_first_profile()
    seconds = sum(int(s.rpartition(" ")[2]) for s in stacks) / 1e9
    say.step(f"this machine's profile has {len(stacks)} stacks, {seconds:.1f} s of CPU time")
    print_addresses(fleet)


def print_addresses(fleet):
    url = fleet.services["querier"].url
    port = url.rpartition(":")[2]
    say.line(f"""
Decima is up:      {url}/
its CPU profile:   curl '{url}/api/v1/query?query=%7B%7D&report=collapsed'
in pprof:          go tool pprof -top '{url}/api/v1/query?query=%7B%7D&report=pprof'
from elsewhere:    ssh -L {port}:127.0.0.1:{port} root@{platform.node()}
addresses, logs:   {fleet.run_dir}/env, {fleet.run_dir}/log/
to stop it:        make down""")


def down(fleet):
    with fleet.locked():
        if fleet.stop() == 0:
            say.line("nothing was running")


def status(fleet):
    all_run = True
    for process in fleet.processes():
        pid = process.pid()
        all_run = all_run and pid is not None
        state = "does not run" if pid is None else ("ready" if process.ready() else "not ready")
        print(f"{process.title:18} {state}" + (f", pid {pid}" if pid else ""))
    return 0 if all_run else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0],
                                     epilog=__doc__.partition("\n")[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["up", "down", "status", "clean"])
    parser.add_argument("--run-dir", default=ROOT / ".run", help="for data and logs (.run)")
    parser.add_argument("--only", choices=["servers"], help="only the servers, not our services")
    parser.add_argument("--without", action="append", default=[], choices=SERVICES,
                        help="leave this service out")
    parser.add_argument("--build-dir", default=ROOT / "build", help="build directory (build)")
    args = parser.parse_args()
    without = SERVICES if args.only == "servers" and args.action == "up" else args.without
    fleet = None
    try:
        if args.action == "up" and args.only != "servers":
            check_machine(without)
        fleet = Fleet(args.run_dir, build=args.build_dir, without=without)
        if args.action == "up":
            up(fleet, args.only)
        elif args.action == "status":
            return status(fleet)
        else:
            down(fleet)
            if args.action == "clean":
                fleet.remove()
    except (say.Trouble, PermissionError) as e:
        say.line()
        print(f"make {args.action}: {e}", file=sys.stderr)
        if args.action == "up" and any(p.alive() for p in (fleet.processes() if fleet else ())):
            print("started processes are still running; `make down` stops them", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say.line()
        print("interrupted; processes are left running: `make up` continues, `make down` stops "
              "them", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
