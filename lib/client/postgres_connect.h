// SPDX-License-Identifier: Apache-2.0
/*
 * postgres_connect - connects to PostgreSQL without blocking beyond a deadline or a cancellation.
 *
 * libpq's blocking connect can do neither. If the connection string has several hosts, the first
 * one that responds is used, in libpq's order and by its rules. Used by postgres.c only.
 */
#pragma once

#include "client/postgres.h"

/* Connect. The caller closes the connection with PQfinish(). NULL:
 * ERR_INVALID, the connection string is malformed or not in UTF-8; ERR_IO, no host accepts the
 * connection; ERR_CANCELLED, the wait was cancelled. */
struct pg_conn *postgres_connect(const struct postgres_options *options, struct err *err);

/*
 * Wait until poll() reports one of the events, or an error, for the socket; *ret_ready is what it
 * reported. False: deadline_ns (monotonic) has passed, or grace_ms after a cancellation.
 */
bool socket_wait(int fd, short events, const struct cancel *cancel, uint64_t grace_ms,
		 uint64_t deadline_ns, short *ret_ready) MUST_CHECK;
