// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_slices_internal.h"
#include "store/limits.h"

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t remainder = a % b;

		a = b;
		b = remainder;
	}
	return a;
}

/* The greatest common divisor of the values: sums of ticks are multiples of the tick. */
static uint64_t unit_of(const struct sample *samples, size_t count, uint64_t period)
{
	uint64_t unit = 0;
	bool same = true;

	for (size_t i = 0; i < count && (same || unit != 1); i++) {
		int64_t value = samples[i].value;

		same = same && (uint64_t)value == period;
		if (value == INT64_MIN) /* llabs() of it overflows */
			unit = 1;
		else if (!unit || (uint64_t)llabs(value) % unit)
			unit = common_divisor((uint64_t)llabs(value), unit);
	}
	if (same)
		return CHUNK_ALL_PERIOD;
	return unit ? unit : 1;
}

static void put_samples(struct chunk_encoder *encoder, struct slice *slice,
			const struct sample *samples, size_t count, uint64_t unit)
{
	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &samples[i];
		uint64_t step_ms =
			sample->time_ms - (i ? samples[i - 1].time_ms : encoder->base_ms);
		uint32_t stack = encoder->stacks.of[sample->stack] - 1;

		buf_varint(&slice->columns[CHUNK_TIMES], step_ms);
		if (i && !step_ms)
			stack -= encoder->stacks.of[samples[i - 1].stack] - 1;
		buf_varint(&slice->columns[CHUNK_STACKS], stack);
		buf_varint(&slice->columns[CHUNK_SAMPLE_LABELS],
			   encoder->label_sets.of[sample->labels] - 1);
		if (unit != CHUNK_ALL_PERIOD)
			buf_zigzag(&slice->columns[CHUNK_VALUES], sample->value / (int64_t)unit);
	}
}

/* Encodes the samples of one series, which are consecutive. */
static void put_series(struct chunk_encoder *encoder, struct slice *slice,
		       const struct sample *samples, size_t count)
{
	struct buf *column = &slice->columns[CHUNK_SERIES];
	const struct series *series = &encoder->set->series.items[samples->series];
	uint64_t unit = unit_of(samples, count, series->period);

	buf_u64(column, series->id);
	buf_varint(column, chunk_encoder_string(encoder, series->type));
	buf_varint(column, series->period);
	buf_varint(column, count);
	buf_varint(column, unit);
	put_samples(encoder, slice, samples, count, unit);
	slice->series_count++;
}

static struct slice *slice_new(struct chunk_encoder *encoder)
{
	struct slice *slice = vec_push(&encoder->scratch, &encoder->slices);

	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		slice->columns[i].arena = &encoder->scratch;
	return slice;
}

/* Series with the same id stay in one slice: the directory does not order them. */
void chunk_slices_put(struct chunk_encoder *encoder)
{
	const struct sample *samples = encoder->samples;
	const struct series *series = encoder->set->series.items;
	struct slice *slice = NULL;

	encoder->base_ms = encoder->sample_count ? UINT64_MAX : 0;
	for (size_t i = 0; i < encoder->sample_count; i++)
		if (samples[i].time_ms < encoder->base_ms)
			encoder->base_ms = samples[i].time_ms;
	for (size_t i = 0, end; i < encoder->sample_count; i = end) {
		for (end = i + 1; end < encoder->sample_count; end++)
			if (samples[end].series != samples[i].series)
				break;
		if (!slice || (chunk_encoder_raw_len(slice->columns, CHUNK_SHARED_COUNT,
						     CHUNK_COLUMN_COUNT) >= ROW_SLICE_RAW &&
			       series[samples[i].series].id != series[samples[i - 1].series].id))
			slice = slice_new(encoder);
		put_series(encoder, slice, &samples[i], end - i);
	}
}
