// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_decode.h"
#include "store/compact/rollup.h"
#include "store/compact/rollup_fold_internal.h"
#include "store/compact/rollup_gauge_internal.h"

/* Below this number, samples are not summed before the end. */
enum { SUMS_FIRST = 1 << 16 };

void rollup_fold_init(struct rollup_fold *fold, uint64_t hour_ms, struct arena *arena)
{
	*fold = (struct rollup_fold){ .hour_ms = hour_ms, .next = SUMS_FIRST };
	sample_set_init(&fold->sums, arena);
	sample_set_init(&fold->gauges, arena);
}

static int compare(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

/* Sums the samples of each series and stack. */
static void add_up(struct sample_set *set)
{
	set->samples.len = rollup_sum(set->samples.items, set->samples.len, compare);
}

static bool set_hour(void *self, const struct sample_set *from, struct sample *sample)
{
	const uint64_t *hour_ms = self;

	(void)from;
	sample->time_ms = *hour_ms;
	return true;
}

bool rollup_fold_add(struct rollup_fold *fold, const struct compact_row *row, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set sums, gauges;

	sample_set_init(&sums, &arena);
	sample_set_init(&gauges, &arena);
	if (!compact_row_read(row, COMPACT_DELTAS, CHUNK_NO_LABELS, &sums, err))
		return false;
	if (sums.samples.len < row->samples &&
	    !compact_row_read(row, COMPACT_GAUGES, 0, &gauges, err))
		return false;
	if (sums.samples.len + gauges.samples.len != row->samples)
		return err_set(err, ERR_INVALID,
			       "a row has samples outside the times in its columns");
	add_up(&sums);
	sample_set_merge(&fold->sums, &sums, &(struct sample_filter){ set_hour, &fold->hour_ms });
	if (fold->sums.samples.len > fold->next) {
		add_up(&fold->sums);
		fold->next = 2 * fold->sums.samples.len + SUMS_FIRST;
	}
	rollup_gauge_fold(&gauges);
	sample_set_merge(&fold->gauges, &gauges, NULL);
	fold->samples += row->samples;
	return true;
}

void rollup_fold_end(struct rollup_fold *fold)
{
	add_up(&fold->sums);
	rollup_gauge_fold(&fold->gauges);
	compact_set_end(&fold->sums);
	compact_set_end(&fold->gauges);
}
