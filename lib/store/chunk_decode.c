// SPDX-License-Identifier: Apache-2.0
#include "base/reader.h"
#include "profile/limits.h"
#include "store/chunk.h"
#include "store/chunk_columns.h"
#include "store/limits.h"

enum { RESERVED_MAX = 1 << 16 }; /* entries of a table for which room is made before they come */

/* A row being read. What a table of the row holds is an array here, indexed as the row does. */
struct decoder {
	struct sample_set *set;
	const struct chunk_filter *filter;
	struct arena scratch;
	struct chunk_columns columns;

	str *strings;
	struct frame *origins;                  /* type, build id and path filled */
	uint32_t *frames, *stacks, *label_sets; /* their index in the set; NULL: not wanted */
	uint64_t string_count, origin_count, frame_count, stack_count, label_set_count;
	uint64_t sample_count;
	size_t held_before; /* by the set */
	bool too_large;
};

/* Whether so much more may be taken. False: every column counts as failed from here on. */
static bool has_room(struct decoder *decoder, uint64_t count, size_t size)
{
	size_t held = decoder->scratch.held + decoder->set->arena->held - decoder->held_before;

	if (held <= CHUNK_MEMORY_MAX && count <= (CHUNK_MEMORY_MAX - held) / size)
		return true;
	decoder->too_large = true;
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		reader_fail(&decoder->columns.of[i]);
	return false;
}

/* Each item takes a byte at least, so a count beyond what is left is a lie. */
static uint64_t take_count(struct reader *column)
{
	uint64_t count = reader_varint(column);

	if (count > reader_left(column)) {
		reader_fail(column);
		return 0;
	}
	return count;
}

/* The count of a table that becomes an array of items so large. */
static uint64_t take_table(struct decoder *decoder, struct reader *column, size_t size)
{
	uint64_t count = take_count(column);

	return has_room(decoder, count, size) ? count : 0;
}

static uint64_t take_index(struct reader *column, uint64_t count)
{
	uint64_t index = reader_varint(column);

	if (index >= count) {
		reader_fail(column);
		return 0;
	}
	return index;
}

static str take_string(struct decoder *decoder, struct reader *column)
{
	uint64_t index = take_index(column, decoder->string_count);

	return column->failed ? (str){ 0 } : decoder->strings[index];
}

static uint32_t take_u32(struct reader *column)
{
	uint64_t value = reader_varint(column);

	if (value > UINT32_MAX)
		reader_fail(column);
	return (uint32_t)value;
}

/* What is counted at the head of a table comes, unless the row lies: not all of it is believed. */
static size_t plausible(uint64_t count)
{
	return count < RESERVED_MAX ? (size_t)count : RESERVED_MAX;
}

static void read_strings(struct decoder *decoder)
{
	struct reader *column = &decoder->columns.of[CHUNK_STRINGS];

	decoder->string_count = take_table(decoder, column, sizeof(str));
	decoder->strings = arena_array(&decoder->scratch, str, decoder->string_count);
	for (uint64_t i = 0; i < decoder->string_count; i++)
		decoder->strings[i] = reader_str_prefixed(column);
}

static void read_origins(struct decoder *decoder)
{
	struct reader *column = &decoder->columns.of[CHUNK_ORIGINS];

	decoder->origin_count = take_table(decoder, column, sizeof(struct frame));
	decoder->origins = arena_array(&decoder->scratch, struct frame, decoder->origin_count);
	for (uint64_t i = 0; i < decoder->origin_count; i++) {
		decoder->origins[i].type = take_string(decoder, column);
		decoder->origins[i].build_id = take_string(decoder, column);
		decoder->origins[i].path = take_string(decoder, column);
	}
}

static void read_frames(struct decoder *decoder)
{
	struct reader *column = &decoder->columns.of[CHUNK_FRAMES];
	struct reader *names = &decoder->columns.of[CHUNK_NAMES];
	uint64_t origin = 0, address = 0, function = 0;

	decoder->frame_count = take_table(decoder, column, sizeof(uint32_t));
	decoder->frames = arena_array(&decoder->scratch, uint32_t, decoder->frame_count);
	sample_set_reserve(decoder->set, decoder->set->frames.len + plausible(decoder->frame_count),
			   0, 0);
	for (uint64_t i = 0; i < decoder->frame_count; i++) {
		uint64_t step = reader_varint(column), flags = reader_varint(column);

		if (__builtin_add_overflow(origin, step, &origin) || column->failed ||
		    origin >= decoder->origin_count ||
		    !has_room(decoder, 1, sizeof(struct frame))) {
			reader_fail(column);
			return;
		}
		if (step)
			address = 0;
		address += reader_varint(&decoder->columns.of[CHUNK_ADDRESSES]);

		struct frame frame = decoder->origins[origin];

		frame.address = address;
		frame.inlined = flags & CHUNK_FRAME_INLINED;
		if (flags & CHUNK_FRAME_NAMED) {
			function += (uint64_t)reader_zigzag(names);
			if (function >= decoder->string_count) {
				reader_fail(names);
				return;
			}
			frame.function = decoder->strings[function];
			frame.system_name = take_string(decoder, names);
			frame.file = take_string(decoder, names);
			frame.line = take_u32(names);
			frame.start_line = take_u32(names);
		}
		decoder->frames[i] = sample_set_frame(decoder->set, &frame);
	}
}

