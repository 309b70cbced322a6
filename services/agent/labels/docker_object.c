// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/labels/docker_object_internal.h"
#include "base/heap.h"

#include <jansson.h>

enum { ID_LEN = 64, CAP_FIRST = 4096 };

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

/* A copy of the member; empty if it is absent or not a string. */
static str text_of(const json_t *object, const char *name, struct arena *arena)
{
	const json_t *text = json_object_get(object, name);

	return str_copy(arena, (str){ json_string_value(text), json_string_length(text) });
}

/* ["/web", "/other/alias"]: its own name has one slash; the others are links of other containers.
 */
static str own_name(const json_t *names, struct arena *arena)
{
	for (size_t i = 0; i < json_array_size(names); i++) {
		const json_t *item = json_array_get(names, i);
		str name = { json_string_value(item), json_string_length(item) };

		if (str_starts_with(name, STR("/")))
			name = str_skip(name, 1);
		if (name.len && str_find(name, STR("/")) == SIZE_MAX)
			return str_copy(arena, name);
	}
	return (str){ 0 };
}

static bool is_id(str id)
{
	for (size_t i = 0; i < id.len; i++)
		if ((id.ptr[i] < '0' || id.ptr[i] > '9') && (id.ptr[i] < 'a' || id.ptr[i] > 'f'))
			return false;
	return id.len == ID_LEN;
}

static bool is_relevant(str action)
{
	static const char *const actions[] = { "", "create", "start", "rename", "destroy" };

	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (str_eq(action, str_from(actions[i])))
			return true;
	return false;
}

enum docker_kind docker_object_read(str object, struct arena *arena,
				    struct docker_container *ret_container)
{
	json_auto_t *root =
		json_loadb(object.len ? object.ptr : "", object.len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *actor = json_object_get(root, "Actor");
	/* The attributes of an event are the labels, with name and image among them. */
	const json_t *attributes = json_object_get(actor, "Attributes");
	const json_t *labels = actor ? attributes : json_object_get(root, "Labels");
	str action = text_of(root, "Action", arena);
	struct docker_container container = {
		.id = actor ? text_of(actor, "ID", arena) : text_of(root, "Id", arena),
		.name = actor ? text_of(attributes, "name", arena)
			      : own_name(json_object_get(root, "Names"), arena),
		.image =
			actor ? text_of(attributes, "image", arena) : text_of(root, "Image", arena),
		.compose_service = text_of(labels, "com.docker.compose.service", arena),
		.compose_project = text_of(labels, "com.docker.compose.project", arena),
		.is_gone = str_eq(action, STR("destroy")),
	};

	if (!json_is_object(root))
		return DOCKER_MALFORMED;
	if (!is_relevant(action))
		return DOCKER_OTHER;
	if (!is_id(container.id))
		return DOCKER_MALFORMED;
	*ret_container = container;
	return DOCKER_CONTAINER;
}
