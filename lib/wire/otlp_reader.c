// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the resources, profiles and samples of a message. otlp_stacks.c decodes their stacks,
 * otlp_labels.c their labels.
 */
#include "wire/otlp_reader.h"

#include "profile/limits.h"
#include "profile/profile_type.h"
#include "wire/otlp_dictionary_internal.h"
#include "wire/otlp_labels_internal.h"
#include "wire/otlp_stacks_internal.h"

#include <inttypes.h>

#define NS_PER_TIME UINT64_C(1000000) /* sample times are in milliseconds */

const char *const otlp_reason_names[OTLP_REASON_COUNT] = { OTLP_REJECT_REASONS(
	NAMED_TEXT) OTLP_PARTIAL_REASONS(NAMED_TEXT) };

struct otlp_reader {
	struct otlp_decoder decoder;
	struct otlp_labels labels;
	struct buf pieces[3]; /* memory for repeated fields that come in pieces */
};

/* The fields of one Profile that its samples need. */
struct profile {
	str sample_type, period_type; /* ValueType */
	str type;                     /* five parts */
	bool multiply;
	int64_t period;
	uint64_t time_ns;
	struct otlp_packed attributes;
	struct otlp_profile_labels labels;
	uint32_t series;
	bool has_series;
};

struct wire_sample {
	uint64_t stack, link;
	struct otlp_packed attributes, values, times;
};

static bool sample_decode(struct otlp_reader *reader, str bytes, struct wire_sample *sample)
{
	struct otlp_decoder *decoder = &reader->decoder;
	struct reader r = reader_of(bytes);
	struct field field = { 0 };

	sample->stack = sample->link = 0;
	sample->attributes.bytes = sample->values.bytes = sample->times.bytes = (str){ 0 };
	sample->attributes.more.len = sample->values.more.len = sample->times.more.len = 0;
	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("vpvpP")))
			return otlp_reject(decoder, OTLP_OLD_LAYOUT,
					   "field %" PRIu64 " of a sample has the type of an older "
					   "version of the format",
					   field.number);
		if (field.number == 1)
			sample->stack = field.value;
		else if (field.number == 2)
			otlp_packed_add(&sample->attributes, &field);
		else if (field.number == 3)
			sample->link = field.value;
		else if (field.number == 4)
			otlp_packed_add(&sample->values, &field);
		else if (field.number == 5)
			otlp_packed_add(&sample->times, &field);
	}
	return otlp_end_check(decoder, &r, &field);
}

static size_t varint_count(str packed)
{
	size_t count = 0;

	for (size_t i = 0; i < packed.len; i++)
		count += (unsigned char)packed.ptr[i] < 0x80;
	return count;
}

static bool series_intern(struct otlp_reader *reader, struct profile *profile)
{
	struct sample_set *set = reader->decoder.set;
	struct labels labels;

	if (profile->has_series)
		return true;
	if (!otlp_labels_of_series(&reader->labels, &labels))
		return false;
	profile->series = sample_set_series(set, profile->type, labels,
					    profile->period > 0 ? (uint64_t)profile->period : 0);
	profile->has_series = true;
	return true;
}

static bool value_convert(struct otlp_reader *reader, const struct profile *profile, int64_t value,
			  int64_t *ret_value)
{
	if (!profile->multiply) {
		*ret_value = value;
		return true;
	}
	if (value < 0 || __builtin_mul_overflow(value, profile->period, ret_value))
		return otlp_reject(&reader->decoder, OTLP_SHAPE,
				   "%" PRId64 " ticks of %" PRId64 " ns are no CPU time", value,
				   profile->period);
	return true;
}

/* Add one timestamp or one aggregate, if its time is in the accepted range. */
static void sample_store(struct otlp_reader *reader, struct sample sample)
{
	struct otlp_decoder *decoder = &reader->decoder;

	if (sample.time_ms < decoder->options->min_time_ms)
		decoder->result->counts[OTLP_TOO_OLD]++;
	else if (sample.time_ms > decoder->options->max_time_ms)
		decoder->result->counts[OTLP_TOO_FAR_AHEAD]++;
	else
		sample_set_add(decoder->set, sample);
}

