// SPDX-License-Identifier: Apache-2.0
#include "pool.h"

#include "base/map.h"
#include "wire/otlp_reader.h"

#include <stdio.h>

static const struct otlp_options any_time = { 0, UINT64_MAX };

static int more_samples_first(const void *a, const void *b)
{
	const struct program *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

static void merge_batch(struct sample_set *all, str batch)
{
	AUTO_ARENA arena = { 0 };
	struct otlp_result result;
	struct sample_set set;
	struct err err;

	sample_set_init(&set, &arena);
	if (!otlp_read(batch, &any_time, &set, &result, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		exit(EXIT_FAILURE);
	}
	sample_set_merge(all, &set, NULL);
}

static str comm_of(const struct sample_set *set, size_t sample)
{
	const struct series *series = &set->series.items[set->samples.items[sample].series];

	return labels_get(series->labels, STR("comm"));
}

void pool_init(struct pool *pool, const str *batches, size_t count, size_t least,
	       struct arena *arena)
{
	struct map known = { .arena = arena };
	struct sample_set *set = &pool->set;
	VEC(struct program) all = { 0 };

	*pool = (struct pool){ 0 };
	sample_set_init(set, arena);
	for (size_t i = 0; i < count; i++)
		merge_batch(set, batches[i]);
	for (size_t i = 0; i < set->samples.len; i++) {
		void **slot = map_at(&known, comm_of(set, i));

		if (!*slot) {
			struct labels labels =
				set->series.items[set->samples.items[i].series].labels;

			*vec_push(arena, &all) = (struct program){
				.comm = comm_of(set, i),
				.exe = labels_get(labels, STR("exe")),
			};
			*slot = (void *)(uintptr_t)all.len;
		}
		all.items[(uintptr_t)*slot - 1].count++;
	}
	for (size_t i = 0; i < all.len; i++) {
		struct program *program = &all.items[i];
		uint32_t *samples = arena_array(arena, uint32_t, program->count);
		size_t filled = 0;

		for (size_t j = 0; j < set->samples.len; j++)
			if (str_eq(comm_of(set, j), program->comm))
				samples[filled++] = (uint32_t)j;
		program->samples = samples;
		if (program->count >= least)
			*vec_push(arena, &pool->programs) = *program;
	}
	if (pool->programs.len)
		qsort(pool->programs.items, pool->programs.len, sizeof(struct program),
		      more_samples_first);
}
