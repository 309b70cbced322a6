// SPDX-License-Identifier: Apache-2.0
#include "agent/labels/external_labels.h"

#include "agent/agent_limits.h"
#include "profile/limits.h"

static const char *const own_names[] = { "node",
					 "comm",
					 "exe",
					 "cgroup",
					 "container_id",
					 "unit",
					 "container",
					 "image",
					 "compose_service",
					 "compose_project",
					 "thread_id",
					 "thread_name",
					 "pid",
					 "cpu" };

static bool is_own(str name)
{
	for (size_t i = 0; i < ARRAY_LEN(own_names); i++)
		if (str_eq(name, str_from(own_names[i])))
			return true;
	return false;
}

/* As Prometheus: a letter or underscore, then letters, digits, underscores. */
static bool is_label_name(str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!letter && !(i > 0 && c >= '0' && c <= '9'))
			return false;
	}
	return name.len > 0 && name.len <= LABEL_NAME_MAX;
}

static bool check(str pair, str name, str value, struct err *err)
{
	if (name.len == pair.len)
		return err_set(err, ERR_INVALID, "external label \"" STR_FMT "\" is not name=value",
			       STR_ARG(pair));
	if (!is_label_name(name))
		return err_set(err, ERR_INVALID,
			       "external label \"" STR_FMT
			       "\": a name is letters, digits and underscores",
			       STR_ARG(pair));
	if (label_name_is_reserved(name))
		return err_set(err, ERR_INVALID,
			       "external label \"" STR_FMT
			       "\": names that begin with __ are reserved by the store",
			       STR_ARG(name));
	if (is_own(name))
		return err_set(err, ERR_INVALID,
			       "external label \"" STR_FMT "\": the agent sets this one itself",
			       STR_ARG(name));
	if (!value.len || value.len > LABEL_VALUE_MAX || !str_is_utf8(value))
		return err_set(err, ERR_INVALID,
			       "external label \"" STR_FMT "\": a value is 1 to %d bytes of UTF-8",
			       STR_ARG(name), LABEL_VALUE_MAX);
	return true;
}

/* Cuts off the item before the next comma or semicolon. */
static str next_item(str *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (text->ptr[i] == ',' || text->ptr[i] == ';') {
			str pair = { text->ptr, i };

			*text = str_skip(*text, i + 1);
			return pair;
		}

	str all = *text;

	*text = str_skip(*text, text->len);
	return all;
}

bool external_labels_parse(str text, struct arena *arena, struct labels *ret_labels,
			   struct err *err)
{
	struct label *items = arena_array(arena, struct label, EXTERNAL_LABELS_MAX);
	size_t len = 0;

	while (text.len) {
		str pair = str_trim(next_item(&text)), value = pair;

		if (!pair.len)
			continue; /* a separator at the end */

		str name = str_cut(&value, '=');

		if (!check(pair, name, value, err))
			return false;
		if (len == EXTERNAL_LABELS_MAX)
			return err_set(err, ERR_LIMIT, "more than %d external labels",
				       EXTERNAL_LABELS_MAX);
		items[len++] = (struct label){ name, value };
	}
	*ret_labels = labels_of(items, len);
	return true;
}
