// SPDX-License-Identifier: Apache-2.0
/*
 * janitor - ends the connections of writers that were stopped in the middle of something.
 *
 * A process that stands still (SIGSTOP, a machine that hangs, a network that is cut) keeps its
 * transaction, and whoever wants the same rows waits. PostgreSQL ends those that stand between two
 * statements (idle_in_transaction_session_timeout), but none that stands inside COPY or among the
 * statements of a pipeline: to the server those are at work. Only another client can end them.
 */
#pragma once

#include "client/postgres.h"

/* One look, in no transaction; *ret_ended grows by those that were ended. */
bool stuck_writers_terminate(struct postgres *pg, uint64_t *ret_ended, struct err *err) MUST_CHECK;