/* Each timestamp has its value, or 1 if there are no values. Without timestamps: the profile's. */
static bool sample_spread(struct otlp_reader *reader, const struct profile *profile,
			  const struct wire_sample *wire, struct sample sample)
{
	struct reader values = reader_of(wire->values.bytes);
	struct reader times = reader_of(wire->times.bytes);
	struct field field = { 0 };
	uint64_t value = 1, time_ns = profile->time_ns;
	size_t count = wire->times.bytes.len / sizeof(uint64_t);

	for (size_t i = 0; i < (count ? count : 1); i++) {
		if (wire->values.bytes.len)
			field_varint(&values, &field, &value);
		if (count)
			time_ns = reader_u64(&times);
		if (!value_convert(reader, profile, (int64_t)value, &sample.value))
			return false;
		sample.time_ms = time_ns / NS_PER_TIME;
		sample_store(reader, sample);
	}
	return otlp_end_check(&reader->decoder, &values, &field);
}

static bool shape_check(struct otlp_reader *reader, const struct wire_sample *sample)
{
	struct otlp_decoder *decoder = &reader->decoder;
	size_t times = sample->times.bytes.len / sizeof(uint64_t);
	size_t values = varint_count(sample->values.bytes);

	if (sample->times.bytes.len % sizeof(uint64_t))
		return otlp_reject(decoder, OTLP_MALFORMED,
				   "the timestamps of a sample are not 8 bytes each");
	if (sample->values.bytes.len &&
	    (unsigned char)sample->values.bytes.ptr[sample->values.bytes.len - 1] >= 0x80)
		return otlp_reject(decoder, OTLP_TRUNCATED,
				   "the values of a sample end inside a varint");
	if (times ? values && values != times : values != 1)
		return otlp_reject(decoder, OTLP_SHAPE,
				   "a sample with %zu values and %zu timestamps", values, times);
	decoder->result->samples += times ? times : 1;
	if (decoder->result->samples > MESSAGE_SAMPLES_MAX)
		return otlp_reject(decoder, OTLP_LIMIT, "more than %d samples",
				   MESSAGE_SAMPLES_MAX);
	return otlp_memory_check(decoder);
}

static bool sample_read(struct otlp_reader *reader, struct profile *profile,
			struct wire_sample *wire, str bytes)
{
	struct sample sample = { 0 };

	if (!sample_decode(reader, bytes, wire))
		return false;
	if (!reader->decoder.has_dictionary)
		return otlp_reject(
			&reader->decoder, OTLP_OLD_LAYOUT,
			"samples without a dictionary, as in older versions of the format");
	if (!shape_check(reader, wire) ||
	    !otlp_stack_read(&reader->decoder, wire->stack, &sample.stack) ||
	    !otlp_labels_of_sample(&reader->labels, &profile->labels, wire->attributes.bytes,
				   wire->link, &sample.labels) ||
	    !series_intern(reader, profile))
		return false;
	sample.series = profile->series;
	return sample_spread(reader, profile, wire, sample);
}

static bool value_type_read(struct otlp_reader *reader, str bytes, str *ret_type, str *ret_unit)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };
	str texts[3] = { 0 };

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("vv")))
			return otlp_reject(&reader->decoder, OTLP_MALFORMED,
					   "a field of a value type has a wrong wire type");
		if (field.number <= 2 &&
		    !otlp_entry(&reader->decoder, OTLP_STRINGS, field.value, &texts[field.number]))
			return false;
	}
	*ret_type = texts[1];
	*ret_unit = texts[2];
	return otlp_end_check(&reader->decoder, &r, &field);
}

static bool profile_type_find(struct otlp_reader *reader, struct profile *profile)
{
	str type, unit, period_type, period_unit;

	if (!value_type_read(reader, profile->sample_type, &type, &unit) ||
	    !value_type_read(reader, profile->period_type, &period_type, &period_unit))
		return false;
	if (type.len + unit.len + period_type.len + period_unit.len + STR("otlp::::").len >
	    TYPE_MAX)
		return otlp_reject(&reader->decoder, OTLP_LIMIT,
				   "a profile type of more than %d bytes", TYPE_MAX);
	profile->type = profile_type_of_otlp(type, unit, period_type, period_unit,
					     &profile->multiply, reader->decoder.set->arena);
	if (profile->multiply && profile->period <= 0)
		return otlp_reject(&reader->decoder, OTLP_SHAPE, "CPU samples without a period");
	return true;
}

