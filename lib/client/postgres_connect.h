// SPDX-License-Identifier: Apache-2.0
/*
 * postgres_connect - finds a server that answers, without waiting longer than anybody wants.
 *
 * libpq's own way of connecting waits by itself, deaf to a stop. Of several hosts in the connection
 * string the first that answers is taken, in libpq's order and by its rules.
 */
#pragma once

#include "client/postgres.h"

/* NULL: none answers. */
struct pg_conn *postgres_connect(const struct postgres_options *options, struct err *err);

/*
 * Until one of the events, or whatever else poll() says, is true of the socket; told in *ret_ready.
 * False: the deadline came first, or grace_ms were over since a stop was asked for.
 */
bool socket_wait(int fd, short events, const struct stop *stop, uint64_t grace_ms,
		 uint64_t deadline_ns, short *ret_ready) MUST_CHECK;
