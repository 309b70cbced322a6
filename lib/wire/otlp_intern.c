// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_intern_internal.h"
#include "wire/protobuf_internal.h"

enum { TRACE_ID_LEN = 16, SPAN_ID_LEN = 8 };

/* The index of a key. A new key gets the index `next`, and the caller must add the entry. */
static int32_t index_of(struct otlp_intern *intern, enum otlp_table table, str key, size_t next,
			bool *ret_is_new)
{
	struct map *map = &intern->maps[table];
	void *found = map_get(map, key);

	*ret_is_new = !found;
	if (found)
		return (int32_t)(intptr_t)found;
	*map_at(map, str_copy(intern->arena, key)) = (void *)(intptr_t)next;
	return (int32_t)next;
}

/* As index_of() of intern->key. `message`: the memory of a new entry, or NULL. */
static int32_t message_of(struct otlp_intern *intern, enum otlp_table table, void **message,
			  size_t size)
{
	bool is_new;
	int32_t index = index_of(intern, table, buf_bytes(&intern->key),
				 intern->messages[table].len, &is_new);

	*message = NULL;
	if (is_new) {
		*message = arena_alloc(intern->arena, 1, size, _Alignof(max_align_t));
		*vec_push(intern->arena, &intern->messages[table]) = *message;
	}
	return index;
}

int32_t otlp_intern_string(struct otlp_intern *intern, str text)
{
	bool is_new;

	if (!text.len)
		return 0;

	int32_t index = index_of(intern, OTLP_STRINGS, text, intern->strings.len, &is_new);

	if (is_new)
		*vec_push(intern->arena, &intern->strings) = protobuf_bytes(text);
	return index;
}

Otlp__AnyValue *otlp_value_write(str text, bool is_int, struct arena *arena)
{
	Otlp__AnyValue *value = arena_new(arena, Otlp__AnyValue);
	int64_t number;

	otlp__any_value__init(value);
	if (is_int && str_to_i64(text, &number)) {
		value->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
		value->int_value = number;
	} else {
		value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		value->string_value = protobuf_bytes(text);
	}
	return value;
}

static int32_t attribute_index(struct otlp_intern *intern, str name, str value, bool is_int)
{
	int32_t key = otlp_intern_string(intern, name);
	void *message;

	intern->key.len = 0;
	buf_u32(&intern->key, (uint32_t)key);
	buf_str(&intern->key, value);

	int32_t index =
		message_of(intern, OTLP_ATTRIBUTES, &message, sizeof(Otlp__KeyValueAndUnit));
	Otlp__KeyValueAndUnit *attribute = message;

	if (attribute) {
		otlp__key_value_and_unit__init(attribute);
		attribute->key_strindex = key;
		attribute->value = otlp_value_write(value, is_int, intern->arena);
	}
	return index;
}

/* Decode hexadecimal text of exactly `len` bytes. */
static bool hex_bytes(str text, size_t len, struct arena *arena, ProtobufCBinaryData *ret_bytes)
{
	uint8_t *bytes = arena_array(arena, uint8_t, len);
	uint64_t byte;

	if (text.len != len * 2)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!str_hex_to_u64((str){ text.ptr + i * 2, 2 }, &byte))
			return false;
		bytes[i] = (uint8_t)byte;
	}
	*ret_bytes = (ProtobufCBinaryData){ len, bytes };
	return true;
}

/* Valid ids of a trace and a span become a link. 0: they are not valid and stay labels. */
static int32_t link_index(struct otlp_intern *intern, struct labels labels)
{
	str trace = labels_get(labels, STR("trace_id")), span = labels_get(labels, STR("span_id"));
	ProtobufCBinaryData trace_id, span_id;
	void *message;

	if (!hex_bytes(trace, TRACE_ID_LEN, intern->arena, &trace_id) ||
	    !hex_bytes(span, SPAN_ID_LEN, intern->arena, &span_id))
		return 0;
	intern->key.len = 0;
	buf_str(&intern->key, trace);
	buf_str(&intern->key, span);

	int32_t index = message_of(intern, OTLP_LINKS, &message, sizeof(Otlp__Link));
	Otlp__Link *link = message;

	if (link) {
		otlp__link__init(link);
		link->trace_id = trace_id;
		link->span_id = span_id;
	}
	return index;
}

static int32_t label_attribute(struct otlp_intern *intern, struct label label)
{
	const struct label_source *source = label_source_by_name(label.name);
	bool is_listed = source && source->of_sample;

	return attribute_index(intern, is_listed ? str_from(source->attribute) : label.name,
			       label.value, is_listed && source->is_int);
}

