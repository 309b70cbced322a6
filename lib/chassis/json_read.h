// SPDX-License-Identifier: Apache-2.0
/*
 * json_read - what strangers send as JSON, read by jansson and copied into an arena at once.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * The texts of a list that is a member of an object: {"member": ["a", "b"]}. Other members are not
 * looked at. ERR_INVALID: not that; ERR_LIMIT: more than max of them. The tree that the library
 * makes takes up to 100 times the text's length until this returns: bound the text, and who asks at
 * once.
 */
bool json_read_texts(str text, const char *member, size_t max, struct arena *arena, str **ret_texts,
		     size_t *ret_count, struct err *err) MUST_CHECK;

/* The numbers of an object inside an object: {"outer": {"member": {"a": 1, "b": 2}}}. */
struct json_count {
	str name;
	uint64_t number;
};
bool json_read_counts(str text, const char *outer, const char *member, size_t max,
		      struct arena *arena, struct json_count **ret_counts, size_t *ret_count,
		      struct err *err) MUST_CHECK;

/* Numbers under texts: {"list": [{"text": "a", "numbers": [1, 2]}]}, by those members' names. */
struct json_numbers_shape {
	const char *list, *text, *numbers;
	size_t list_max, numbers_max; /* of numbers: all together */
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
 * An object of single values: {"query": "{}", "start": 1787479200.5, "freeze": true}. Members that
 * are not listed are refused. A null is as if the member were not there.
 */
enum json_member_kind {
	MEMBER_NONE,
	MEMBER_TEXT,
	MEMBER_NUMBER,
	MEMBER_TRUTH,
	MEMBER_OBJECT,
	MEMBER_OTHER,
};
struct json_member {
	const char *name;
	/* What follows is written by the call. */
	str text; /* of a text itself; of a number its digits, to thousandths; of an object its JSON
		   */
	enum json_member_kind kind;
	bool truth; /* of MEMBER_TRUTH */
};
bool json_read_members(str text, struct json_member *members, size_t count, struct arena *arena,
		       struct err *err) MUST_CHECK;
