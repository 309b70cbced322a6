// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "store/chunk/chunk_decode.h"
#include "store/compact/compact_row_internal.h"

#include <inttypes.h>

/* Selects series by type, and labels them with their ids. */
struct series_filter {
	struct arena *arena;
	enum compact_types types;
};

static bool select_series(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	const struct series_filter *selection = self;
	bool is_gauge = profile_type_temporality(type) == TEMPORALITY_GAUGE;

	if (selection->types != COMPACT_ALL && is_gauge != (selection->types == COMPACT_GAUGES))
		return false;

	struct label *label = arena_new(selection->arena, struct label);

	label->name = STR("id");
	label->value = str_copy(selection->arena, (str){ (const char *)&id, sizeof(id) });
	*ret_labels = (struct labels){ label, 1 };
	return true;
}

bool compact_row_read(const struct compact_row *row, enum compact_types types, unsigned int without,
		      struct sample_set *set, struct err *err)
{
	size_t before = set->samples.len;
	uint64_t samples = 0;
	struct series_filter selection = { set->arena, types };
	const struct chunk_filter filter = {
		.series = select_series,
		.self = &selection,
		.start_ms = row->first_ms,
		.end_ms = row->last_ms + 1,
		.without = without,
	};

	if (!chunk_decode(row->payload, &filter, set, &samples, err))
		return false;
	if (samples == row->samples &&
	    (types != COMPACT_ALL || set->samples.len - before == samples))
		return true;
	return err_set(err, ERR_INVALID,
		       "%" PRIu64 " samples from %" PRIu64 " to %" PRIu64
		       " ms expected by the row's columns; it has %" PRIu64 ", %zu of them match",
		       row->samples, row->first_ms, row->last_ms, samples,
		       set->samples.len - before);
}

void compact_set_end(struct sample_set *set)
{
	for (size_t i = 0; i < set->series.len; i++)
		memcpy(&set->series.items[i].id, set->series.items[i].labels.items[0].value.ptr,
		       sizeof(uint64_t));
}
