// SPDX-License-Identifier: Apache-2.0
#include "store/rollup_fold.h"

#include "profile/profile_type.h"
#include "store/chunk.h"

void rollup_fold_init(struct rollup_fold *fold, uint64_t hour_ms, struct arena *arena)
{
	*fold = (struct rollup_fold){ .hour_ms = hour_ms };
	sample_set_init(&fold->set, arena);
}

static int compare(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

/* Samples of one series and stack become one. */
static void add_up(struct sample_set *set)
{
	struct sample *samples = set->samples.items;
	size_t last = 0;

	if (set->samples.len == 0)
		return;
	qsort(samples, set->samples.len, sizeof(*samples), compare);
	for (size_t i = 1; i < set->samples.len; i++) {
		if (compare(&samples[last], &samples[i]) == 0)
			samples[last].value = (int64_t)((uint64_t)samples[last].value +
							(uint64_t)samples[i].value);
		else
			samples[++last] = samples[i];
	}
	set->samples.len = last + 1;
}

static bool is_summed(void *self, const struct sample_set *from, struct sample *sample)
{
	const struct rollup_fold *fold = self;

	sample->time_ms = fold->hour_ms;
	return profile_type_temporality(from->series.items[sample->series].type) !=
	       TEMPORALITY_GAUGE;
}

bool rollup_fold_add(struct rollup_fold *fold, const struct compact_row *row, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;

	sample_set_init(&set, &arena);
	if (!compact_row_read(row, CHUNK_NO_LABELS, &set, err))
		return false;
	add_up(&set);
	sample_set_merge(&fold->set, &set, &(struct sample_filter){ is_summed, fold });
	fold->samples += row->samples;
	return true;
}

void rollup_fold_end(struct rollup_fold *fold)
{
	add_up(&fold->set);
	compact_set_end(&fold->set);
}
