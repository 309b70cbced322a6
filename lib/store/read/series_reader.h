// SPDX-License-Identifier: Apache-2.0
/*
 * series_reader - lists the series that have a sample which matches a query. One thread: that of
 * the reader, which has begun a snapshot.
 */
#pragma once

#include "profile/sample_set.h"
#include "store/read/store_query.h"
#include "store/scan/reader.h"

/*
 * The distinct series that have a sample which matches at least one of the queries, sorted by type
 * and labels. Exact to the millisecond. The period of the series is not set. Array, texts and
 * labels are copied into the arena. Fails as store_reader_label_names() does
 * ("store/read/label_reader.h").
 */
bool store_reader_series(struct store_reader *reader, const struct store_query *queries,
			 size_t query_count, struct arena *arena, struct series **ret_series,
			 size_t *ret_count, struct err *err) MUST_CHECK;
