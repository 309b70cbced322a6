// SPDX-License-Identifier: Apache-2.0
/*
 * sorted - where something stands in an array that is in order.
 *
 *     size_t at = sorted_before(symbols, count, each, each->address <= address);
 *     if (at)
 *             ... symbols[at - 1] is the last that begins at the address or before
 */
#pragma once

#include <stddef.h>

/*
 * How many items stand before the place: the first ones, of which the condition is true; of all
 * after them it is false. It speaks of one of them as `each`, which the caller names.
 */
#define sorted_before(items, count, each, is_before)                          \
	({                                                                    \
		size_t low_ = 0, high_ = (count);                             \
		while (low_ < high_) {                                        \
			size_t middle_ = low_ + (high_ - low_) / 2;           \
			const __typeof__(*(items)) *each = &(items)[middle_]; \
			if (is_before)                                        \
				low_ = middle_ + 1;                           \
			else                                                  \
				high_ = middle_;                              \
		}                                                             \
		low_;                                                         \
	})