static void read_stacks(struct decoder *decoder)
{
	struct reader *shapes = &decoder->columns.of[CHUNK_STACK_SHAPES];
	struct reader *frames = &decoder->columns.of[CHUNK_STACK_FRAMES];
	uint32_t stack[STACK_DEPTH_MAX];
	uint64_t depth = 0, total = 0;

	decoder->stack_count = take_table(decoder, shapes, sizeof(uint32_t));
	decoder->stacks = arena_array(&decoder->scratch, uint32_t, decoder->stack_count);
	sample_set_reserve(decoder->set, 0,
			   decoder->set->stacks.len + plausible(decoder->stack_count), 0);
	for (uint64_t i = 0; i < decoder->stack_count; i++) {
		uint64_t shared = reader_varint(shapes), fresh = reader_varint(shapes);

		if (shared > depth || fresh > STACK_DEPTH_MAX - shared ||
		    fresh > reader_left(frames) || total > CHUNK_FRAMES_MAX ||
		    !has_room(decoder, STACK_DEPTH_MAX, sizeof(*stack))) {
			reader_fail(shapes);
			return;
		}
		depth = shared + fresh;
		total += depth;
		for (uint64_t j = shared; j < depth; j++) {
			uint64_t frame = take_index(frames, decoder->frame_count);

			if (frames->failed)
				return;
			stack[j] = decoder->frames[frame];
		}
		decoder->stacks[i] = sample_set_stack(decoder->set, stack, (size_t)depth);
	}
}

static void read_label_sets(struct decoder *decoder)
{
	struct reader *column = &decoder->columns.of[CHUNK_LABEL_SETS];

	decoder->label_set_count = take_table(decoder, column, sizeof(uint32_t));
	decoder->label_sets = arena_array(&decoder->scratch, uint32_t, decoder->label_set_count);
	for (uint64_t i = 0; i < decoder->label_set_count; i++) {
		uint64_t len = take_count(column);

		if (len > LABELS_MAX || !has_room(decoder, len, sizeof(struct label))) {
			reader_fail(column);
			return;
		}

		struct label *items = arena_array(decoder->set->arena, struct label, len);

		for (uint64_t j = 0; j < len; j++) {
			items[j].name = take_string(decoder, column);
			items[j].value = take_string(decoder, column);
		}
		decoder->label_sets[i] = sample_set_labels(
			decoder->set, column->failed ? (struct labels){ 0 }
						     : (struct labels){ items, (size_t)len });
	}
}

/* One series of the row, as its table says it. */
struct series_entry {
	uint64_t id, period, count;
	str type;
	bool has_values, wanted;
	uint32_t series; /* in the set, when wanted */
};

/* What a sample names of a table; 0 where the table was left packed. */
static uint32_t take_entry(struct reader *column, const uint32_t *table, uint64_t count)
{
	if (!table)
		return 0;

	uint64_t index = take_index(column, count);

	return column->failed ? 0 : table[index];
}

static bool is_in_window(const struct chunk_filter *filter, uint64_t time_ms)
{
	return time_ms >= filter->start_ms && time_ms < filter->end_ms;
}

static bool add_sample(struct decoder *decoder, const struct sample *sample)
{
	struct sample_set *set = decoder->set;

	if (set->samples.len == set->samples.cap && /* it will double */
	    !has_room(decoder, 2 * set->samples.cap, sizeof(*sample)))
		return false;
	sample_set_add(set, *sample);
	return true;
}

/* Where nobody wants them they are not looked at. */
static void skip_samples(struct decoder *decoder, const struct series_entry *entry)
{
	struct reader *columns = decoder->columns.of;

	reader_skip_varints(&columns[CHUNK_TIMES], entry->count);
	if (decoder->stacks)
		reader_skip_varints(&columns[CHUNK_STACKS], entry->count);
	if (decoder->label_sets)
		reader_skip_varints(&columns[CHUNK_SAMPLE_LABELS], entry->count);
	if (entry->has_values)
		reader_skip_varints(&columns[CHUNK_VALUES], entry->count);
}

