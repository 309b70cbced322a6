// SPDX-License-Identifier: Apache-2.0
#include "agent/process/mappings.h"

#include "agent/agent_limits.h"
#include "base/heap.h"
#include "base/sorted.h"

/* Index of the first mapping that ends after the address. */
static size_t first_after(const struct mappings *mappings, uint64_t address)
{
	return sorted_before(mappings->items, mappings->len, each, each->end <= address);
}

/* Inserts room for n items at index `at`, or removes -n items there. */
static void shift(struct mappings *mappings, size_t at, ptrdiff_t n)
{
	size_t len = (size_t)((ptrdiff_t)mappings->len + n);

	if (len > mappings->cap) {
		mappings->cap = len < 8 ? 8 : len + len / 2;
		mappings->items =
			heap_resize(mappings->items, mappings->cap, sizeof(struct mapping));
	}

	size_t from = n < 0 ? at + (size_t)-n : at;

	if (mappings->len > from)
		memmove(mappings->items + (size_t)((ptrdiff_t)from + n), mappings->items + from,
			(mappings->len - from) * sizeof(struct mapping));
	mappings->len = len;
}

/* Removes the range [start, end) from all mappings; a mapping around it is split. */
static void clear(struct mappings *mappings, uint64_t start, uint64_t end)
{
	size_t at = first_after(mappings, start);
	struct mapping *item = mappings->items + at;

	if (at < mappings->len && item->start < start && item->end > end) {
		struct mapping tail = *item;

		item->end = start;
		tail.file_offset += end - tail.start;
		tail.start = end;
		executable_reference(tail.executable);
		shift(mappings, at + 1, 1);
		mappings->items[at + 1] = tail;
		return;
	}
	if (at < mappings->len && item->start < start) {
		item->end = start;
		at++;
	}

	size_t covered = at;

	while (covered < mappings->len && mappings->items[covered].end <= end)
		executable_release(mappings->items[covered++].executable);
	shift(mappings, at, -(ptrdiff_t)(covered - at));
	item = mappings->items + at;
	if (at < mappings->len && item->start < end) {
		item->file_offset += end - item->start;
		item->start = end;
	}
}

bool mappings_insert(struct mappings *mappings, struct mapping mapping)
{
	if (mapping.start >= mapping.end || mappings->len + 2 > MAPPINGS_MAX) {
		executable_release(mapping.executable);
		return false;
	}
	if (mappings->len)
		clear(mappings, mapping.start, mapping.end);

	size_t at = first_after(mappings, mapping.start);

	shift(mappings, at, 1);
	mappings->items[at] = mapping;
	return true;
}

bool mappings_replaces_code(const struct mappings *mappings, const struct mapping *mapping)
{
	if (!mapping->executable)
		return false;
	for (size_t i = first_after(mappings, mapping->start);
	     i < mappings->len && mappings->items[i].start < mapping->end; i++)
		if (mappings->items[i].executable && executable_of(mappings->items[i].executable) !=
							     executable_of(mapping->executable))
			return true;
	return false;
}

bool mappings_equal(const struct mappings *a, const struct mappings *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++) {
		const struct mapping *x = &a->items[i], *y = &b->items[i];

		if (x->start != y->start || x->end != y->end || x->file_offset != y->file_offset ||
		    executable_of(x->executable) != executable_of(y->executable))
			return false;
	}
	return true;
}

const struct mapping *mappings_find(const struct mappings *mappings, uint64_t address)
{
	size_t at = first_after(mappings, address);

	return at < mappings->len && mappings->items[at].start <= address ? &mappings->items[at]
									  : NULL;
}

void mappings_copy(struct mappings *to, const struct mappings *from)
{
	*to = (struct mappings){ .len = from->len, .cap = from->len };
	if (!from->len)
		return;
	to->items = heap_resize(NULL, from->len, sizeof(struct mapping));
	memcpy(to->items, from->items, from->len * sizeof(struct mapping));
	for (size_t i = 0; i < to->len; i++)
		executable_reference(to->items[i].executable);
}

void mappings_done(struct mappings *mappings)
{
	for (size_t i = 0; i < mappings->len; i++)
		executable_release(mappings->items[i].executable);
	free(mappings->items);
	*mappings = (struct mappings){ 0 };
}
