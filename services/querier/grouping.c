#include "grouping.h"

void grouping_begin(struct grouping *grouping, const struct sample_set *row, struct arena *scratch)
{
	grouping->row = row;
	grouping->groups = arena_array(scratch, uint32_t, row->label_sets.len);
	grouping->knows_a_series = false;
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

static uint32_t make_group(const struct grouping *grouping, const struct sample *sample)
{
	struct label items[GROUP_BY_MAX];
	struct labels of_sample = grouping->row->label_sets.items[sample->labels];
	struct labels of_series = grouping->row->series.items[sample->series].labels;
	size_t len = 0;

	if (!grouping->by)
		return grouping_add(grouping->into, of_series);
	for (size_t i = 0; i < grouping->by->len; i++) {
		str name = grouping->by->names[i];
		str value = labels_get(of_series, name);

		if (!value.ptr)
			value = labels_get(of_sample, name);
		if (value.len)
			items[len++] = (struct label){ name, value };
	}
	return grouping_add(grouping->into, labels_of(items, len));
}

uint32_t grouping_of(struct grouping *grouping, const struct sample *sample)
{
	if (grouping->by && grouping->by->len == 0)
		return 0;
	/* Samples of a series stand together in a row, so groups are remembered for one only. */
	if (!grouping->knows_a_series || grouping->series != sample->series) {
		memset(grouping->groups, 0,
		       grouping->row->label_sets.len * sizeof(*grouping->groups));
		grouping->series = sample->series;
		grouping->knows_a_series = true;
	}

	/* Without labels to group by, all samples of a series are in one. */
	uint32_t *known = &grouping->groups[grouping->by ? sample->labels : 0];

	if (*known == 0)
		*known = make_group(grouping, sample) + 1;
	return *known - 1;
}
