// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/labels/docker_object_internal.h"
#include "base/heap.h"

enum { ID_LEN = 64, CAP_FIRST = 4096, HEX4_LEN = 4 };

static void append(struct docker_splitter *splitter, char c)
{
	if (splitter->len == DOCKER_OBJECT_MAX) {
		splitter->is_too_long = true;
		return;
	}
	if (splitter->len == splitter->cap) {
		splitter->cap = splitter->cap ? splitter->cap * 2 : CAP_FIRST;
		splitter->bytes = heap_resize(splitter->bytes, splitter->cap, 1);
	}
	splitter->bytes[splitter->len++] = c;
}

static void step(struct docker_splitter *splitter, char c)
{
	if (splitter->in_text) {
		splitter->in_text = splitter->escaped || c != '"';
		splitter->escaped = !splitter->escaped && c == '\\';
	} else if (c == '"') {
		splitter->in_text = true;
	} else if (c == '{') {
		splitter->depth++;
	} else if (c == '}') {
		splitter->depth--;
	}
}

enum docker_split_result docker_split(struct docker_splitter *splitter, str *bytes, str *ret_object)
{
	while (bytes->len) {
		char c = *bytes->ptr;

		*bytes = str_skip(*bytes, 1);
		if (!splitter->depth && c != '{')
			continue; /* between objects */
		if (!splitter->depth)
			splitter->len = 0;
		append(splitter, c);
		step(splitter, c);
		if (splitter->depth)
			continue;
		if (splitter->is_too_long) {
			splitter->is_too_long = false;
			return DOCKER_TOO_LONG;
		}
		*ret_object = (str){ splitter->bytes, splitter->len };
		return DOCKER_OBJECT;
	}
	return DOCKER_MORE;
}

void docker_splitter_done(struct docker_splitter *splitter)
{
	free(splitter->bytes);
	*splitter = (struct docker_splitter){ 0 };
}

/* The position of the parser in one object. After a failure nothing more is parsed. */
struct json_cursor {
	str rest;
	struct arena *arena;
	bool failed;
};

static char peek(struct json_cursor *cursor)
{
	while (cursor->rest.len && strchr(" \t\r\n", *cursor->rest.ptr))
		cursor->rest = str_skip(cursor->rest, 1);
	if (!cursor->rest.len || cursor->failed)
		return 0;
	return *cursor->rest.ptr;
}

static bool accept(struct json_cursor *cursor, char wanted)
{
	if (peek(cursor) != wanted)
		return false;
	cursor->rest = str_skip(cursor->rest, 1);
	return true;
}

static str fail(struct json_cursor *cursor)
{
	cursor->failed = true;
	return (str){ 0 };
}

