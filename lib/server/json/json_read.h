// SPDX-License-Identifier: Apache-2.0
/*
 * json_read - reads untrusted JSON of a few fixed shapes with jansson into an arena.
 *
 * Results are copies in the arena. Duplicate keys are rejected. ERR_INVALID: not JSON, or not of
 * the expected shape; ERR_LIMIT: more items than the limit. While a function runs, jansson's tree
 * takes up to 100 times the length of the text: the caller must bound the text and the number of
 * concurrent calls.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * The strings of an array in an object: {"member": ["a", "b"]}. Other members are ignored. At most
 * `max` strings.
 */
bool json_read_texts(str text, const char *member, size_t max, struct arena *arena, str **ret_texts,
		     size_t *ret_count, struct err *err) MUST_CHECK;

/* The numbers of an object in an object: {"outer": {"member": {"a": 1, "b": 2}}}. At most `max`. */
struct json_count {
	str name;
	uint64_t number;
};
bool json_read_counts(str text, const char *outer, const char *member, size_t max,
		      struct arena *arena, struct json_count **ret_counts, size_t *ret_count,
		      struct err *err) MUST_CHECK;

/* An array of objects with a string and an array of numbers: {"list": [{"text": "a", "numbers": [1,
 * 2]}]}. The shape gives the members' names and the limits. */
struct json_numbers_shape {
	const char *list, *text, *numbers;
	size_t list_max, numbers_max; /* numbers_max: of all items together */
};
struct json_numbers {
	str text;
	const uint64_t *numbers;
	size_t count;
};
bool json_read_numbers(str text, const struct json_numbers_shape *shape, struct arena *arena,
		       struct json_numbers **ret_lists, size_t *ret_count,
		       struct err *err) MUST_CHECK;

/*
 * An object of named values: {"query": "{}", "start": 1787479200.5, "freeze": true}. A member that
 * is not listed is ERR_INVALID. A null counts as an absent member (MEMBER_NONE).
 */
enum json_member_kind {
	MEMBER_NONE,
	MEMBER_TEXT,
	MEMBER_NUMBER,
	MEMBER_BOOL,
	MEMBER_OBJECT,
	MEMBER_OTHER,
};
struct json_member {
	const char *name;
	/* results */
	str text; /* of a string: itself; a number: its digits, to 1/1000; an object: its JSON */
	enum json_member_kind kind;
	bool is_true; /* of MEMBER_BOOL */
};
bool json_read_members(str text, struct json_member *members, size_t count, struct arena *arena,
		       struct err *err) MUST_CHECK;
