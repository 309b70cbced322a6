// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "querier/report/build_lists_internal.h"

static int compare_builds(const void *left, const void *right)
{
	const struct flame_build *a = left, *b = right;
	int order = str_compare(a->path, b->path);

	return order ? order : str_compare(a->build_id, b->build_id);
}

/* Keep one of equal neighbours. */
static size_t unique(struct flame_build *builds, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (kept == 0 || compare_builds(&builds[kept - 1], &builds[i]) != 0)
			builds[kept++] = builds[i];
	return kept;
}

static bool is_equal(struct build_list a, struct build_list b)
{
	size_t equal = 0;

	while (equal < a.count && equal < b.count &&
	       compare_builds(&a.builds[equal], &b.builds[equal]) == 0)
		equal++;
	return equal == a.count && equal == b.count;
}

static uint64_t hash_of(struct build_list list)
{
	uint64_t hash = list.count;

	for (size_t i = 0; i < list.count; i++) {
		hash = hash * UINT64_C(0x9e3779b97f4a7c15) + hash_64(list.builds[i].path);
		hash = hash * UINT64_C(0x9e3779b97f4a7c15) + hash_64(list.builds[i].build_id);
	}
	return hash;
}

void build_lists_init(struct build_lists *lists, struct arena *arena)
{
	*lists = (struct build_lists){ .arena = arena };
	*vec_push(arena, &lists->items) = (struct build_list){ 0 };
}

/* The list of neighbours in a symbol, sorted: `builds` is changed. */
static uint32_t add_list(struct build_lists *lists, struct build_list list)
{
	size_t known = lists->index.len;
	uint32_t *place = index_at(lists->arena, &lists->index, hash_of(list), each,
				   is_equal(lists->items.items[each], list));

	if (lists->index.len > known) {
		*place = (uint32_t)lists->items.len;
		*vec_push(lists->arena, &lists->items) = list;
	}
	return *place;
}

uint32_t build_lists_add(struct build_lists *lists, const struct flame_symbol *symbol)
{
	size_t count = symbol->build_count;

	if (count == 0)
		return 0;

	struct flame_build *builds = arena_array(lists->arena, struct flame_build, count);

	memcpy(builds, symbol->builds, count * sizeof(*builds));
	qsort(builds, count, sizeof(*builds), compare_builds);
	count = unique(builds, count);
	if (count > BUILDS_OF_SYMBOL_MAX) {
		lists->left_out += count - BUILDS_OF_SYMBOL_MAX;
		count = BUILDS_OF_SYMBOL_MAX;
	}
	return add_list(lists, (struct build_list){ builds, count });
}
