// SPDX-License-Identifier: Apache-2.0
/*
 * label_reader - which names, values and types there are.
 */
#pragma once

#include "store/reader.h"
#include "store/store_query.h"

/*
 * Names of labels, values of one, ids of profile types; sorted, each once. `queries` (may be none)
 * are alternatives that a series must match one of: the API's match[]; the window is theirs where
 * there are any. Labels of samples (pid, ...) are found too. What belongs to series is known to the
 * day (UTC) or better, what belongs to samples to the millisecond.
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
