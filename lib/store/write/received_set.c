// SPDX-License-Identifier: Apache-2.0
#include "store/write/received_set.h"

#include "base/buf.h"
#include "base/sorted.h"
#include "base/vec.h"

#include <assert.h>
#include <inttypes.h>

static void range_remove(struct received_set *set, size_t at)
{
	set->missing_count--;
	memmove(&set->missing[at], &set->missing[at + 1],
		(set->missing_count - at) * sizeof(*set->missing));
}

static void range_insert(struct received_set *set, size_t at, struct received_range range,
			 struct arena *arena)
{
	VEC(struct received_range) ranges = { set->missing, set->missing_count, set->missing_cap };

	(void)vec_push(arena, &ranges);
	memmove(&ranges.items[at + 1], &ranges.items[at],
		(set->missing_count - at) * sizeof(*ranges.items));
	ranges.items[at] = range;
	set->missing = ranges.items;
	set->missing_count = ranges.len;
	set->missing_cap = ranges.cap;
}

/* The batches of the oldest range are the least likely to arrive. */
static void drop_beyond_max(struct received_set *set)
{
	if (set->missing_count <= RECEIVED_RANGES_MAX)
		return;
	set->gap += set->missing[0].last - set->missing[0].first + 1;
	range_remove(set, 0);
}

/* The index of the first range that does not end before the number; may be missing_count. */
static size_t range_find(const struct received_set *set, uint64_t sequence)
{
	return sorted_before(set->missing, set->missing_count, each, each->last < sequence);
}

bool received_set_has(const struct received_set *set, uint64_t sequence)
{
	size_t at = range_find(set, sequence);

	return sequence <= set->highest &&
	       (at == set->missing_count || set->missing[at].first > sequence);
}

static enum received_verdict add_late(struct received_set *set, uint64_t sequence,
				      struct arena *arena)
{
	if (received_set_has(set, sequence))
		return RECEIVED_DUPLICATE;

	size_t at = range_find(set, sequence);
	struct received_range range = set->missing[at];

	if (range.first == range.last) {
		range_remove(set, at);
	} else if (range.first == sequence) {
		set->missing[at].first++;
	} else if (range.last == sequence) {
		set->missing[at].last--;
	} else {
		set->missing[at].last = sequence - 1;
		range_insert(set, at + 1, (struct received_range){ sequence + 1, range.last },
			     arena);
		drop_beyond_max(set);
	}
	return RECEIVED_LATE;
}

enum received_verdict received_set_add(struct received_set *set, uint64_t sequence,
				       struct arena *arena)
{
	assert(sequence > 0);
	if (sequence <= set->highest)
		return add_late(set, sequence, arena);
	if (sequence > set->highest + 1) {
		struct received_range skipped = { set->highest + 1, sequence - 1 };

		range_insert(set, set->missing_count, skipped, arena);
		drop_beyond_max(set);
	}
	set->highest = sequence;
	return RECEIVED_NEW;
}

uint64_t received_set_missing_below(const struct received_set *set, uint64_t sequence)
{
	uint64_t missing = 0;

	for (size_t i = 0; i < set->missing_count && set->missing[i].first < sequence; i++) {
		uint64_t last = set->missing[i].last;

		missing += (last < sequence ? last + 1 : sequence) - set->missing[i].first;
	}
	return missing;
}

uint64_t received_set_missing(const struct received_set *set)
{
	return received_set_missing_below(set, UINT64_MAX);
}

str received_set_missing_text(const struct received_set *set, struct arena *arena)
{
	struct buf text = { .arena = arena };

	buf_str(&text, STR("{"));
	for (size_t i = 0; i < set->missing_count; i++)
		buf_format(&text, "%s[%" PRIu64 ",%" PRIu64 ")", i ? "," : "",
			   set->missing[i].first, set->missing[i].last + 1);
	buf_str(&text, STR("}"));
	return buf_bytes(&text);
}

/* One `[first,end)`, cut from the front of the text. */
static bool parse_range(str *text, struct received_range *ret_range)
{
	uint64_t first, end;

	if (!str_starts_with(*text, STR("[")))
		return false;
	*text = str_skip(*text, 1);
	if (!str_to_u64(str_cut(text, ','), &first) || !str_to_u64(str_cut(text, ')'), &end))
		return false;
	if (first == 0 || end <= first)
		return false;
	*ret_range = (struct received_range){ first, end - 1 };
	return true;
}

static bool parse_ranges(str text, struct arena *arena, struct received_set *set)
{
	for (bool more = text.len > 0; more;) {
		struct received_range range;
		size_t count = set->missing_count;

		if (count == RECEIVED_RANGES_MAX || !parse_range(&text, &range))
			return false;
		if (count && range.first <= set->missing[count - 1].last + 1)
			return false;
		range_insert(set, count, range, arena);
		more = text.len > 0;
		if (more && str_cut(&text, ',').len > 0)
			return false;
	}
	return true;
}

bool received_set_missing_parse(str text, struct arena *arena, struct received_set *ret_seen,
				struct err *err)
{
	struct received_set seen = { .highest = ret_seen->highest, .gap = ret_seen->gap };
	str inside = { text.ptr + 1, text.len - 2 };

	if (text.len < 2 || text.ptr[0] != '{' || text.ptr[text.len - 1] != '}' ||
	    !parse_ranges(inside, arena, &seen))
		return err_set(err, ERR_INVALID, "'%.100s' is not a set of missing numbers",
			       str_z(arena, text));
	*ret_seen = seen;
	return true;
}
