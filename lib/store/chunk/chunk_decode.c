// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_decode.h"

#include "profile/limits.h"
#include "store/chunk/chunk_decoder_internal.h"
#include "store/chunk/chunk_stacks_internal.h"
#include "store/limits.h"

#include <inttypes.h>

static void read_strings(struct chunk_decoder *decoder)
{
	struct reader *column = &decoder->columns.of[CHUNK_STRINGS];

	decoder->string_count = chunk_decoder_read_table(decoder, column, sizeof(str));
	decoder->strings = arena_array(&decoder->scratch, str, decoder->string_count);
	for (uint64_t i = 0; i < decoder->string_count; i++)
		decoder->strings[i] = reader_str_prefixed(column);
}

static void read_label_sets(struct chunk_decoder *decoder)
{
	struct reader *column = &decoder->columns.of[CHUNK_LABEL_SETS];
	uint64_t count =
		chunk_decoder_read_table(decoder, column, sizeof(struct labels) + sizeof(uint32_t));

	decoder->label_sets = arena_array(&decoder->scratch, struct labels, count);
	decoder->labels_used = arena_array(&decoder->scratch, uint32_t, count);
	decoder->label_set_count = count;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t len = chunk_decoder_read_count(column);

		if (len > LABELS_MAX ||
		    !chunk_decoder_has_room(decoder, len, sizeof(struct label))) {
			reader_fail(column);
			return;
		}

		struct label *items = arena_array(&decoder->scratch, struct label, len);

		for (uint64_t j = 0; j < len; j++) {
			items[j].name = chunk_decoder_read_string(decoder, column);
			items[j].value = chunk_decoder_read_string(decoder, column);
		}
		decoder->label_sets[i] = (struct labels){ items, (size_t)len };
	}
}

/* One entry of the series table of a slice. */
struct series_entry {
	uint64_t id, period, count, unit;
	str type;
	uint32_t series; /* index in the set, if wanted */
};

/* The set's index of a label set of the row, which is added on first use. */
static uint32_t use_labels(struct chunk_decoder *decoder, uint64_t index)
{
	uint32_t *used = &decoder->labels_used[index];
	struct labels labels = decoder->label_sets[index];

	if (!*used) {
		struct label *items = arena_array(decoder->set->arena, struct label, labels.len);

		if (labels.len)
			memcpy(items, labels.items, labels.len * sizeof(*items));
		labels.items = items;
		*used = sample_set_labels(decoder->set, labels) + 1;
	}
	return *used - 1;
}

static void use_stack(struct chunk_decoder *decoder, uint32_t index)
{
	decoder->stacks_used_count += !decoder->stacks_used[index];
	decoder->stacks_used[index] = true;
}

static bool is_in_window(const struct chunk_filter *filter, uint64_t time_ms)
{
	return time_ms >= filter->start_ms && time_ms < filter->end_ms;
}

static bool has_room_for_sample(struct chunk_decoder *decoder)
{
	const struct sample_set *set = decoder->set;

	return set->samples.len < set->samples.cap || /* else it will double */
	       chunk_decoder_has_room(decoder, 2 * set->samples.cap, sizeof(struct sample));
}

/* Skips the samples of a series that is not wanted, without decoding them. */
static void skip_samples(struct chunk_decoder *decoder, const struct series_entry *entry)
{
	struct reader *columns = decoder->columns.of;

	reader_skip_varints(&columns[CHUNK_TIMES], entry->count);
	if (decoder->stacks_used)
		reader_skip_varints(&columns[CHUNK_STACKS], entry->count);
	if (decoder->label_sets)
		reader_skip_varints(&columns[CHUNK_SAMPLE_LABELS], entry->count);
	if (entry->unit != CHUNK_ALL_PERIOD)
		reader_skip_varints(&columns[CHUNK_VALUES], entry->count);
}

/* Of consecutive samples with the same time, all but the first store a step. */
static uint32_t read_stack(struct chunk_decoder *decoder, bool is_step, uint32_t before)
{
	struct reader *column = &decoder->columns.of[CHUNK_STACKS];
	uint64_t index = reader_varint(column);

	if (is_step && decoder->columns.version != CHUNK_VERSION_WHOLE)
		index += before;
	if (index >= decoder->stack_count)
		reader_fail(column);
	return (uint32_t)index;
}

/* Advances `sample` to the next sample of the series. Its label set is an index of the row. */
static bool next_sample(struct chunk_decoder *decoder, const struct series_entry *entry,
			bool is_first, struct sample *sample)
{
	struct reader *times = &decoder->columns.of[CHUNK_TIMES];
	struct reader *stacks = &decoder->columns.of[CHUNK_STACKS];
	struct reader *labels = &decoder->columns.of[CHUNK_SAMPLE_LABELS];
	struct reader *values = &decoder->columns.of[CHUNK_VALUES];
	uint64_t step_ms = reader_varint(times);

	sample->time_ms += step_ms;
	if (decoder->stacks_used)
		sample->stack = read_stack(decoder, !is_first && !step_ms, sample->stack);
	if (decoder->label_sets)
		sample->labels =
			(uint32_t)chunk_decoder_read_index(labels, decoder->label_set_count);
	if (entry->unit != CHUNK_ALL_PERIOD)
		sample->value = (int64_t)(entry->unit * (uint64_t)reader_zigzag(values));
	return !times->failed && !stacks->failed && !labels->failed && !values->failed;
}

