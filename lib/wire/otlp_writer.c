// SPDX-License-Identifier: Apache-2.0
/*
 * The samples are sorted and grouped by resource, profile, stack and labels, so that the message
 * repeats little.
 */
#include "wire/otlp_writer.h"

#include "profile/profile_type.h"
#include "wire/otlp_intern_internal.h"
#include "wire/protobuf_internal.h"

#define NS_PER_TIME UINT64_C(1000000) /* sample times are in milliseconds */

/* The message being written; `samples` is in the order of the groups. */
struct otlp_writer {
	struct arena *arena;
	const struct sample_set *set;
	struct otlp_intern intern;
	const struct sample **samples;
	size_t len;
	VEC(Otlp__ResourceProfiles *) resources;
};

static const struct series *series_of(const struct otlp_writer *writer, const struct sample *sample)
{
	return &writer->set->series.items[sample->series];
}

/* True if the sample is CPU time of a whole number of ticks: then that number is written. */
static bool is_ticks(const struct series *series, const struct sample *sample)
{
	return series->period && series->period <= INT64_MAX && sample->value >= 0 &&
	       str_eq(series->type, STR(PROFILE_TYPE_CPU)) &&
	       sample->value % (int64_t)series->period == 0;
}

#define ORDER(a, b)                                \
	do {                                       \
		if ((a) != (b))                    \
			return (a) < (b) ? -1 : 1; \
	} while (0)

/* By resource, series, is_ticks(), stack and labels; then by time. */
static int sample_compare(const void *a, const void *b, void *self)
{
	const struct otlp_writer *writer = self;
	const struct sample *x = *(const struct sample *const *)a;
	const struct sample *y = *(const struct sample *const *)b;

	if (x->series != y->series) {
		int order =
			labels_compare(series_of(writer, x)->labels, series_of(writer, y)->labels);

		if (order)
			return order;
		ORDER(x->series, y->series);
	}
	ORDER(is_ticks(series_of(writer, x), x), is_ticks(series_of(writer, y), y));
	ORDER(x->stack, y->stack);
	ORDER(x->labels, y->labels);
	ORDER(x->time_ms, y->time_ms);
	return 0;
}

/* Samples with the same stack, labels and is_ticks() become one message. */
static Otlp__Sample *sample_write(struct otlp_writer *writer, const struct sample *const *samples,
				  size_t len)
{
	const struct series *series = series_of(writer, samples[0]);
	bool ticks = is_ticks(series, samples[0]), needs_values = !ticks;
	struct otlp_label_refs refs = otlp_intern_labels(&writer->intern, samples[0]->labels);
	Otlp__Sample *message = arena_new(writer->arena, Otlp__Sample);

	otlp__sample__init(message);
	message->stack_index = otlp_intern_stack(&writer->intern, samples[0]->stack);
	message->attribute_indices = refs.attributes;
	message->n_attribute_indices = refs.len;
	message->link_index = refs.link;
	message->timestamps_unix_nano = arena_array(writer->arena, uint64_t, len);
	message->values = arena_array(writer->arena, int64_t, len);
	for (size_t i = 0; i < len; i++) {
		int64_t value = samples[i]->value;

		if (ticks)
			value /= (int64_t)series->period;
		needs_values |= value != 1;
		message->values[i] = value;
		message->timestamps_unix_nano[i] = samples[i]->time_ms * NS_PER_TIME;
	}
	message->n_timestamps_unix_nano = len;
	message->n_values = needs_values ? len : 0;
	return message;
}

static Otlp__ValueType *value_type(struct otlp_writer *writer, str type, str unit)
{
	Otlp__ValueType *message = arena_new(writer->arena, Otlp__ValueType);

	otlp__value_type__init(message);
	message->type_strindex = otlp_intern_string(&writer->intern, type);
	message->unit_strindex = otlp_intern_string(&writer->intern, unit);
	return message;
}

static void profile_head(struct otlp_writer *writer, Otlp__Profile *profile,
			 const struct sample *const *samples, size_t len)
{
	const struct series *series = series_of(writer, samples[0]);
	uint64_t first_ms = UINT64_MAX, last_ms = 0;

	for (size_t i = 0; i < len; i++) {
		first_ms = samples[i]->time_ms < first_ms ? samples[i]->time_ms : first_ms;
		last_ms = samples[i]->time_ms > last_ms ? samples[i]->time_ms : last_ms;
	}
	profile->time_unix_nano = first_ms * NS_PER_TIME;
	profile->duration_nano = (last_ms - first_ms) * NS_PER_TIME;
	profile->period = (int64_t)series->period;
	profile->sample_type = is_ticks(series, samples[0])
				       ? value_type(writer, STR("samples"), STR("count"))
				       : value_type(writer, profile_type_part(series->type, 1),
						    profile_type_part(series->type, 2));
	profile->period_type = value_type(writer, profile_type_part(series->type, 3),
					  profile_type_part(series->type, 4));
}

