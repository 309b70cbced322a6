// SPDX-License-Identifier: Apache-2.0
#include "store/seen.h"

#include "base/buf.h"
#include "base/sorted.h"
#include "base/vec.h"

#include <assert.h>
#include <inttypes.h>

static void range_remove(struct seen *seen, size_t at)
{
	seen->missing_count--;
	memmove(&seen->missing[at], &seen->missing[at + 1],
		(seen->missing_count - at) * sizeof(*seen->missing));
}

static void range_insert(struct seen *seen, size_t at, struct seen_range range, struct arena *arena)
{
	VEC(struct seen_range) ranges = { seen->missing, seen->missing_count, seen->missing_cap };

	(void)vec_push(arena, &ranges);
	memmove(&ranges.items[at + 1], &ranges.items[at],
		(seen->missing_count - at) * sizeof(*ranges.items));
	ranges.items[at] = range;
	seen->missing = ranges.items;
	seen->missing_count = ranges.len;
	seen->missing_cap = ranges.cap;
}

/* The oldest range is the one whose batches are least likely to come. */
static void give_up_beyond_max(struct seen *seen)
{
	if (seen->missing_count <= SEEN_RANGES_MAX)
		return;
	seen->gap += seen->missing[0].last - seen->missing[0].first + 1;
	range_remove(seen, 0);
}

/* The first range that does not end before the number, which may be none. */
static size_t range_find(const struct seen *seen, uint64_t sequence)
{
	return sorted_before(seen->missing, seen->missing_count, each, each->last < sequence);
}

bool seen_has(const struct seen *seen, uint64_t sequence)
{
	size_t at = range_find(seen, sequence);

	return sequence <= seen->highest &&
	       (at == seen->missing_count || seen->missing[at].first > sequence);
}

static enum seen_verdict take_late(struct seen *seen, uint64_t sequence, struct arena *arena)
{
	if (seen_has(seen, sequence))
		return SEEN_DUPLICATE;

	size_t at = range_find(seen, sequence);
	struct seen_range range = seen->missing[at];

	if (range.first == range.last) {
		range_remove(seen, at);
	} else if (range.first == sequence) {
		seen->missing[at].first++;
	} else if (range.last == sequence) {
		seen->missing[at].last--;
	} else {
		seen->missing[at].last = sequence - 1;
		range_insert(seen, at + 1, (struct seen_range){ sequence + 1, range.last }, arena);
		give_up_beyond_max(seen);
	}
	return SEEN_LATE;
}

enum seen_verdict seen_take(struct seen *seen, uint64_t sequence, struct arena *arena)
{
	assert(sequence > 0);
	if (sequence <= seen->highest)
		return take_late(seen, sequence, arena);
	if (sequence > seen->highest + 1) {
		struct seen_range skipped = { seen->highest + 1, sequence - 1 };

		range_insert(seen, seen->missing_count, skipped, arena);
		give_up_beyond_max(seen);
	}
	seen->highest = sequence;
	return SEEN_NEW;
}

uint64_t seen_missing_below(const struct seen *seen, uint64_t sequence)
{
	uint64_t missing = 0;

	for (size_t i = 0; i < seen->missing_count && seen->missing[i].first < sequence; i++) {
		uint64_t last = seen->missing[i].last;

		missing += (last < sequence ? last + 1 : sequence) - seen->missing[i].first;
	}
	return missing;
}

uint64_t seen_missing(const struct seen *seen)
{
	return seen_missing_below(seen, UINT64_MAX);
}

str seen_missing_text(const struct seen *seen, struct arena *arena)
{
	struct buf text = { .arena = arena };

	buf_str(&text, STR("{"));
	for (size_t i = 0; i < seen->missing_count; i++)
		buf_format(&text, "%s[%" PRIu64 ",%" PRIu64 ")", i ? "," : "",
			   seen->missing[i].first, seen->missing[i].last + 1);
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

static bool parse_ranges(str text, struct arena *arena, struct seen *seen)
{
	for (bool more = text.len > 0; more;) {
		struct seen_range range;
		size_t count = seen->missing_count;

		if (count == SEEN_RANGES_MAX || !parse_range(&text, &range))
			return false;
		if (count && range.first <= seen->missing[count - 1].last + 1)
			return false;
		range_insert(seen, count, range, arena);
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
