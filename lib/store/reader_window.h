// SPDX-License-Identifier: Apache-2.0
/*
 * reader_window - the time a reader looks at, cut to what a database can say.
 */
#pragma once

#include "base/clock.h"

struct store_window {
	uint64_t start_ms, end_ms;   /* [start_ms, end_ms) */
	int64_t first_day, last_day; /* since 1970, UTC, both included */
};

/* The whole hours in it, [start_ms, end_ms); start_ms is not before end_ms where there are none. */
static inline struct store_window store_window_hours(const struct store_window *window)
{
	struct store_window hours = *window;

	hours.start_ms = (window->start_ms + MS_PER_HOUR - 1) / MS_PER_HOUR * MS_PER_HOUR;
	hours.end_ms = window->end_ms / MS_PER_HOUR * MS_PER_HOUR;
	return hours;
}

struct store_window store_window_of(uint64_t start_ms, uint64_t end_ms);
