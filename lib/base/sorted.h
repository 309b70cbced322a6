// SPDX-License-Identifier: Apache-2.0
/*
 * sorted - binary search in a sorted array.
 *
 *     size_t at = sorted_before(symbols, count, each, each->address <= address);
 *     if (at)
 *             ... symbols[at - 1] is the last one with an address <= `address`
 */
#pragma once

#include <stddef.h>

/*
 * The number of items at the front of the array for which the condition is_before is true; it must
 * be false for all later items. The condition refers to an item through the pointer `each`, whose
 * name the caller chooses.
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
