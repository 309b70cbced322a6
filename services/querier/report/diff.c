// SPDX-License-Identifier: Apache-2.0
#include "querier/report/diff.h"

#include <assert.h>

/*
 * Both graphs are read from the front, like two sorted lists in a merge. Of the two next nodes the
 * deeper one is put first: it belongs below a node that was put already and whose children in the
 * other graph, if any, are all put. If both are equally deep, the smaller symbol is put first, or
 * both nodes together if the symbols are equal. Their parent is the node that was put last one
 * level above, because neither graph moves up a level while the other one still has nodes below it.
 */
struct diff_cursor {
	const struct flame *flame;
	const uint32_t *depths; /* by node */
	size_t next;
	struct flame *out;
};

struct diff_builder {
	struct diff_cursor a, b;
	struct merge *merge;
	struct arena *arena;
	VEC(uint32_t) open; /* by depth: the node that was put last there */
};

static const uint32_t *depths_of(const struct flame *flame, struct arena *arena)
{
	uint32_t *depths = arena_array(arena, uint32_t, flame->nodes.len);

	for (size_t i = 0; i < flame->nodes.len; i++) {
		uint32_t parent = flame->nodes.items[i].parent;

		depths[i] = parent == FLAME_NO_PARENT ? 0 : depths[parent] + 1;
	}
	return depths;
}

static bool has_more(const struct diff_cursor *cursor)
{
	return cursor->next < cursor->flame->nodes.len;
}

/* Whose next node is put first: below 0 a's, above 0 b's, 0 both. */
static int compare_next(const struct diff_cursor *a, const struct diff_cursor *b)
{
	if (!has_more(a) || !has_more(b))
		return has_more(a) ? -1 : 1;

	uint32_t left = a->depths[a->next], right = b->depths[b->next];

	if (left != right)
		return left > right ? -1 : 1;

	uint32_t x = a->flame->nodes.items[a->next].symbol;
	uint32_t y = b->flame->nodes.items[b->next].symbol;

	return (x > y) - (x < y);
}

/* Put a node with the values of the cursor's next node, or with zeros if it is not there. */
static void put(struct diff_cursor *cursor, bool there, struct arena *arena, uint32_t parent,
		uint32_t symbol)
{
	struct flame_node node = { .parent = parent, .symbol = symbol };

	if (there) {
		node.self = cursor->flame->nodes.items[cursor->next].self;
		node.total = cursor->flame->nodes.items[cursor->next].total;
		cursor->next++;
	}
	*vec_push(arena, &cursor->out->nodes) = node;
}

static bool put_next(struct diff_builder *builder, struct err *err)
{
	struct diff_cursor *a = &builder->a, *b = &builder->b;
	int order = compare_next(a, b);
	const struct diff_cursor *named = order > 0 ? b : a;
	uint32_t depth = named->depths[named->next];
	uint32_t symbol = named->flame->nodes.items[named->next].symbol;
	uint32_t parent = FLAME_NO_PARENT;

	if (depth) {
		assert(builder->open.items && depth <= builder->open.len);
		parent = builder->open.items[depth - 1];
	}
	builder->open.len = depth;
	*vec_push(builder->arena, &builder->open) = (uint32_t)a->out->nodes.len;
	put(a, order <= 0, builder->arena, parent, symbol);
	put(b, order >= 0, builder->arena, parent, symbol);
	return merge_within_memory(builder->merge, builder->arena, err);
}

bool diff_build(const struct flame_symbols *symbols, struct arena *arena, struct diff *ret_diff,
		struct err *err)
{
	struct flame a, b;

	if (!flame_build(symbols, 0, arena, &a, err) || !flame_build(symbols, 1, arena, &b, err))
		return false;

	struct diff diff = { .a = { .symbols = symbols, .total = a.total },
			     .b = { .symbols = symbols, .total = b.total } };
	struct diff_builder builder = { .a = { &a, depths_of(&a, arena), 0, &diff.a },
					.b = { &b, depths_of(&b, arena), 0, &diff.b },
					.merge = symbols->merges[1],
					.arena = arena };

	while (has_more(&builder.a) || has_more(&builder.b))
		if (!put_next(&builder, err))
			return false;
	*ret_diff = diff;
	return true;
}