static void read_samples(struct decoder *decoder, const struct series_entry *entry)
{
	struct reader *times = &decoder->columns.of[CHUNK_TIMES];
	struct reader *stacks = &decoder->columns.of[CHUNK_STACKS];
	struct reader *labels = &decoder->columns.of[CHUNK_SAMPLE_LABELS];
	struct reader *values = &decoder->columns.of[CHUNK_VALUES];
	uint64_t time_ms = decoder->columns.base_ms;

	for (uint64_t i = 0; i < entry->count; i++) {
		struct sample sample = { .series = entry->series, .value = (int64_t)entry->period };

		time_ms += reader_varint(times);
		sample.time_ms = time_ms;
		sample.stack = take_entry(stacks, decoder->stacks, decoder->stack_count);
		sample.labels = take_entry(labels, decoder->label_sets, decoder->label_set_count);
		if (entry->has_values)
			sample.value = reader_zigzag(values);
		if (times->failed || stacks->failed || labels->failed || values->failed)
			return;
		if (is_in_window(decoder->filter, time_ms) && !add_sample(decoder, &sample))
			return;
	}
}

static void read_series(struct decoder *decoder)
{
	struct reader *column = &decoder->columns.of[CHUNK_SERIES];
	const struct chunk_filter *filter = decoder->filter;
	uint64_t count = take_count(column);
	size_t samples = decoder->set->samples.len +
			 plausible(reader_left(&decoder->columns.of[CHUNK_TIMES]));
	size_t wanted = 0;

	for (uint64_t i = 0; i < count; i++) {
		struct series_entry entry = { .id = reader_u64(column) };
		struct labels labels = { 0 };

		entry.type = take_string(decoder, column);
		entry.period = reader_varint(column);
		entry.count = reader_varint(column);
		entry.has_values = reader_u8(column);
		if (column->failed ||
		    entry.count > reader_left(&decoder->columns.of[CHUNK_TIMES]) ||
		    !has_room(decoder, 1, sizeof(struct series))) {
			reader_fail(column);
			return;
		}
		entry.wanted = filter->series(filter->self, entry.id, entry.type, &labels);
		if (entry.wanted) {
			entry.series =
				sample_set_series(decoder->set, entry.type, labels, entry.period);
			decoder->set->series.items[entry.series].id = entry.id;
			if (wanted++ > 0) /* one alone is small beside the row */
				sample_set_reserve(decoder->set, 0, 0, samples);
			read_samples(decoder, &entry);
		} else {
			skip_samples(decoder, &entry);
		}
		decoder->sample_count += entry.count;
	}
}

/* What a table refers to must be whole before the table is read. */
static bool columns_hold(const struct decoder *decoder, struct err *err)
{
	if (decoder->too_large)
		return err_set(err, ERR_INVALID, "a row needs more than %d bytes of memory",
			       CHUNK_MEMORY_MAX);
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		if (decoder->columns.of[i].failed)
			return err_set(err, ERR_INVALID,
				       "column %zu of a row does not hold what it should", i);
	return true;
}

static bool columns_are_used_up(const struct decoder *decoder, struct err *err)
{
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		if (reader_left(&decoder->columns.of[i]))
			return err_set(err, ERR_INVALID, "column %zu of a row holds too much", i);
	return true;
}

bool chunk_decode(str row, const struct chunk_filter *filter, struct sample_set *set,
		  uint64_t *ret_samples, struct err *err)
{
	static const struct table {
		void (*read)(struct decoder *);
		unsigned int part;
	} tables[] = {
		{ read_strings, 0 },
		{ read_origins, CHUNK_NO_STACKS },
		{ read_frames, CHUNK_NO_STACKS },
		{ read_stacks, CHUNK_NO_STACKS },
		{ read_label_sets, CHUNK_NO_LABELS },
		{ read_series, 0 },
	};
	struct decoder decoder = { .set = set, .filter = filter, .held_before = set->arena->held };
	bool good = chunk_columns_open(&decoder.columns, row, filter->without, set->arena, err);

	for (size_t i = 0; good && i < ARRAY_LEN(tables); i++) {
		if (tables[i].part & filter->without)
			continue;
		tables[i].read(&decoder);
		good = columns_hold(&decoder, err);
	}
	good = good && columns_are_used_up(&decoder, err);
	arena_free(&decoder.scratch);
	if (good)
		*ret_samples = decoder.sample_count;
	return good;
}
