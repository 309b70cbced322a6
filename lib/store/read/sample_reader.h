// SPDX-License-Identifier: Apache-2.0
/*
 * sample_reader - reads the samples that a query selects, over one or several connections.
 *
 * Samples are passed to a sink row by row, so the memory of a query does not grow with the amount
 * of data that it reads.
 */
#pragma once

#include "profile/sample_set.h"
#include "store/read/store_query.h"
#include "store/scan/reader.h"

/* Receives samples. A sink is called from one thread at a time. */
struct store_sink {
	/*
	 * Called with the matching samples of one stored row, at least one. Series have their
	 * labels. The set may contain stacks and label sets that no sample references. It lives
	 * until the callback returns.
	 */
	bool (*on_samples)(void *self, const struct sample_set *set, struct err *err);
	void *self;
	/*
	 * Called before on_samples() with all samples of the matching series, including samples
	 * whose own labels do not match the selector. May be NULL.
	 */
	bool (*on_candidates)(void *self, const struct sample_set *set, struct err *err);
};

/*
 * The readers of a parallel scan: readers[0] is the leader and must have begun its snapshot. The
 * other readers need only their options: they connect and join the snapshot if the amount of data
 * is worth it (parallel_scan.h).
 */
struct store_parallel_readers {
	struct store_reader *readers;
	size_t count;
};

/*
 * Reads the samples. sinks: one for each reader; each sample is passed to exactly one of them.
 * ERR_INVALID: a stored row is corrupt. ERR_LIMIT: the bounds or QUERY_SERIES_BYTES_MAX are
 * exceeded. Errors of a sink are returned unchanged.
 */
bool store_parallel_samples(const struct store_parallel_readers *group,
			    const struct store_query *query, const struct store_sink *sinks,
			    struct err *err) MUST_CHECK;

/* The same over one connection. */
bool store_reader_samples(struct store_reader *reader, const struct store_query *query,
			  const struct store_sink *sink, struct err *err) MUST_CHECK;
