// SPDX-License-Identifier: Apache-2.0
#include "querier/merge/grouping.h"

void grouping_begin(struct grouping *grouping, const struct sample_set *row, struct arena *scratch)
{
	grouping->row = row;
	grouping->groups = arena_array(scratch, uint32_t, row->label_sets.len);
	grouping->has_series = false;
}

uint32_t grouping_add(struct sample_set *into, struct labels labels)
{
	size_t before = into->label_sets.len;
	uint32_t group = sample_set_labels(into, labels);

	if (into->label_sets.len > before)
		into->label_sets.items[group] =
			labels_copy(into->arena, into->label_sets.items[group]);
	return group;
}

/* Collect the labels of `by`; `items` must have room for by->len. */
static size_t named_labels(const struct group_by *by, struct labels of_series,
			   struct labels of_sample, struct label *items)
{
	size_t len = 0;

	for (size_t i = 0; i < by->len; i++) {
		str name = by->names[i];
		str value = labels_get(of_series, name);

		if (!value.ptr)
			value = labels_get(of_sample, name);
		if (value.len)
			items[len++] = (struct label){ name, value };
	}
	return len;
}

static uint32_t make_group(const struct grouping *grouping, const struct sample *sample)
{
	AUTO_ARENA scratch = { 0 };
	struct labels of_sample = grouping->row->label_sets.items[sample->labels];
	struct labels of_series = grouping->row->series.items[sample->series].labels;
	size_t len = grouping->by ? grouping->by->len : of_series.len;
	struct label *items = arena_array(&scratch, struct label, len + 1);

	if (grouping->by)
		len = named_labels(grouping->by, of_series, of_sample, items);
	else if (len)
		memcpy(items, of_series.items, len * sizeof(*items));
	if (grouping->sources != GROUPING_NO_SOURCES)
		items[len++] = (struct label){
			GAUGE_SOURCE, grouping->sources == GROUPING_SOURCES_KEPT
					      ? labels_get(of_sample, GAUGE_SOURCE)
					      : gauge_source_name(grouping->row, sample, &scratch)
		};
	return grouping_add(grouping->into, labels_of(items, len));
}

static uint32_t without_source(struct sample_set *into, uint32_t group)
{
	struct labels labels = into->label_sets.items[group];
	struct label *items = arena_array(into->arena, struct label, labels.len);
	size_t len = 0;

	for (size_t i = 0; i < labels.len; i++)
		if (!str_eq(labels.items[i].name, GAUGE_SOURCE))
			items[len++] = labels.items[i];
	return grouping_add(into, (struct labels){ items, len });
}

const struct grouping_origin *grouping_origins(struct sample_set *into, const struct gauge *gauge,
					       struct arena *scratch)
{
	size_t count = into->label_sets.len; /* without_source() adds more */
	struct grouping_origin *origins = arena_array(scratch, struct grouping_origin, count);

	for (uint32_t i = 0; i < count; i++) {
		origins[i].source = gauge_find(gauge, into->label_sets.items[i]);
		origins[i].group = without_source(into, i);
	}
	return origins;
}

uint32_t grouping_of(struct grouping *grouping, const struct sample *sample)
{
	bool by_series = !grouping->by && grouping->sources == GROUPING_NO_SOURCES;

	if (grouping->by && grouping->by->len == 0 && grouping->sources == GROUPING_NO_SOURCES)
		return 0;
	/* The samples of a series are adjacent in a row, so the groups of one series are cached. */
	if (!grouping->has_series || grouping->series != sample->series) {
		memset(grouping->groups, 0,
		       grouping->row->label_sets.len * sizeof(*grouping->groups));
		grouping->series = sample->series;
		grouping->has_series = true;
	}

	uint32_t *group = &grouping->groups[by_series ? 0 : sample->labels];

	if (*group == 0)
		*group = make_group(grouping, sample) + 1;
	return *group - 1;
}