/* The other fields may follow the samples on the wire, so they are read first. */
static bool profile_head_read(struct otlp_reader *reader, str bytes, struct profile *profile)
{
	struct otlp_decoder *decoder = &reader->decoder;
	struct reader r = reader_of(bytes);
	struct field field = { 0 };

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("ll8vlvlvllp")))
			return otlp_reject(decoder, OTLP_OLD_LAYOUT,
					   "field %" PRIu64
					   " of a profile has the type of an older "
					   "version of the format",
					   field.number);
		if (field.number == 1)
			profile->sample_type = field.bytes;
		else if (field.number == 3)
			profile->time_ns = field.value;
		else if (field.number == 5)
			profile->period_type = field.bytes;
		else if (field.number == 6)
			profile->period = (int64_t)field.value;
		else if (field.number == 11)
			otlp_packed_add(&profile->attributes, &field);
	}
	return otlp_end_check(decoder, &r, &field) && profile_type_find(reader, profile);
}

static bool profile_read(struct otlp_reader *reader, str bytes)
{
	struct profile profile = { .attributes.more.arena = &reader->decoder.scratch };
	struct reader r = reader_of(bytes);
	struct wire_sample sample;
	struct field field = { 0 };

	if (!profile_head_read(reader, bytes, &profile) ||
	    !otlp_labels_of_profile(&reader->labels, profile.attributes.bytes, &profile.labels))
		return false;
	sample.attributes.more = reader->pieces[0];
	sample.values.more = reader->pieces[1];
	sample.times.more = reader->pieces[2];
	while (field_next(&r, &field))
		if (field.number == 2 && !sample_read(reader, &profile, &sample, field.bytes))
			return false;
	reader->pieces[0] = sample.attributes.more;
	reader->pieces[1] = sample.values.more;
	reader->pieces[2] = sample.times.more;
	return true; /* profile_head_read() has checked the end already */
}

static bool scope_read(struct otlp_reader *reader, str bytes)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("lll")))
			return otlp_reject(&reader->decoder, OTLP_MALFORMED,
					   "a field of ScopeProfiles has a wrong wire type");
		if (field.number == 2 && !profile_read(reader, field.bytes))
			return false;
	}
	return otlp_end_check(&reader->decoder, &r, &field);
}

/* The resource may follow its profiles on the wire, so it is read first. */
static bool resource_profiles_read(struct otlp_reader *reader, str bytes)
{
	struct otlp_decoder *decoder = &reader->decoder;
	struct reader r = reader_of(bytes);
	struct field field = { 0 };

	otlp_labels_begin(&reader->labels);
	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("lll")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "a field of ResourceProfiles has a wrong wire type");
		if (field.number == 1 && !otlp_labels_of_resource(&reader->labels, field.bytes))
			return false;
	}
	if (!otlp_end_check(decoder, &r, &field))
		return false;
	r = reader_of(bytes);
	while (field_next(&r, &field))
		if (field.number == 2 && !scope_read(reader, field.bytes))
			return false;
	return otlp_memory_check(decoder);
}

static bool message_read(struct otlp_reader *reader, str bytes)
{
	struct otlp_decoder *decoder = &reader->decoder;
	struct reader r = reader_of(bytes);
	struct field field = { 0 };

	if (bytes.len > MESSAGE_MAX)
		return otlp_reject(decoder, OTLP_LIMIT, "a message of %zu bytes, limit %d",
				   bytes.len, MESSAGE_MAX);
	if (!otlp_dictionary_index(decoder, bytes))
		return false;
	while (field_next(&r, &field))
		if (field.number == 1 && !resource_profiles_read(reader, field.bytes))
			return false;
	return otlp_end_check(decoder, &r, &field);
}

bool otlp_read(str bytes, const struct otlp_options *options, struct sample_set *set,
	       struct otlp_result *ret_result, struct err *err)
{
	struct otlp_reader reader = {
		.decoder = { .options = options,
			     .set = set,
			     .result = ret_result,
			     .err = err,
			     .memory_before = set->arena->size },
	};
	struct arena *scratch = &reader.decoder.scratch;

	*ret_result = (struct otlp_result){ .rejected = OTLP_REASON_COUNT };
	otlp_labels_init(&reader.labels, &reader.decoder);
	for (size_t i = 0; i < ARRAY_LEN(reader.pieces); i++)
		reader.pieces[i].arena = scratch;

	bool is_read = message_read(&reader, bytes);

	arena_free(scratch);
	return is_read;
}