struct otlp_label_refs otlp_intern_labels(struct otlp_intern *intern, uint32_t label_set)
{
	struct otlp_label_refs *refs = &intern->label_sets[label_set];
	struct labels labels = intern->set->label_sets.items[label_set];

	if (refs->is_known)
		return *refs;
	refs->is_known = true;
	refs->link = link_index(intern, labels);
	refs->attributes = arena_array(intern->arena, int32_t, labels.len);
	for (size_t i = 0; i < labels.len; i++) {
		str name = labels.items[i].name;

		if (refs->link && (str_eq(name, STR("trace_id")) || str_eq(name, STR("span_id"))))
			continue;
		refs->attributes[refs->len++] = label_attribute(intern, labels.items[i]);
	}
	return *refs;
}

/* The prefix "go:" or "htlhash:" is the kind of the id; without one it is a GNU build id. */
static int32_t build_id_attribute(struct otlp_intern *intern, str build_id)
{
	static const struct {
		const char *prefix, *attribute;
	} kinds[] = {
		{ "go:", "process.executable.build_id.go" },
		{ "htlhash:", "process.executable.build_id.htlhash" },
	};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		str prefix = str_from(kinds[i].prefix);

		if (str_starts_with(build_id, prefix))
			return attribute_index(intern, str_from(kinds[i].attribute),
					       str_skip(build_id, prefix.len), false);
	}
	return attribute_index(intern, STR("process.executable.build_id.gnu"), build_id, false);
}

/*
 * Addresses are addresses in the ELF file, so the mapping begins at 0, as OpenTelemetry's own
 * profiler sends it.
 */
static int32_t mapping_index(struct otlp_intern *intern, const struct frame *frame)
{
	if (!frame->path.len && !frame->build_id.len)
		return 0;

	int32_t file = otlp_intern_string(intern, frame->path), build_id = 0;
	void *message;

	if (frame->build_id.len)
		build_id = build_id_attribute(intern, frame->build_id);
	intern->key.len = 0;
	buf_u32(&intern->key, (uint32_t)file);
	buf_u32(&intern->key, (uint32_t)build_id);

	int32_t index = message_of(intern, OTLP_MAPPINGS, &message, sizeof(Otlp__Mapping));
	Otlp__Mapping *mapping = message;

	if (mapping) {
		otlp__mapping__init(mapping);
		mapping->filename_strindex = file;
		mapping->attribute_indices = arena_new(intern->arena, int32_t);
		mapping->attribute_indices[0] = build_id;
		mapping->n_attribute_indices = build_id ? 1 : 0;
	}
	return index;
}

static int32_t function_index(struct otlp_intern *intern, const struct frame *frame)
{
	int32_t name = otlp_intern_string(intern, frame->function);
	int32_t system_name = otlp_intern_string(intern, frame->system_name);
	int32_t file = otlp_intern_string(intern, frame->file);
	void *message;

	if (!name && !system_name && !file && !frame->start_line)
		return 0;
	intern->key.len = 0;
	buf_u32(&intern->key, (uint32_t)name);
	buf_u32(&intern->key, (uint32_t)system_name);
	buf_u32(&intern->key, (uint32_t)file);
	buf_u32(&intern->key, frame->start_line);

	int32_t index = message_of(intern, OTLP_FUNCTIONS, &message, sizeof(Otlp__Function));
	Otlp__Function *function = message;

	if (function) {
		otlp__function__init(function);
		function->name_strindex = name;
		function->system_name_strindex = system_name;
		function->filename_strindex = file;
		function->start_line = frame->start_line;
	}
	return index;
}

/* Lines are leaf first: the inlined frames, then the frame they are inlined into. */
static void location_fill(struct otlp_intern *intern, Otlp__Location *location,
			  const uint32_t *frames, size_t len)
{
	const struct frame *all = intern->set->frames.items, *outer = &all[frames[0]];

	otlp__location__init(location);
	location->mapping_index = mapping_index(intern, outer);
	location->address = outer->address;
	if (outer->type.len) {
		location->attribute_indices = arena_new(intern->arena, int32_t);
		location->attribute_indices[0] =
			attribute_index(intern, STR("profile.frame.type"), outer->type, false);
		location->n_attribute_indices = 1;
	}
	if (len == 1 && !outer->function.len && !outer->system_name.len && !outer->file.len &&
	    !outer->line)
		return; /* only the address is known */
	location->lines = arena_array(intern->arena, Otlp__Line *, len);
	for (size_t i = len; i-- > 0;) {
		Otlp__Line *line = arena_new(intern->arena, Otlp__Line);

		otlp__line__init(line);
		line->function_index = function_index(intern, &all[frames[i]]);
		line->line = all[frames[i]].line;
		location->lines[location->n_lines++] = line;
	}
}