static bool same_group(const struct sample *a, const struct sample *b)
{
	return a->stack == b->stack && a->labels == b->labels;
}

static Otlp__Profile *profile_write(struct otlp_writer *writer, const struct sample *const *samples,
				    size_t len)
{
	Otlp__Profile *profile = arena_new(writer->arena, Otlp__Profile);
	VEC(Otlp__Sample *) messages = { 0 };

	otlp__profile__init(profile);
	profile_head(writer, profile, samples, len);
	for (size_t first = 0, end; first < len; first = end) {
		for (end = first + 1; end < len && same_group(samples[first], samples[end]);)
			end++;
		*vec_push(writer->arena, &messages) =
			sample_write(writer, samples + first, end - first);
	}
	profile->samples = messages.items;
	profile->n_samples = messages.len;
	return profile;
}

static Otlp__Resource *resource_write(struct otlp_writer *writer, struct labels labels)
{
	Otlp__Resource *resource = arena_new(writer->arena, Otlp__Resource);

	otlp__resource__init(resource);
	resource->attributes = arena_array(writer->arena, Otlp__KeyValue *, labels.len);
	for (size_t i = 0; i < labels.len; i++) {
		const struct label_source *source = label_source_by_name(labels.items[i].name);
		bool is_listed = source && !source->of_sample;
		Otlp__KeyValue *attribute = arena_new(writer->arena, Otlp__KeyValue);

		otlp__key_value__init(attribute);
		attribute->key = protobuf_bytes(is_listed ? str_from(source->attribute)
							  : labels.items[i].name);
		attribute->value = otlp_value_write(labels.items[i].value,
						    is_listed && source->is_int, writer->arena);
		resource->attributes[resource->n_attributes++] = attribute;
	}
	return resource;
}

static bool same_profile(const struct otlp_writer *writer, const struct sample *a,
			 const struct sample *b)
{
	return a->series == b->series &&
	       is_ticks(series_of(writer, a), a) == is_ticks(series_of(writer, b), b);
}

/* Samples whose series have the same labels: one profile for each series and is_ticks(). */
static void resource_add(struct otlp_writer *writer, const struct sample *const *samples,
			 size_t len)
{
	Otlp__ResourceProfiles *resource = arena_new(writer->arena, Otlp__ResourceProfiles);
	Otlp__ScopeProfiles *scope = arena_new(writer->arena, Otlp__ScopeProfiles);
	Otlp__ScopeProfiles **scopes = arena_new(writer->arena, Otlp__ScopeProfiles *);
	VEC(Otlp__Profile *) profiles = { 0 };

	otlp__resource_profiles__init(resource);
	otlp__scope_profiles__init(scope);
	for (size_t first = 0, end; first < len; first = end) {
		for (end = first + 1;
		     end < len && same_profile(writer, samples[first], samples[end]);)
			end++;
		*vec_push(writer->arena, &profiles) =
			profile_write(writer, samples + first, end - first);
	}
	scope->scope = arena_new(writer->arena, Otlp__InstrumentationScope);
	otlp__instrumentation_scope__init(scope->scope);
	scope->scope->name = protobuf_bytes(STR("decima"));
	scope->scope->version = protobuf_bytes(str_from(DECIMA_VERSION));
	scope->profiles = profiles.items;
	scope->n_profiles = profiles.len;
	scopes[0] = scope;
	resource->resource = resource_write(writer, series_of(writer, samples[0])->labels);
	resource->scope_profiles = scopes;
	resource->n_scope_profiles = 1;
	*vec_push(writer->arena, &writer->resources) = resource;
}

static void samples_sort(struct otlp_writer *writer, size_t first, size_t count)
{
	writer->samples = arena_array(writer->arena, const struct sample *, count);
	writer->len = count;
	for (size_t i = 0; i < count; i++)
		writer->samples[i] = &writer->set->samples.items[first + i];
	qsort_r(writer->samples, count, sizeof(*writer->samples), sample_compare, writer);
}

/* Temporary memory is in `scratch`; the caller's arena gets only the bytes. */
str otlp_write(const struct sample_set *set, size_t first, size_t count, struct arena *arena)
{
	AUTO_ARENA scratch = { 0 };
	struct otlp_writer writer = { .arena = &scratch, .set = set };
	Otlp__ProfilesData message;

	otlp_intern_init(&writer.intern, set, &scratch);
	samples_sort(&writer, first, count);
	for (size_t begin = 0, end; begin < count; begin = end) {
		struct labels labels = series_of(&writer, writer.samples[begin])->labels;

		for (end = begin + 1;
		     end < count &&
		     labels_eq(labels, series_of(&writer, writer.samples[end])->labels);)
			end++;
		resource_add(&writer, writer.samples + begin, end - begin);
	}
	otlp__profiles_data__init(&message);
	message.resource_profiles = writer.resources.items;
	message.n_resource_profiles = writer.resources.len;
	message.dictionary = otlp_intern_dictionary(&writer.intern);
	return protobuf_pack(&message.base, arena);
}
