# SPDX-License-Identifier: Apache-2.0
"""local - runs a whole fleet on this machine, for `make up` and the integration tests.

    process.py   one process: its pid file, its log, how it is stopped
    ports.py     private loopback ports, stored per fleet
    servers.py   PostgreSQL, Redis, Kafka
    services.py  decima-ingester, -debuginfo, -symbolizer, -querier, -agent
    fleet.py     a run directory with all of these processes, and .run/env
    building.py  meson and ninja
    npm.py       the packages of the web page
    no_skips.py  a pytest plugin: a test that is skipped for lack of a package fails
    say.py       progress messages

Only the standard library is used, so that it runs before any package is installed. All files of a
fleet are in its run directory: fleets with different directories are independent.
"""
