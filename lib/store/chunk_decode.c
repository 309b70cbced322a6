#include "base/reader.h"
#include "profile/limits.h"
#include "store/chunk.h"
#include "store/chunk_format.h"
#include "store/limits.h"

#include <zstd.h>

enum { RESERVED_MAX = 1 << 16 }; /* entries of a table for which room is made before they come */

/* A row being read. What a table of the row holds is an array here, indexed as the row does. */
struct decoder {
	struct sample_set *set;
	const struct chunk_filter *filter;
	struct arena scratch;
	struct reader columns[CHUNK_COLUMN_COUNT];
	uint64_t base_ms;

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
		reader_fail(&decoder->columns[i]);
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

/* What stacks are made of, and which stack a sample has. */
static bool is_of_stacks(size_t column)
{
	switch ((enum chunk_column)column) {
	case CHUNK_ORIGINS:
	case CHUNK_FRAMES:
	case CHUNK_ADDRESSES:
	case CHUNK_NAMES:
	case CHUNK_STACK_SHAPES:
	case CHUNK_STACK_FRAMES:
	case CHUNK_STACKS:
		return true;
	case CHUNK_STRINGS:
	case CHUNK_LABEL_SETS:
	case CHUNK_SERIES:
	case CHUNK_TIMES:
	case CHUNK_SAMPLE_LABELS:
	case CHUNK_VALUES:
	case CHUNK_COLUMN_COUNT:
		break;
	}
	return false;
}

static bool open_column(struct decoder *decoder, size_t column, uint64_t raw_len, str stored,
			struct err *err)
{
	if (stored.len == raw_len) {
		decoder->columns[column] = reader_of(str_copy(decoder->set->arena, stored));
		return true;
	}
	if (stored.len > raw_len || ZSTD_getFrameContentSize(stored.ptr, stored.len) != raw_len)
		return err_set(err, ERR_INVALID, "column %zu of a row has an impossible length",
			       column);

	char *raw = arena_array(decoder->set->arena, char, raw_len);
	size_t len = ZSTD_decompress(raw, raw_len, stored.ptr, stored.len);

	if (ZSTD_isError(len) || len != raw_len)
		return err_set(err, ERR_INVALID, "column %zu of a row does not decompress", column);
	decoder->columns[column] = reader_of((str){ raw, len });
	return true;
}

static bool open_row(struct decoder *decoder, str row, struct err *err)
{
	uint64_t raw[CHUNK_COLUMN_COUNT], stored[CHUNK_COLUMN_COUNT];
	struct reader r = reader_of(row);
	uint64_t total = 0;

	if (row.len < CHUNK_CHECKSUM)
		return err_set(err, ERR_INVALID, "a row of %zu bytes", row.len);

	str body = { row.ptr, row.len - CHUNK_CHECKSUM };
	struct reader tail = reader_of(str_skip(row, body.len));

	if (hash_64(body) != reader_u64(&tail))
		return err_set(err, ERR_INVALID, "a row's checksum is wrong");
	r.rest = body;
	if (reader_u8(&r) != CHUNK_VERSION)
		return err_set(err, ERR_INVALID, "a row of a version that is not known");
	decoder->base_ms = reader_varint(&r);
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++) {
		raw[i] = reader_varint(&r);
		stored[i] = reader_varint(&r);
		if (raw[i] > CHUNK_RAW_MAX || (total += raw[i]) > CHUNK_RAW_MAX)
			return err_set(err, ERR_INVALID,
				       "a row's columns are more than %d bytes, decompressed",
				       CHUNK_RAW_MAX);
	}
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++) {
		if (stored[i] > reader_left(&r))
			return err_set(err, ERR_INVALID, "column %zu of a row is cut short", i);

		str column = reader_bytes(&r, (size_t)stored[i]);

		if (decoder->filter->no_stacks && is_of_stacks(i))
			continue;
		if (!open_column(decoder, i, raw[i], column, err))
			return false;
	}
	return !r.failed || err_set(err, ERR_INVALID, "a row's head is cut short");
}

/* What is counted at the head of a table comes, unless the row lies: not all of it is believed. */
static size_t plausible(uint64_t count)
{
	return count < RESERVED_MAX ? (size_t)count : RESERVED_MAX;
}

static void read_strings(struct decoder *decoder)
{
	struct reader *column = &decoder->columns[CHUNK_STRINGS];

	decoder->string_count = take_table(decoder, column, sizeof(str));
	decoder->strings = arena_array(&decoder->scratch, str, decoder->string_count);
	for (uint64_t i = 0; i < decoder->string_count; i++)
		decoder->strings[i] = reader_str_prefixed(column);
}

