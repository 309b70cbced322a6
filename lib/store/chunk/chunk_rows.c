// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_rows.h"

#include "store/chunk/chunk_directory.h"
#include "store/chunk/chunk_encode.h"
#include "store/limits.h"

/* The set with a range of its samples; the tables are shared. */
static struct sample_set view(const struct sample_set *set, size_t first, size_t count)
{
	struct sample_set viewed = *set;

	viewed.samples.items = set->samples.items + first;
	viewed.samples.len = viewed.samples.cap = count;
	return viewed;
}

/* False: the samples exceed the limits of a row. */
static bool make_row(const struct sample_set *set, int level, struct arena *scratch,
		     const struct chunk_row_sink *sink)
{
	struct chunk_row row = { .set = set, .first_ms = UINT64_MAX };
	struct chunk_layout layout;

	row.payload = chunk_encode(set, level, scratch, &layout);
	if (!row.payload.len)
		return false;

	struct chunk_directory directory = chunk_directory_of(set, scratch);

	if (layout.slice_count > 1)
		directory.layout = layout;
	row.directory = chunk_directory_write(&directory, scratch);
	for (size_t i = 0; i < directory.series_count; i++) {
		const struct directory_series *series = &directory.series[i];

		row.first_ms = series->first_ms < row.first_ms ? series->first_ms : row.first_ms;
		row.last_ms = series->last_ms > row.last_ms ? series->last_ms : row.last_ms;
	}
	sink->put(sink->self, &row);
	return true;
}

void chunk_rows_make(const struct sample_set *set, int level, struct arena *scratch,
		     const struct chunk_row_sink *sink)
{
	size_t count = ROW_SAMPLES_MAX;

	for (size_t at = 0; at < set->samples.len;) {
		size_t left = set->samples.len - at;
		size_t len = left < count ? left : count;
		struct sample_set row = view(set, at, len);

		if (make_row(&row, level, scratch, sink))
			at += len;
		else
			count = (len + 1) / 2;
	}
}
