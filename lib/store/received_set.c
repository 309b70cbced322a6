// SPDX-License-Identifier: Apache-2.0
#include "store/received_set.h"

#include "base/buf.h"
#include "base/sorted.h"
#include "base/vec.h"

#include <assert.h>
#include <inttypes.h>

static void range_remove(struct seen *set, size_t at)
{
	set->missing_count--;
	memmove(&set->missing[at], &set->missing[at + 1],
		(set->missing_count - at) * sizeof(*set->missing));
}

static void range_insert(struct seen *set, size_t at, struct seen_range range, struct arena *arena)
{
	VEC(struct seen_range) ranges = { set->missing, set->missing_count, set->missing_cap };

	(void)vec_push(arena, &ranges);
	memmove(&ranges.items[at + 1], &ranges.items[at],
		(set->missing_count - at) * sizeof(*ranges.items));
	ranges.items[at] = range;
	set->missing = ranges.items;
	set->missing_count = ranges.len;
	set->missing_cap = ranges.cap;
}

/* The batches of the oldest range are the least likely to arrive. */
static void drop_beyond_max(struct seen *set)
{
	if (set->missing_count <= RECEIVED_RANGES_MAX)
		return;
	set->gap += set->missing[0].last - set->missing[0].first + 1;
	range_remove(set, 0);
}

/* The index of the first range that does not end before the number; may be missing_count. */
static size_t range_find(const struct seen *set, uint64_t sequence)
{
	return sorted_before(set->missing, set->missing_count, each, each->last < sequence);
}

bool seen_has(const struct seen *set, uint64_t sequence)
{
	size_t at = range_find(set, sequence);

	return sequence <= set->highest &&
	       (at == set->missing_count || set->missing[at].first > sequence);
}

static enum seen_verdict add_late(struct seen *set, uint64_t sequence, struct arena *arena)
{
	if (seen_has(set, sequence))
		return SEEN_DUPLICATE;

	size_t at = range_find(set, sequence);
	struct seen_range range = set->missing[at];

	if (range.first == range.last) {
		range_remove(set, at);
	} else if (range.first == sequence) {
		set->missing[at].first++;
	} else if (range.last == sequence) {
		set->missing[at].last--;
	} else {
		set->missing[at].last = sequence - 1;
		range_insert(set, at + 1, (struct seen_range){ sequence + 1, range.last }, arena);
		drop_beyond_max(set);
	}
	return SEEN_LATE;
}

enum seen_verdict seen_take(struct seen *set, uint64_t sequence, struct arena *arena)
{
	assert(sequence > 0);
	if (sequence <= set->highest)
		return add_late(set, sequence, arena);
	if (sequence > set->highest + 1) {
		struct seen_range skipped = { set->highest + 1, sequence - 1 };

		range_insert(set, set->missing_count, skipped, arena);
		drop_beyond_max(set);
	}
	set->highest = sequence;
	return SEEN_NEW;
}

uint64_t seen_missing_below(const struct seen *set, uint64_t sequence)
{
	uint64_t missing = 0;

	for (size_t i = 0; i < set->missing_count && set->missing[i].first < sequence; i++) {
		uint64_t last = set->missing[i].last;

		missing += (last < sequence ? last + 1 : sequence) - set->missing[i].first;
	}
	return missing;
}

uint64_t seen_missing(const struct seen *set)
{
	return seen_missing_below(set, UINT64_MAX);
}

str seen_missing_text(const struct seen *set, struct arena *arena)
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
static bool parse_range(str *text, struct seen_range *ret_range)
{
	uint64_t first, end;

	if (!str_starts_with(*text, STR("[")))
		return false;
	*text = str_skip(*text, 1);
	if (!str_to_u64(str_cut(text, ','), &first) || !str_to_u64(str_cut(text, ')'), &end))
		return false;
	if (first == 0 || end <= first)
		return false;
	*ret_range = (struct seen_range){ first, end - 1 };
	return true;
}

static bool parse_ranges(str text, struct arena *arena, struct seen *set)
{
	for (bool more = text.len > 0; more;) {
		struct seen_range range;
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

bool seen_missing_parse(str text, struct arena *arena, struct seen *ret_seen, struct err *err)
{
	struct seen seen = { .highest = ret_seen->highest, .gap = ret_seen->gap };
	str inside = { text.ptr + 1, text.len - 2 };

	if (text.len < 2 || text.ptr[0] != '{' || text.ptr[text.len - 1] != '}' ||
	    !parse_ranges(inside, arena, &seen))
		return err_set(err, ERR_INVALID, "'%.100s' is not a set of missing numbers",
			       str_z(arena, text));
	*ret_seen = seen;
	return true;
}