/* Adds the sample with its label set; its stack stays an index of the row. False: no room. */
static bool add_sample(struct chunk_decoder *decoder, struct sample sample)
{
	if (!has_room_for_sample(decoder))
		return false;
	if (decoder->label_sets)
		sample.labels = use_labels(decoder, sample.labels);
	if (decoder->stacks_used)
		use_stack(decoder, sample.stack);
	*vec_push(decoder->set->arena, &decoder->set->samples) = sample;
	return true;
}

static void read_samples(struct chunk_decoder *decoder, const struct series_entry *entry)
{
	struct sample sample = { .series = entry->series,
				 .value = (int64_t)entry->period,
				 .time_ms = decoder->columns.base_ms };

	for (uint64_t i = 0; i < entry->count; i++)
		if (!next_sample(decoder, entry, i == 0, &sample) ||
		    (is_in_window(decoder->filter, sample.time_ms) && !add_sample(decoder, sample)))
			return;
}

/* Reserves room for the rest of the slice; at least doubles, since there are many slices. */
static void reserve_samples(struct chunk_decoder *decoder)
{
	struct sample_set *set = decoder->set;
	size_t needed = set->samples.len +
			chunk_decoder_plausible(reader_left(&decoder->columns.of[CHUNK_TIMES]));

	if (needed <= set->samples.cap)
		return;
	if (needed < 2 * set->samples.cap)
		needed = 2 * set->samples.cap;
	if (chunk_decoder_has_room(decoder, needed, sizeof(struct sample)))
		sample_set_reserve(set, 0, 0, needed);
}

/* Reads the series of a slice, with their samples. */
static void read_series(struct chunk_decoder *decoder)
{
	struct reader *column = &decoder->columns.of[CHUNK_SERIES];
	const struct chunk_filter *filter = decoder->filter;
	uint64_t count = chunk_decoder_read_count(column);
	size_t wanted = 0;

	for (uint64_t i = 0; i < count; i++) {
		struct series_entry entry = { .id = reader_u64(column) };
		struct labels labels = { 0 };

		entry.type = chunk_decoder_read_string(decoder, column);
		entry.period = reader_varint(column);
		entry.count = reader_varint(column);
		entry.unit = reader_varint(column);
		if (column->failed ||
		    entry.count > reader_left(&decoder->columns.of[CHUNK_TIMES]) ||
		    !chunk_decoder_has_room(decoder, 1, sizeof(struct series))) {
			reader_fail(column);
			return;
		}
		decoder->sample_count += entry.count;
		if (!filter->series(filter->self, entry.id, entry.type, &labels)) {
			skip_samples(decoder, &entry);
			continue;
		}
		entry.series = sample_set_series(decoder->set, entry.type, labels, entry.period);
		decoder->set->series.items[entry.series].id = entry.id;
		if (wanted++ > 0) /* a single series is small compared to the slice */
			reserve_samples(decoder);
		read_samples(decoder, &entry);
	}
}

/* To be checked before a table is read that refers to tables read so far. */
static bool columns_are_valid(const struct chunk_decoder *decoder, struct err *err)
{
	if (decoder->too_large)
		return err_set(err, ERR_INVALID, "a row needs more than %d bytes of memory",
			       CHUNK_MEMORY_MAX);
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		if (decoder->columns.of[i].failed)
			return err_set(err, ERR_INVALID, "column %zu of a row is malformed", i);
	return true;
}

static bool are_used_up(const struct chunk_decoder *decoder, size_t first, size_t end,
			struct err *err)
{
	for (size_t i = first; i < end; i++)
		if (reader_left(&decoder->columns.of[i]))
			return err_set(err, ERR_INVALID, "column %zu of a row has trailing bytes",
				       i);
	return true;
}

static bool read_slices(struct chunk_decoder *decoder, struct err *err)
{
	struct chunk_columns *columns = &decoder->columns;
	uint64_t wanted = decoder->filter->slices ? decoder->filter->slices : columns->slice_count;
	bool open = true;

	while (open) {
		if (!chunk_columns_next(columns, &decoder->scratch, &open, err))
			return false;
		if (!open)
			break;
		read_series(decoder);
		if (!columns_are_valid(decoder, err) ||
		    !are_used_up(decoder, CHUNK_SHARED_COUNT, CHUNK_COLUMN_COUNT, err))
			return false;
	}
	return columns->opened_count == wanted ||
	       err_set(err, ERR_INVALID, "a row has %" PRIu64 " of %" PRIu64 " slices",
		       columns->opened_count, wanted);
}

static bool decode(struct chunk_decoder *decoder, struct err *err)
{
	unsigned int without = decoder->filter->without;

	read_strings(decoder);
	if (!(without & CHUNK_NO_LABELS) && columns_are_valid(decoder, err))
		read_label_sets(decoder);
	if (!(without & CHUNK_NO_STACKS))
		chunk_stacks_count(decoder);
	if (!columns_are_valid(decoder, err) || !read_slices(decoder, err))
		return false;
	if (decoder->stacks_used)
		chunk_stacks_read(decoder);
	return columns_are_valid(decoder, err) && are_used_up(decoder, 0, CHUNK_SHARED_COUNT, err);
}

bool chunk_decode(str row, const struct chunk_filter *filter, struct sample_set *set,
		  uint64_t *ret_samples, struct err *err)
{
	struct chunk_decoder decoder = { .set = set,
					 .filter = filter,
					 .first_sample = set->samples.len,
					 .used_before = set->arena->size };
	bool good = chunk_columns_open(&decoder.columns, row, filter->without, set->arena, err) &&
		    decode(&decoder, err);

	arena_free(&decoder.scratch);
	if (good)
		*ret_samples = decoder.sample_count;
	return good;
}
