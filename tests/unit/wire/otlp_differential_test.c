// SPDX-License-Identifier: Apache-2.0
/*
 * Compares the streaming reader with protobuf-c: the same bytes, unpacked by protobuf-c and
 * resolved in the simplest way, must give the same samples.
 */
#include "profile/profile_type.h"
#include "support/random_set.h"
#include "support/test.h"
#include "wire/otlp_reader.h"
#include "wire/otlp_writer.h"
#include "wire/protobuf_internal.h"

#include <inttypes.h>
#include <profiles.pb-c.h>

struct plain {
	const Otlp__ProfilesDictionary *d;
	struct arena *arena;
	VEC(str) lines;
};

static str string_at(const struct plain *p, int32_t index)
{
	return protobuf_str(p->d->string_table[index]);
}

static str value_text(const struct plain *p, const Otlp__AnyValue *value)
{
	if (value->value_case == OTLP__ANY_VALUE__VALUE_INT_VALUE)
		return str_format(p->arena, "%" PRId64, value->int_value);
	return protobuf_str(value->string_value);
}

/* The label of an attribute, by the table of labels. */
static struct label label_of(const struct plain *p, str attribute, const Otlp__AnyValue *value,
			     bool of_sample)
{
	const struct label_source *source = label_source_by_attribute(attribute, of_sample);

	return (struct label){ source ? str_from(source->name) : attribute, value_text(p, value) };
}

static void labels_put(struct buf *out, struct labels labels)
{
	for (size_t i = 0; i < labels.len; i++)
		buf_format(out, " " STR_FMT "=" STR_FMT, STR_ARG(labels.items[i].name),
			   STR_ARG(labels.items[i].value));
}

static struct labels resource_labels(const struct plain *p, const Otlp__Resource *resource)
{
	struct label *items = arena_array(p->arena, struct label, resource->n_attributes + 1);

	for (size_t i = 0; i < resource->n_attributes; i++)
		items[i] = label_of(p, protobuf_str(resource->attributes[i]->key),
				    resource->attributes[i]->value, false);
	return labels_with_service_name(labels_of(items, resource->n_attributes), p->arena);
}

static struct labels sample_labels(const struct plain *p, const Otlp__Sample *sample)
{
	struct label *items = arena_array(p->arena, struct label, sample->n_attribute_indices + 1);

	for (size_t i = 0; i < sample->n_attribute_indices; i++) {
		const Otlp__KeyValueAndUnit *attribute =
			p->d->attribute_table[sample->attribute_indices[i]];

		items[i] =
			label_of(p, string_at(p, attribute->key_strindex), attribute->value, true);
	}
	return labels_of(items, sample->n_attribute_indices);
}

static void line_put(const struct plain *p, struct buf *out, const Otlp__Location *location,
		     const Otlp__Line *line, bool inlined)
{
	static const Otlp__Line no_line;
	const Otlp__Line *known = line ? line : &no_line;
	const Otlp__Function *function = p->d->function_table[known->function_index];
	const Otlp__Mapping *mapping = p->d->mapping_table[location->mapping_index];
	str build_id = { 0 }, type = STR("native");

	for (size_t i = 0; i < mapping->n_attribute_indices; i++)
		build_id =
			value_text(p, p->d->attribute_table[mapping->attribute_indices[i]]->value);
	for (size_t i = 0; i < location->n_attribute_indices; i++)
		type = value_text(p, p->d->attribute_table[location->attribute_indices[i]]->value);
	buf_format(out, ";" STR_FMT "|" STR_FMT "|" STR_FMT "|%" PRIx64 "|" STR_FMT "|" STR_FMT,
		   STR_ARG(type), STR_ARG(build_id),
		   STR_ARG(string_at(p, mapping->filename_strindex)), location->address,
		   STR_ARG(string_at(p, function->name_strindex)),
		   STR_ARG(string_at(p, function->system_name_strindex)));
	buf_format(out, "|" STR_FMT "|%d|%d|%d", STR_ARG(string_at(p, function->filename_strindex)),
		   (int)known->line, (int)function->start_line, inlined);
}

