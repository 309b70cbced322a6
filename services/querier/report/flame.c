// SPDX-License-Identifier: Apache-2.0
#include "querier/report/flame.h"

#include "querier/report/flame_paths_internal.h"

#include <assert.h>

/*
 * `open` is the path from a root to the node that was added last. Paths are sorted, so the next
 * path shares a prefix with this one and with no other.
 */
struct tree_builder {
	const struct flame_paths *paths;
	struct flame *flame;
	struct arena *arena;
	VEC(uint32_t) open; /* indexes of nodes */
};

static size_t shared_len(const struct tree_builder *builder, const struct sample *sample,
			 size_t len)
{
	size_t shared = 0;

	while (shared < builder->open.len && shared < len &&
	       builder->flame->nodes.items[builder->open.items[shared]].symbol ==
		       flame_path_at(builder->paths, sample, shared))
		shared++;
	return shared;
}

static bool add_path(struct tree_builder *builder, const struct sample *sample, struct err *err)
{
	struct flame *flame = builder->flame;
	size_t len = flame_path_len(builder->paths, sample);

	builder->open.len = shared_len(builder, sample, len);
	for (size_t i = builder->open.len; i < len; i++) {
		struct flame_node node = {
			.parent = i ? builder->open.items[i - 1] : FLAME_NO_PARENT,
			.symbol = flame_path_at(builder->paths, sample, i),
		};

		*vec_push(builder->arena, &builder->open) = (uint32_t)flame->nodes.len;
		*vec_push(builder->arena, &flame->nodes) = node;
	}

	assert(builder->open.items && builder->open.len == len && len > 0);

	int64_t *self = &flame->nodes.items[builder->open.items[len - 1]].self;

	if (__builtin_add_overflow(*self, sample->value, self))
		return merge_overflow(err);
	return merge_within_memory(builder->paths->merge, builder->arena, err);
}

/*
 * Children follow their parents, so in reverse order each total is complete before it is added to
 * the parent's.
 */
static bool add_totals(struct flame *flame, struct err *err)
{
	for (size_t i = flame->nodes.len; i-- > 0;) {
		struct flame_node *node = &flame->nodes.items[i];
		int64_t *above = node->parent == FLAME_NO_PARENT
					 ? &flame->total
					 : &flame->nodes.items[node->parent].total;

		if (__builtin_add_overflow(node->total, node->self, &node->total) ||
		    __builtin_add_overflow(*above, node->total, above))
			return merge_overflow(err);
	}
	return true;
}

bool flame_build(const struct flame_symbols *symbols, size_t side, struct arena *arena,
		 struct flame *ret_flame, struct err *err)
{
	const struct merge *merge = symbols->merges[side];
	struct flame flame = { .symbols = symbols };
	struct flame_paths paths;
	struct tree_builder builder = { .paths = &paths, .flame = &flame, .arena = arena };

	if (!flame_paths_make(&paths, symbols, side, arena, err))
		return false;
	for (size_t i = 0; i < merge->set.samples.len; i++)
		if (!add_path(&builder, &merge->set.samples.items[paths.order[i]], err))
			return false;
	if (!add_totals(&flame, err))
		return false;
	*ret_flame = flame;
	return true;
}
