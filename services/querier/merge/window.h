// SPDX-License-Identifier: Apache-2.0
/*
 * window - the time range of a request: [start_ms, end_ms), Unix milliseconds.
 *
 * A value; copied freely.
 */
#pragma once

#include <stdint.h>

struct window {
	uint64_t start_ms, end_ms;
};