static void stack_put(const struct plain *p, struct buf *out, const Otlp__Stack *stack)
{
	for (size_t i = stack->n_location_indices; i > 0; i--) {
		const Otlp__Location *location =
			p->d->location_table[stack->location_indices[i - 1]];

		if (!location->n_lines)
			line_put(p, out, location, NULL, false);
		for (size_t k = location->n_lines; k > 0; k--)
			line_put(p, out, location, location->lines[k - 1], k < location->n_lines);
	}
}

/* A sample in the format of sample_set_text(). */
static void sample_put(struct plain *p, struct labels resource, const Otlp__Profile *profile,
		       const Otlp__Sample *sample)
{
	bool multiply;
	str type = profile_type_of_otlp(string_at(p, profile->sample_type->type_strindex),
					string_at(p, profile->sample_type->unit_strindex),
					string_at(p, profile->period_type->type_strindex),
					string_at(p, profile->period_type->unit_strindex),
					&multiply, p->arena);

	for (size_t i = 0; i < sample->n_timestamps_unix_nano; i++) {
		struct buf line = { .arena = p->arena };
		int64_t value = sample->n_values ? sample->values[i] : 1;

		if (multiply)
			value *= profile->period;
		buf_format(&line, "%" PRIu64 " %" PRId64 " " STR_FMT " %" PRId64 " {",
			   sample->timestamps_unix_nano[i] / 1000000, value, STR_ARG(type),
			   profile->period);
		labels_put(&line, resource);
		buf_format(&line, " } {");
		labels_put(&line, sample_labels(p, sample));
		buf_format(&line, " } ");
		stack_put(p, &line, p->d->stack_table[sample->stack_index]);
		*vec_push(p->arena, &p->lines) = buf_bytes(&line);
	}
}

static int line_compare(const void *a, const void *b)
{
	return str_compare(*(const str *)a, *(const str *)b);
}

static str plain_text(const Otlp__ProfilesData *data, struct arena *arena)
{
	struct plain p = { .d = data->dictionary, .arena = arena };
	struct buf all = { .arena = arena };

	for (size_t r = 0; r < data->n_resource_profiles; r++) {
		const Otlp__ScopeProfiles *scope = data->resource_profiles[r]->scope_profiles[0];
		struct labels labels = resource_labels(&p, data->resource_profiles[r]->resource);

		for (size_t i = 0; i < scope->n_profiles; i++)
			for (size_t s = 0; s < scope->profiles[i]->n_samples; s++)
				sample_put(&p, labels, scope->profiles[i],
					   scope->profiles[i]->samples[s]);
	}
	if (p.lines.len)
		qsort(p.lines.items, p.lines.len, sizeof(str), line_compare);
	for (size_t i = 0; i < p.lines.len; i++) {
		buf_str(&all, p.lines.items[i]);
		buf_u8(&all, '\n');
	}
	return buf_bytes(&all);
}

/* random_set may give a sample the label node, which is written under its own name. */
static void decodes_the_same_samples_as_protobuf_c(void **state)
{
	static const struct otlp_options options = { 0, UINT64_MAX };

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		AUTO_ARENA arena = { 0 };
		ProtobufCAllocator allocator = protobuf_allocator(&arena);
		struct sample_set set, got;
		struct otlp_result result;
		struct err err;

		sample_set_init(&set, &arena);
		random_set_fill(&set, &(struct random_options){ .seed = seed,
								.samples = 20 * seed,
								.series = 1 + seed % 7,
								.stacks = 10 + seed,
								.frames = 5 * seed,
								.label_sets = seed % 9,
								.first_ms = UINT64_C(1790000000000),
								.span_ms = 10000 });

		str bytes = otlp_write(&set, 0, set.samples.len, &arena);
		const Otlp__ProfilesData *data = otlp__profiles_data__unpack(
			&allocator, bytes.len, (const uint8_t *)bytes.ptr);

		sample_set_init(&got, &arena);
		if (!data || !otlp_read(bytes, &options, &got, &result, &err))
			fail_msg("seed %d is not read", (int)seed);
		else if (!str_eq(sample_set_text(&got, &arena), plain_text(data, &arena)))
			fail_msg("seed %d differs", (int)seed);
		assert_int_equal(got.samples.len, 20 * seed);
	}
}

RUN_TESTS(TEST(decodes_the_same_samples_as_protobuf_c))