/* Frames at one address, root side first; all but the first are inlined. */
static int32_t location_index(struct otlp_intern *intern, const uint32_t *frames, size_t len)
{
	void *message;

	intern->key.len = 0;
	buf_bytes_add(&intern->key, frames, len * sizeof(*frames));

	int32_t index = message_of(intern, OTLP_LOCATIONS, &message, sizeof(Otlp__Location));

	if (message)
		location_fill(intern, message, frames, len);
	return index;
}

static void stack_fill(struct otlp_intern *intern, Otlp__Stack *message, struct stack stack)
{
	const struct frame *all = intern->set->frames.items;
	size_t end = stack.len;

	otlp__stack__init(message);
	message->location_indices = arena_array(intern->arena, int32_t, stack.len);
	while (end > 0) {
		size_t first = end - 1;

		while (first > 0 && all[stack.frames[first]].inlined)
			first--;
		message->location_indices[message->n_location_indices++] =
			location_index(intern, stack.frames + first, end - first);
		end = first;
	}
}

/* Stacks are interned in the set, so their index in the set is the key. */
int32_t otlp_intern_stack(struct otlp_intern *intern, uint32_t stack)
{
	struct stack of_set = intern->set->stacks.items[stack];

	if (!of_set.len)
		return 0;
	if (intern->stacks[stack])
		return intern->stacks[stack];

	Otlp__Stack *message = arena_new(intern->arena, Otlp__Stack);

	intern->stacks[stack] = (int32_t)intern->messages[OTLP_STACKS].len;
	*vec_push(intern->arena, &intern->messages[OTLP_STACKS]) = message;
	stack_fill(intern, message, of_set);
	return intern->stacks[stack];
}

/* Add the zero value of a table. */
static void zero_add(struct otlp_intern *intern, enum otlp_table table,
		     const ProtobufCMessageDescriptor *descriptor)
{
	ProtobufCMessage *zero =
		arena_alloc(intern->arena, 1, descriptor->sizeof_message, _Alignof(max_align_t));

	descriptor->message_init(zero);
	*vec_push(intern->arena, &intern->messages[table]) = zero;
}

void otlp_intern_init(struct otlp_intern *intern, const struct sample_set *set, struct arena *arena)
{
	*intern = (struct otlp_intern){ .arena = arena, .set = set, .key = { .arena = arena } };
	for (size_t i = 0; i < OTLP_TABLE_COUNT; i++)
		intern->maps[i].arena = arena;
	intern->stacks = arena_array(arena, int32_t, set->stacks.len);
	intern->label_sets = arena_array(arena, struct otlp_label_refs, set->label_sets.len);
	*vec_push(arena, &intern->strings) = (ProtobufCBinaryData){ 0 };
	zero_add(intern, OTLP_FUNCTIONS, &otlp__function__descriptor);
	zero_add(intern, OTLP_MAPPINGS, &otlp__mapping__descriptor);
	zero_add(intern, OTLP_LOCATIONS, &otlp__location__descriptor);
	zero_add(intern, OTLP_STACKS, &otlp__stack__descriptor);
	zero_add(intern, OTLP_ATTRIBUTES, &otlp__key_value_and_unit__descriptor);
	zero_add(intern, OTLP_LINKS, &otlp__link__descriptor);
}

Otlp__ProfilesDictionary *otlp_intern_dictionary(struct otlp_intern *intern)
{
	Otlp__ProfilesDictionary *message = &intern->message;

	otlp__profiles_dictionary__init(message);
	message->string_table = intern->strings.items;
	message->n_string_table = intern->strings.len;
	message->function_table = (Otlp__Function **)intern->messages[OTLP_FUNCTIONS].items;
	message->n_function_table = intern->messages[OTLP_FUNCTIONS].len;
	message->mapping_table = (Otlp__Mapping **)intern->messages[OTLP_MAPPINGS].items;
	message->n_mapping_table = intern->messages[OTLP_MAPPINGS].len;
	message->location_table = (Otlp__Location **)intern->messages[OTLP_LOCATIONS].items;
	message->n_location_table = intern->messages[OTLP_LOCATIONS].len;
	message->stack_table = (Otlp__Stack **)intern->messages[OTLP_STACKS].items;
	message->n_stack_table = intern->messages[OTLP_STACKS].len;
	message->attribute_table =
		(Otlp__KeyValueAndUnit **)intern->messages[OTLP_ATTRIBUTES].items;
	message->n_attribute_table = intern->messages[OTLP_ATTRIBUTES].len;
	message->link_table = (Otlp__Link **)intern->messages[OTLP_LINKS].items;
	message->n_link_table = intern->messages[OTLP_LINKS].len;
	return message;
}
