// SPDX-License-Identifier: Apache-2.0
#include "server/json/json_read.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *load(str text, struct err *err)
{
	json_error_t why;
	json_t *root = json_loadb(text.len ? text.ptr : "", text.len, JSON_REJECT_DUPLICATES, &why);

	if (!root)
		err_set(err, ERR_INVALID, "not JSON: %s at byte %d", why.text, why.position);
	return root;
}

static bool to_number(const json_t *value, uint64_t *ret_number)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return false;
	*ret_number = (uint64_t)json_integer_value(value);
	return true;
}

bool json_read_texts(str text, const char *member, size_t max, struct arena *arena, str **ret_texts,
		     size_t *ret_count, struct err *err)
{
	json_auto_t *root = load(text, err);

	if (!root)
		return false;

	const json_t *list = json_object_get(root, member);
	size_t count = json_array_size(list);

	if (!json_is_array(list))
		return err_set(err, ERR_INVALID, "an object with a list \"%s\" is needed", member);
	if (count > max)
		return err_set(err, ERR_LIMIT, "%zu entries in \"%s\", at most %zu are allowed",
			       count, member, max);

	str *texts = arena_array(arena, str, count);

	for (size_t i = 0; i < count; i++) {
		const json_t *one = json_array_get(list, i);

		if (!json_is_string(one))
			return err_set(err, ERR_INVALID, "entry %zu of \"%s\" is not a string", i,
				       member);
		texts[i] =
			str_copy(arena, (str){ json_string_value(one), json_string_length(one) });
	}
	*ret_texts = texts;
	*ret_count = count;
	return true;
}

bool json_read_counts(str text, const char *outer, const char *member, size_t max,
		      struct arena *arena, struct json_count **ret_counts, size_t *ret_count,
		      struct err *err)
{
	json_auto_t *root = load(text, err);

	if (!root)
		return false;

	json_t *object = json_object_get(json_object_get(root, outer), member);
	struct json_count *counts;
	const char *name;
	json_t *value;
	size_t len = 0;

	if (!json_is_object(object))
		return err_set(err, ERR_INVALID, "an object \"%s\" in \"%s\" is needed", member,
			       outer);
	if (json_object_size(object) > max)
		return err_set(err, ERR_LIMIT, "%zu entries in \"%s\", at most %zu are allowed",
			       json_object_size(object), member, max);
	counts = arena_array(arena, struct json_count, json_object_size(object));
	json_object_foreach(object, name, value)
	{
		counts[len].name = str_copy(arena, str_from(name));
		if (!to_number(value, &counts[len++].number))
			return err_set(err, ERR_INVALID, "\"%.64s\" of \"%s\" is not a number",
				       name, member);
	}
	*ret_counts = counts;
	*ret_count = len;
	return true;
}

/* One entry of the list. */
static bool read_numbers(const json_t *entry, const struct json_numbers_shape *shape, size_t *left,
			 struct arena *arena, struct json_numbers *list, struct err *err)
{
	const json_t *text = json_object_get(entry, shape->text);
	const json_t *numbers = json_object_get(entry, shape->numbers);
	size_t count = json_array_size(numbers);

	if (!json_is_string(text) || !json_is_array(numbers))
		return err_set(err, ERR_INVALID,
			       "an entry of \"%s\" must be an object with a string \"%s\" and a "
			       "list \"%s\"",
			       shape->list, shape->text, shape->numbers);
	if (count > *left)
		return err_set(err, ERR_LIMIT, "more than %zu %s in one request",
			       shape->numbers_max, shape->numbers);
	*left -= count;

	uint64_t *copied = arena_array(arena, uint64_t, count);

	for (size_t i = 0; i < count; i++)
		if (!to_number(json_array_get(numbers, i), &copied[i]))
			return err_set(err, ERR_INVALID, "\"%s\" has an item that is not a number",
				       shape->numbers);
	list->text = str_copy(arena, (str){ json_string_value(text), json_string_length(text) });
	list->numbers = copied;
	list->count = count;
	return true;
}

bool json_read_numbers(str text, const struct json_numbers_shape *shape, struct arena *arena,
		       struct json_numbers **ret_lists, size_t *ret_count, struct err *err)
{
	json_auto_t *root = load(text, err);

	if (!root)
		return false;

	const json_t *list = json_object_get(root, shape->list);
	size_t count = json_array_size(list), left = shape->numbers_max;

	if (!json_is_array(list))
		return err_set(err, ERR_INVALID, "an object with a list \"%s\" is needed",
			       shape->list);
	if (count > shape->list_max)
		return err_set(err, ERR_LIMIT, "more than %zu %s", shape->list_max, shape->list);

	struct json_numbers *lists = arena_array(arena, struct json_numbers, count);

	for (size_t i = 0; i < count; i++)
		if (!read_numbers(json_array_get(list, i), shape, &left, arena, &lists[i], err))
			return false;
	*ret_lists = lists;
	*ret_count = count;
	return true;
}

/* Serialize the object again, so that the caller can pass it to json_read_members(). */
static void copy_object(const json_t *value, struct json_member *member, struct arena *arena)
{
	char *text = json_dumps(value, JSON_COMPACT);

	member->kind = text ? MEMBER_OBJECT : MEMBER_OTHER;
	if (text)
		member->text = str_copy(arena, str_from(text));
	free(text);
}

static void copy_member(const json_t *value, struct json_member *member, struct arena *arena)
{
	switch (json_typeof(value)) {
	case JSON_STRING:
		member->kind = MEMBER_TEXT;
		member->text = str_copy(
			arena, (str){ json_string_value(value), json_string_length(value) });
		return;
	case JSON_INTEGER:
		member->kind = MEMBER_NUMBER;
		member->text =
			str_format(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return;
	case JSON_REAL:
		member->kind = MEMBER_NUMBER;
		member->text = str_format(arena, "%.3f", json_real_value(value));
		return;
	case JSON_TRUE:
	case JSON_FALSE:
		member->kind = MEMBER_BOOL;
		member->is_true = json_is_true(value);
		return;
	case JSON_NULL:
		return;
	case JSON_OBJECT:
		copy_object(value, member, arena);
		return;
	case JSON_ARRAY:
		break;
	}
	member->kind = MEMBER_OTHER;
}

bool json_read_members(str text, struct json_member *members, size_t count, struct arena *arena,
		       struct err *err)
{
	json_auto_t *root = load(text, err);
	const char *name;
	json_t *value;

	if (!root)
		return false;
	if (!json_is_object(root))
		return err_set(err, ERR_INVALID, "an object is needed");
	for (size_t i = 0; i < count; i++)
		members[i] = (struct json_member){ .name = members[i].name };
	json_object_foreach(root, name, value)
	{
		size_t i = 0;

		while (i < count && !str_eq(str_from(members[i].name), str_from(name)))
			i++;
		if (i == count)
			return err_set(err, ERR_INVALID, "there is no member \"%.64s\"", name);
		copy_member(value, &members[i], arena);
	}
	return true;
}
