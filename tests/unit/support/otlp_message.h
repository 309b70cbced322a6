// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_message - a small OTLP profiles message that each test changes before it is packed, and the
 * samples decoded from it as text.
 */
#pragma once

#include "profile/limits.h"
#include "support/profiles.h"
#include "support/test.h"
#include "wire/otlp_reader.h"
#include "wire/protobuf_internal.h"

#include <profiles.pb-c.h>

static const struct otlp_options any_time = { 0, UINT64_MAX };

/* A sample as one line of text: equal samples give equal lines, whatever their indexes. */
static inline str sample_line(const struct sample_set *set, const struct sample *sample,
			      struct arena *arena)
{
	struct series series = set->series.items[sample->series];
	struct labels own = set->label_sets.items[sample->labels];
	struct stack stack = set->stacks.items[sample->stack];
	struct buf line = { .arena = arena };

	buf_format(&line, STR_FMT "/%ju %jd %ju {", STR_ARG(series.type), (uintmax_t)series.period,
		   (intmax_t)sample->value, (uintmax_t)sample->time_ms);
	for (size_t i = 0; i < series.labels.len; i++)
		buf_format(&line, STR_FMT "=" STR_FMT ",", STR_ARG(series.labels.items[i].name),
			   STR_ARG(series.labels.items[i].value));
	buf_format(&line, "} {");
	for (size_t i = 0; i < own.len; i++)
		buf_format(&line, STR_FMT "=" STR_FMT ",", STR_ARG(own.items[i].name),
			   STR_ARG(own.items[i].value));
	buf_format(&line, "}");
	for (size_t i = 0; i < stack.len; i++) {
		const struct frame *f = &set->frames.items[stack.frames[i]];

		buf_format(&line, ";%d " STR_FMT " " STR_FMT " " STR_FMT " %jx " STR_FMT,
			   f->inlined, STR_ARG(f->type), STR_ARG(f->build_id), STR_ARG(f->path),
			   (uintmax_t)f->address, STR_ARG(f->function));
		buf_format(&line, " " STR_FMT " " STR_FMT " %u %u", STR_ARG(f->system_name),
			   STR_ARG(f->file), f->line, f->start_line);
	}
	buf_u8(&line, '\n');
	return buf_bytes(&line);
}

static inline int line_compare(const void *a, const void *b)
{
	return str_compare(*(const str *)a, *(const str *)b);
}

/* All samples of a set, sorted. */
static inline const char *set_text(const struct sample_set *set, struct arena *arena)
{
	str *lines = arena_array(arena, str, set->samples.len + 1);
	struct buf text = { .arena = arena };

	for (size_t i = 0; i < set->samples.len; i++)
		lines[i] = sample_line(set, &set->samples.items[i], arena);
	qsort(lines, set->samples.len, sizeof(*lines), line_compare);
	for (size_t i = 0; i < set->samples.len; i++)
		buf_str(&text, lines[i]);
	return str_z(arena, buf_bytes(&text));
}

static inline bool try_read(str bytes, struct sample_set *set, struct otlp_result *result,
			    struct err *err, struct arena *arena)
{
	sample_set_init(set, arena);
	return otlp_read(bytes, &any_time, set, result, err);
}

/*
 * A small message, packed by protobuf-c, which each case changes before it is packed.
 */
struct message {
	struct arena arena;
	Otlp__ProfilesData data;
	Otlp__ProfilesDictionary dictionary;
	Otlp__ResourceProfiles resource_profiles, *resources[1];
	Otlp__Resource resource;
	Otlp__KeyValue attributes[4], *attribute_list[4];
	Otlp__AnyValue values[4];
	Otlp__ScopeProfiles scope, *scopes[1];
	Otlp__Profile profile, *profiles[1];
	Otlp__ValueType sample_type, period_type;
	Otlp__Sample sample, *samples[1];
	Otlp__Stack zero_stack, stack, *stacks[2];
	Otlp__Location zero_location, location, *locations[2];
	Otlp__Function zero_function, function, *functions[2];
	Otlp__Mapping zero_mapping, mapping, *mappings[2];
	Otlp__KeyValueAndUnit zero_attribute, attribute, *attribute_table[2];
	Otlp__AnyValue attribute_value;
	Otlp__Link zero_link, link, *links[2];
	Otlp__Line line, *lines[1];
	ProtobufCBinaryData strings[16];
	int32_t one, location_index, attribute_index;
	uint64_t time_ns;
	int64_t value;
};