static void read_origins(struct decoder *decoder)
{
	struct reader *column = &decoder->columns[CHUNK_ORIGINS];

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
	struct reader *column = &decoder->columns[CHUNK_FRAMES];
	struct reader *names = &decoder->columns[CHUNK_NAMES];
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
		address += reader_varint(&decoder->columns[CHUNK_ADDRESSES]);

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
	struct reader *shapes = &decoder->columns[CHUNK_STACK_SHAPES];
	struct reader *frames = &decoder->columns[CHUNK_STACK_FRAMES];
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
	struct reader *column = &decoder->columns[CHUNK_LABEL_SETS];

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

static void read_samples(struct decoder *decoder, const struct series_entry *entry)
{
	struct reader *times = &decoder->columns[CHUNK_TIMES];
	struct reader *stacks = &decoder->columns[CHUNK_STACKS];
	struct reader *labels = &decoder->columns[CHUNK_SAMPLE_LABELS];
	struct reader *values = &decoder->columns[CHUNK_VALUES];
	struct sample_set *set = decoder->set;
	uint64_t time_ms = decoder->base_ms;

	for (uint64_t i = 0; i < entry->count; i++) {
		struct sample sample = { .series = entry->series, .value = (int64_t)entry->period };
		uint64_t stack = decoder->stacks ? take_index(stacks, decoder->stack_count) : 0;
		uint64_t label_set = take_index(labels, decoder->label_set_count);

		time_ms += reader_varint(times);
		if (entry->has_values)
			sample.value = reader_zigzag(values);
		if (times->failed || stacks->failed || labels->failed || values->failed)
			return;
		if (!entry->wanted || time_ms < decoder->filter->start_ms ||
		    time_ms >= decoder->filter->end_ms)
			continue;
		if (decoder->stacks)
			sample.stack = decoder->stacks[stack];
		sample.labels = decoder->label_sets[label_set];
		sample.time_ms = time_ms;
		if (set->samples.len == set->samples.cap && /* it will double */
		    !has_room(decoder, 2 * set->samples.cap, sizeof(sample)))
			return;
		sample_set_add(set, sample);
	}
}

static void read_series(struct decoder *decoder)
{
	struct reader *column = &decoder->columns[CHUNK_SERIES];
	const struct chunk_filter *filter = decoder->filter;
	uint64_t count = take_count(column);
	size_t samples =
		decoder->set->samples.len + plausible(reader_left(&decoder->columns[CHUNK_TIMES]));

	for (uint64_t i = 0; i < count; i++) {
		struct series_entry entry = { .id = reader_u64(column) };
		struct labels labels = { 0 };

		entry.type = take_string(decoder, column);
		entry.period = reader_varint(column);
		entry.count = reader_varint(column);
		entry.has_values = reader_u8(column);
		if (column->failed || entry.count > reader_left(&decoder->columns[CHUNK_TIMES]) ||
		    !has_room(decoder, 1, sizeof(struct series))) {
			reader_fail(column);
			return;
		}
		entry.wanted = filter->series(filter->self, entry.id, entry.type, &labels);
		if (entry.wanted) {
			entry.series =
				sample_set_series(decoder->set, entry.type, labels, entry.period);
			decoder->set->series.items[entry.series].id = entry.id;
			sample_set_reserve(decoder->set, 0, 0, samples);
		}
		read_samples(decoder, &entry);
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
		if (decoder->columns[i].failed)
			return err_set(err, ERR_INVALID,
				       "column %zu of a row does not hold what it should", i);
	return true;
}

static bool columns_are_used_up(const struct decoder *decoder, struct err *err)
{
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		if (reader_left(&decoder->columns[i]))
			return err_set(err, ERR_INVALID, "column %zu of a row holds too much", i);
	return true;
}

bool chunk_decode(str row, const struct chunk_filter *filter, struct sample_set *set,
		  uint64_t *ret_samples, struct err *err)
{
	static const struct table {
		void (*read)(struct decoder *);
		bool of_stacks;
	} tables[] = {
		{ read_strings, false }, { read_origins, true },     { read_frames, true },
		{ read_stacks, true },   { read_label_sets, false }, { read_series, false },
	};
	struct decoder decoder = { .set = set, .filter = filter, .held_before = set->arena->held };
	bool good = open_row(&decoder, row, err);

	for (size_t i = 0; good && i < ARRAY_LEN(tables); i++) {
		if (filter->no_stacks && tables[i].of_stacks)
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
