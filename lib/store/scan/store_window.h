// SPDX-License-Identifier: Apache-2.0
/*
 * store_window - the time range of a query, limited to times that PostgreSQL can represent. Any
 * thread.
 */
#pragma once

#include "base/clock.h"

/* 9999-12-31 23:59:59 UTC, in Unix ms. */
#define STORE_WINDOW_END_MAX_MS UINT64_C(253402300799000)

struct store_window {
	uint64_t start_ms, end_ms; /* [start_ms, end_ms) */
	/* Days since 1970, UTC, inclusive; last_day is the day of end_ms itself. */
	int64_t first_day, last_day;
};

/* The window of [start_ms, end_ms); empty if start_ms >= end_ms. Cannot fail. */
static inline struct store_window store_window_of(uint64_t start_ms, uint64_t end_ms)
{
	struct store_window window = { .end_ms = end_ms < STORE_WINDOW_END_MAX_MS
							 ? end_ms
							 : STORE_WINDOW_END_MAX_MS };

	window.start_ms = start_ms < window.end_ms ? start_ms : window.end_ms;
	window.first_day = (int64_t)(window.start_ms / MS_PER_DAY);
	window.last_day = (int64_t)(window.end_ms / MS_PER_DAY);
	return window;
}

/* True if the range [first_ms, last_ms] overlaps the window. */
static inline bool store_window_overlaps(const struct store_window *window, uint64_t first_ms,
					 uint64_t last_ms)
{
	return first_ms < window->end_ms && last_ms >= window->start_ms;
}
