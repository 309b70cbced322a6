// SPDX-License-Identifier: Apache-2.0
/*
 * store_bounds - how long a query may run: until a deadline, and until it is cancelled.
 *
 * Every wait for PostgreSQL and every loop over rows from PostgreSQL checks the bounds. Any thread.
 */
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/liveness.h"

struct store_bounds {
	uint64_t deadline_ns;        /* clock_monotonic_ns() */
	const struct cancel *cancel; /* NULL: cannot be cancelled */
};

/* The thread advances (base/liveness.h). ERR_CANCELLED: the query is cancelled. ERR_TIMEOUT: the
 * deadline has passed. */
static inline bool store_bounds_check(const struct store_bounds *bounds, struct err *err)
{
	liveness_advance();
	if (cancel_requested(bounds->cancel))
		return err_set(err, ERR_CANCELLED, "the query was cancelled: its client is gone");
	return clock_monotonic_ns() < bounds->deadline_ns ||
	       err_set(err, ERR_TIMEOUT, "the query took too long: choose a shorter time range");
}
