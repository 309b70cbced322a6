// SPDX-License-Identifier: Apache-2.0
/*
 * store_sink - the caller's callback, which receives samples while a plan runs.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"

/*
 * A sink is called from one thread at a time, but different sinks may be called at once from
 * different threads; none is called after row_scan_end() has returned. A callback that returns
 * false ends the query with its error, which must not be ERR_INVALID: that code means that the
 * stored row is malformed.
 */
struct store_sink {
	/*
	 * Called with the matching samples of one stored row, at least one. Series have their
	 * labels. The set may contain stacks and label sets that no sample references. The set
	 * lives until the callback returns.
	 */
	bool (*on_samples)(void *self, const struct sample_set *set, struct err *err);
	void *self;
	/*
	 * Called before on_samples() with all samples of the matching series, including samples
	 * whose own labels do not match the selector. May be NULL.
	 */
	bool (*on_candidates)(void *self, const struct sample_set *set, struct err *err);
};
