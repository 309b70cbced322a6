// SPDX-License-Identifier: Apache-2.0
#include "store/compact/rollup.h"
#include "store/compact/rollup_gauge_internal.h"

/* In place: removes all labels of samples except `pid`. */
static void keep_pids(struct sample_set *set)
{
	AUTO_ARENA scratch = { 0 };
	size_t count = set->label_sets.len; /* the set grows below */
	uint32_t *pids = arena_array(&scratch, uint32_t, count);

	for (size_t i = 0; i < count; i++) {
		struct labels labels = set->label_sets.items[i];
		size_t at = 0;

		while (at < labels.len && !str_eq(labels.items[at].name, STR("pid")))
			at++;
		pids[i] = sample_set_labels(set, at < labels.len
							 ? (struct labels){ &labels.items[at], 1 }
							 : (struct labels){ 0 });
	}
	for (size_t i = 0; i < set->samples.len; i++)
		set->samples.items[i].labels = pids[set->samples.items[i].labels];
}

static int compare_processes(const struct sample *x, const struct sample *y)
{
	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return (x->labels > y->labels) - (x->labels < y->labels);
}

static int compare_times(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	int order = compare_processes(x, y);

	return order ? order : (x->time_ms > y->time_ms) - (x->time_ms < y->time_ms);
}

static int compare_stacks(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	int order = compare_processes(x, y);

	return order ? order : (x->stack > y->stack) - (x->stack < y->stack);
}

/* The number of leading samples of one process. */
static size_t run_of(const struct sample *samples, size_t count)
{
	size_t len = 1;

	while (len < count && compare_processes(&samples[0], &samples[len]) == 0)
		len++;
	return len;
}

void rollup_gauge_fold(struct sample_set *set)
{
	AUTO_ARENA scratch = { 0 };
	size_t count = set->samples.len, kept = 0;
	struct sample *times = arena_array(&scratch, struct sample, count);
	struct sample *sums = arena_array(&scratch, struct sample, count);

	if (!count)
		return;
	keep_pids(set);
	memcpy(times, set->samples.items, count * sizeof(*times));
	memcpy(sums, set->samples.items, count * sizeof(*sums));

	size_t time_count = rollup_sum(times, count, compare_times);
	size_t sum_count = rollup_sum(sums, count, compare_stacks);

	/* Both arrays have the same processes in the same order, and at most its samples of each.
	 */
	for (size_t i = 0, j = 0; i < sum_count;) {
		size_t stacks = run_of(&sums[i], sum_count - i);
		size_t profiles = run_of(&times[j], time_count - j);

		for (size_t k = 0; k < stacks || k < profiles; k++) {
			struct sample *sample = &set->samples.items[kept++];

			*sample = sums[i + (k < stacks ? k : stacks - 1)];
			sample->time_ms = times[j + (k < profiles ? k : profiles - 1)].time_ms;
			if (k >= stacks)
				sample->value = 0;
		}
		i += stacks;
		j += profiles;
	}
	set->samples.len = kept;
}
