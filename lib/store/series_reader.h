// SPDX-License-Identifier: Apache-2.0
/*
 * series_reader - which series of a selector have a sample within the window.
 */
#pragma once

#include "profile/sample_set.h"
#include "store/reader.h"
#include "store/store_query.h"

/*
 * The series that have a sample which one of the queries means, sorted by type and labels, each
 * once. Exact to the millisecond; the period is not told.
 */
bool store_reader_series(struct store_reader *reader, const struct store_query *queries,
			 size_t query_count, struct arena *arena, struct series **ret_series,
			 size_t *ret_count, struct err *err) MUST_CHECK;