static size_t put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | code >> 12);
	to[1] = (char)(0x80 | (code >> 6 & 0x3f));
	to[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

/* Decode an escape after its backslash; the result is never longer. A surrogate becomes '?'. */
static bool unescape(str *rest, char *to, size_t *len)
{
	static const char from[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	uint64_t code;
	const char *at;

	if (!rest->len)
		return false;
	if (*rest->ptr != 'u') {
		at = *rest->ptr ? strchr(from, *rest->ptr) : NULL;
		if (!at)
			return false;
		to[(*len)++] = plain[at - from];
		*rest = str_skip(*rest, 1);
		return true;
	}
	if (rest->len <= HEX4_LEN || !str_hex_to_u64((str){ rest->ptr + 1, HEX4_LEN }, &code))
		return false;
	*rest = str_skip(*rest, 1 + HEX4_LEN);
	*len += put_utf8(to + *len, code >= 0xd800 && code < 0xe000 ? '?' : (uint32_t)code);
	return true;
}

static str text(struct json_cursor *cursor)
{
	if (!accept(cursor, '"'))
		return fail(cursor);

	str rest = cursor->rest;
	size_t end = 0, len = 0;

	while (end < rest.len && rest.ptr[end] != '"')
		end += rest.ptr[end] == '\\' ? 2 : 1;
	if (end >= rest.len)
		return fail(cursor);
	cursor->rest = str_skip(rest, end + 1);
	rest.len = end;
	if (!memchr(rest.ptr, '\\', rest.len))
		return rest;

	char *plain = arena_array(cursor->arena, char, rest.len);

	while (rest.len) {
		char c = *rest.ptr;

		rest = str_skip(rest, 1);
		if (c != '\\')
			plain[len++] = c;
		else if (!unescape(&rest, plain, &len))
			return fail(cursor);
	}
	return (str){ plain, len };
}

/* Skip an object or a list with its content. */
static void skip_nested(struct json_cursor *cursor)
{
	size_t depth = 0;

	do {
		char c = peek(cursor);

		if (!c) {
			fail(cursor);
			return;
		}
		if (c == '"') {
			text(cursor);
			continue;
		}
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		cursor->rest = str_skip(cursor->rest, 1);
	} while (depth);
}

static void skip(struct json_cursor *cursor)
{
	char c = peek(cursor);

	if (c == '"')
		text(cursor);
	else if (c == '{' || c == '[')
		skip_nested(cursor);
	else if (!c || strchr(",:}]", c))
		fail(cursor);
	else
		while (cursor->rest.len && !strchr(",:}] \t\r\n", *cursor->rest.ptr))
			cursor->rest = str_skip(cursor->rest, 1);
}

static str text_or_skip(struct json_cursor *cursor)
{
	if (peek(cursor) == '"')
		return text(cursor);
	skip(cursor);
	return (str){ 0 };
}

/* Parse the name of the next member of an object; its value follows. `*is_first` starts as true. */
static bool next_member(struct json_cursor *cursor, bool *is_first, str *ret_name)
{
	if (*is_first && !accept(cursor, '{'))
		fail(cursor);
	if (accept(cursor, '}'))
		return false;
	if (!*is_first && !accept(cursor, ','))
		fail(cursor);
	*is_first = false;
	*ret_name = text(cursor);
	if (!accept(cursor, ':'))
		fail(cursor);
	return !cursor->failed;
}

/* The labels of a container. In an event these are the attributes, with name and image among them.
 */
static void read_labels(struct json_cursor *cursor, bool is_event,
			struct docker_container *container)
{
	bool is_first = true;
	str name;

	if (peek(cursor) != '{') {
		skip(cursor); /* null: no labels */
		return;
	}
	while (next_member(cursor, &is_first, &name)) {
		str value = text_or_skip(cursor);

		if (str_eq(name, STR("com.docker.compose.service")))
			container->compose_service = value;
		else if (str_eq(name, STR("com.docker.compose.project")))
			container->compose_project = value;
		else if (is_event && str_eq(name, STR("name")))
			container->name = value;
		else if (is_event && str_eq(name, STR("image")))
			container->image = value;
	}
}

static void read_actor(struct json_cursor *cursor, struct docker_container *container)
{
	bool is_first = true;
	str name;

	while (next_member(cursor, &is_first, &name)) {
		if (str_eq(name, STR("ID")))
			container->id = text_or_skip(cursor);
		else if (str_eq(name, STR("Attributes")))
			read_labels(cursor, true, container);
		else
			skip(cursor);
	}
}

/* ["/web", "/other/alias"]: its own name has one slash; the others are links of other containers.
 */
static str read_names(struct json_cursor *cursor)
{
	str own = { 0 };

	if (!accept(cursor, '[')) {
		skip(cursor);
		return own;
	}
	while (!accept(cursor, ']') && !cursor->failed) {
		str name = text_or_skip(cursor);

		if (str_starts_with(name, STR("/")))
			name = str_skip(name, 1);
		if (!own.len && str_find(name, STR("/")) == SIZE_MAX)
			own = name;
		if (peek(cursor) != ']' && !accept(cursor, ','))
			fail(cursor);
	}
	return own;
}

static bool is_id(str id)
{
	for (size_t i = 0; i < id.len; i++)
		if ((id.ptr[i] < '0' || id.ptr[i] > '9') && (id.ptr[i] < 'a' || id.ptr[i] > 'f'))
			return false;
	return id.len == ID_LEN;
}

static enum docker_kind kind_of(const struct docker_container *container, str action)
{
	static const char *const actions[] = { "", "create", "start", "rename", "destroy" };
	bool is_known = false;

	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		is_known = is_known || str_eq(action, str_from(actions[i]));
	if (!is_known)
		return DOCKER_OTHER;
	return is_id(container->id) ? DOCKER_CONTAINER : DOCKER_MALFORMED;
}

enum docker_kind docker_object_read(str object, struct arena *arena,
				    struct docker_container *ret_container)
{
	struct json_cursor cursor = { .rest = object, .arena = arena };
	struct docker_container container = { 0 };
	bool is_first = true;
	str name, action = { 0 };

	while (next_member(&cursor, &is_first, &name)) {
		if (str_eq(name, STR("Id")))
			container.id = text_or_skip(&cursor);
		else if (str_eq(name, STR("Names")))
			container.name = read_names(&cursor);
		else if (str_eq(name, STR("Image")))
			container.image = text_or_skip(&cursor);
		else if (str_eq(name, STR("Labels")))
			read_labels(&cursor, false, &container);
		else if (str_eq(name, STR("Action")))
			action = text_or_skip(&cursor);
		else if (str_eq(name, STR("Actor")))
			read_actor(&cursor, &container);
		else
			skip(&cursor);
	}
	if (cursor.failed)
		return DOCKER_MALFORMED;
	container.is_gone = str_eq(action, STR("destroy"));
	*ret_container = container;
	return kind_of(&container, action);
}