static inline void message_dictionary(struct message *m)
{
	static const char *const texts[] = {
		"",         "samples", "count",     "cpu",        "nanoseconds",
		"/bin/app", "main",    "thread.id", "from_index", "key_of_index"
	};

	otlp__profiles_dictionary__init(&m->dictionary);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		m->strings[i] = protobuf_bytes(str_from(texts[i]));
	m->dictionary.string_table = m->strings;
	m->dictionary.n_string_table = ARRAY_LEN(texts);
#define TABLE(name, list, type)                        \
	do {                                           \
		otlp__##type##__init(&m->zero_##type); \
		otlp__##type##__init(&m->type);        \
		m->list[0] = &m->zero_##type;          \
		m->list[1] = &m->type;                 \
		m->dictionary.name = m->list;          \
		m->dictionary.n_##name = 2;            \
	} while (0)
	TABLE(stack_table, stacks, stack);
	TABLE(location_table, locations, location);
	TABLE(function_table, functions, function);
	TABLE(mapping_table, mappings, mapping);
	TABLE(link_table, links, link);
	otlp__key_value_and_unit__init(&m->zero_attribute);
	otlp__key_value_and_unit__init(&m->attribute);
	otlp__any_value__init(&m->attribute_value);
	m->attribute_table[0] = &m->zero_attribute;
	m->attribute_table[1] = &m->attribute;
	m->dictionary.attribute_table = m->attribute_table;
	m->dictionary.n_attribute_table = 2;
	m->attribute.key_strindex = 7;
	m->attribute.value = &m->attribute_value;
	m->attribute_value.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	m->attribute_value.int_value = 42;
	m->stack.location_indices = &m->location_index;
	m->stack.n_location_indices = 1;
	m->location.mapping_index = 1;
	m->location.address = 0x40;
	m->mapping.filename_strindex = 5;
	m->function.name_strindex = 6;
	otlp__line__init(&m->line);
	m->line.function_index = 1;
	m->lines[0] = &m->line;
}

static inline void message_init(struct message *m)
{
	*m = (struct message){ .one = 1, .location_index = 1, .attribute_index = 1, .value = 1 };
	message_dictionary(m);
	otlp__profiles_data__init(&m->data);
	otlp__resource_profiles__init(&m->resource_profiles);
	otlp__resource__init(&m->resource);
	otlp__scope_profiles__init(&m->scope);
	otlp__profile__init(&m->profile);
	otlp__sample__init(&m->sample);
	otlp__value_type__init(&m->sample_type);
	otlp__value_type__init(&m->period_type);
	for (size_t i = 0; i < ARRAY_LEN(m->attributes); i++) {
		otlp__key_value__init(&m->attributes[i]);
		otlp__any_value__init(&m->values[i]);
		m->attributes[i].value = &m->values[i];
		m->attribute_list[i] = &m->attributes[i];
	}
	m->resource.attributes = m->attribute_list;
	m->sample_type.type_strindex = 1;
	m->sample_type.unit_strindex = 2;
	m->period_type.type_strindex = 3;
	m->period_type.unit_strindex = 4;
	m->time_ns = PROFILES_TIME * 1000000;
	m->sample.stack_index = 1;
	m->sample.attribute_indices = &m->attribute_index;
	m->sample.n_attribute_indices = 1;
	m->sample.timestamps_unix_nano = &m->time_ns;
	m->sample.n_timestamps_unix_nano = 1;
	m->sample.values = &m->value;
	m->profile.sample_type = &m->sample_type;
	m->profile.period_type = &m->period_type;
	m->profile.period = 1000;
	m->profile.time_unix_nano = m->time_ns;
	m->profile.samples = m->samples;
	m->profile.n_samples = 1;
	m->samples[0] = &m->sample;
	m->scope.profiles = m->profiles;
	m->scope.n_profiles = 1;
	m->profiles[0] = &m->profile;
	m->scopes[0] = &m->scope;
	m->resource_profiles.scope_profiles = m->scopes;
	m->resource_profiles.n_scope_profiles = 1;
	m->resource_profiles.resource = &m->resource;
	m->resources[0] = &m->resource_profiles;
	m->data.resource_profiles = m->resources;
	m->data.n_resource_profiles = 1;
	m->data.dictionary = &m->dictionary;
}

static inline const char *message_text(struct message *m)
{
	struct otlp_result result;
	struct sample_set set;
	struct err err = { 0 };

	if (!try_read(protobuf_pack(&m->data.base, &m->arena), &set, &result, &err, &m->arena))
		return str_z(&m->arena, str_from(err.msg));
	return set_text(&set, &m->arena);
}

/* ProfilesData{resource_profiles{scope_profiles{profiles{...}}}}, without a dictionary. */
static inline str message_around(str profile, struct arena *arena)
{
	str inner = profile;
	static const uint8_t tags[] = { 0x12, 0x12, 0x0a };

	for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
		struct buf outer = { .arena = arena };

		buf_u8(&outer, tags[i]);
		buf_str_prefixed(&outer, inner);
		inner = buf_bytes(&outer);
	}
	return inner;
}
