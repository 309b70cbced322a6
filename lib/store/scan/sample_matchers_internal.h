// SPDX-License-Identifier: Apache-2.0
/*
 * sample_matchers - tests the matchers of a plan on samples. Any thread, one per selector.
 */
#pragma once

#include "profile/sample_set.h"
#include "store/scan/scan_plan.h"
#include "store/store_bounds.h"

/*
 * Removes, in place, the samples whose own labels fail a matcher that is open for the series.
 * Temporary memory is in the arena. ERR_CANCELLED, ERR_TIMEOUT: the bounds ended. ERR_LIMIT: an
 * expression reached its match limit. After a failure the samples are undefined.
 */
bool sample_matchers_apply(const struct scan_plan *plan, const struct store_bounds *bounds,
			   struct sample_set *set, struct arena *arena, struct err *err) MUST_CHECK;
