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

struct store_window store_window_of(uint64_t start_ms, uint64_t end_ms);
