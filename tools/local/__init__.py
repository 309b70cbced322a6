# SPDX-License-Identifier: Apache-2.0
"""local - the whole fleet on this machine: what `make up` and the integration tests run.

    process.py   one process: its pid file, its log, its end
    ports.py     private loopback ports, kept
    servers.py   PostgreSQL, Redis, Kafka
    services.py  decima-ingester, -debuginfo, -symbolizer, -querier, -agent
    fleet.py     a run directory with all of them in it, and .run/env
    building.py  meson and ninja
    npm.py       the page's packages
    no_skips.py  of pytest: a test that is skipped for want of a package fails
    say.py       what a person reads meanwhile

Only the standard library is used, so that it runs before anything is installed. Everything of one
fleet is in its run directory: two fleets with two directories do not meet.
"""
