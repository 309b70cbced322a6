// SPDX-License-Identifier: Apache-2.0
/*
 * stuck_writers - terminates the connections of writers that stopped inside a transaction.
 *
 * A process that stops (SIGSTOP, a machine that hangs, a network failure) keeps its transaction
 * open, and other writers wait for its row locks. PostgreSQL terminates a session that is idle
 * between two statements (idle_in_transaction_session_timeout), but not one that is inside COPY or
 * inside a pipeline: the server considers it active. Only another client can terminate such a
 * session. One thread per connection.
 */
#pragma once

#include "client/postgres.h"

/*
 * Checks once. `pg` must be open, outside a transaction, and have the application name of the
 * ingesters: only their sessions are terminated. Adds the number of terminated connections to
 * *ret_ended. ERR_IO: PostgreSQL failed; *ret_ended is then unchanged.
 */
bool stuck_writers_terminate(struct postgres *pg, uint64_t *ret_ended, struct err *err) MUST_CHECK;
