// SPDX-License-Identifier: Apache-2.0
/*
 * label_reader - lists label names, values of a label, and profile types. One thread: that of the
 * reader, which has begun a snapshot.
 */
#pragma once

#include "store/read/store_query.h"
#include "store/scan/reader.h"

/*
 * Distinct label names, values of one label, and ids of profile types; sorted. With queries (the
 * API's match[]), only series that match at least one query count, within the window of that
 * query instead of [start_ms, end_ms). Labels of samples (pid, ...) are included. Labels of series
 * are exact to the day (UTC) or better, labels of samples to the millisecond.
 *
 * Array and texts are copied into the arena. ERR_CORRUPT: a stored row is malformed. ERR_LIMIT: the
 * queries match too many series, or an expression reached its match limit. ERR_IO: PostgreSQL
 * failed. ERR_CANCELLED, ERR_TIMEOUT: the bounds ended. After a failure the results are not set;
 * end the snapshot.
 */
bool store_reader_label_names(struct store_reader *reader, const struct store_query *queries,
			      size_t query_count, uint64_t start_ms, uint64_t end_ms,
			      struct arena *arena, str **ret_names, size_t *ret_count,
			      struct err *err) MUST_CHECK;
bool store_reader_label_values(struct store_reader *reader, str name,
			       const struct store_query *queries, size_t query_count,
			       uint64_t start_ms, uint64_t end_ms, struct arena *arena,
			       str **ret_values, size_t *ret_count, struct err *err) MUST_CHECK;
bool store_reader_profile_types(struct store_reader *reader, uint64_t start_ms, uint64_t end_ms,
				struct arena *arena, str **ret_types, size_t *ret_count,
				struct err *err) MUST_CHECK;
