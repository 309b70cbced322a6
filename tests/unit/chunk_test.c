// SPDX-License-Identifier: Apache-2.0
#include "chunk_seal.h"
#include "profile/limits.h"
#include "random_set.h"
#include "store/chunk.h"
#include "store/chunk_directory.h"
#include "store/chunk_format.h"
#include "store/limits.h"
#include "store/row_pieces.h"
#include "test.h"

#include <stdio.h>
#include <zstd.h>

/* Labels by id, as the table of series gives them. */
static bool labels_in(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	const struct sample_set *set = self;

	for (size_t i = 0; i < set->series.len; i++)
		if (set->series.items[i].id == id && str_eq(set->series.items[i].type, type)) {
			*ret_labels = set->series.items[i].labels;
			return true;
		}
	return false;
}

static struct chunk_filter all_of(struct sample_set *set)
{
	return (struct chunk_filter){ labels_in, set, 0, UINT64_MAX };
}

static const struct random_options busy = {
	.seed = 7,
	.samples = 3000,
	.series = 20,
	.stacks = 400,
	.frames = 300,
	.label_sets = 30,
	.first_ms = UINT64_C(1790000000000),
	.span_ms = 10000,
};

static void reads_back_what_was_written(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		AUTO_ARENA arena = { 0 };
		struct sample_set set, got;
		struct random_options options = busy;
		uint64_t samples = 0;
		struct err err;

		options.seed = seed;
		options.samples = seed * seed;
		options.frames = seed % 9 * 30;
		options.series = 1 + seed % 30;
		sample_set_init(&set, &arena);
		sample_set_init(&got, &arena);
		random_set_fill(&set, &options);

		str row = chunk_encode(&set, (int)(seed % 4), &arena, NULL);
		struct chunk_filter filter = all_of(&set);

		assert_true(chunk_decode(row, &filter, &got, &samples, &err));
		assert_int_equal(samples, set.samples.len);
		assert_true(str_eq(sample_set_text(&set, &arena), sample_set_text(&got, &arena)));
	}
}

static void a_row_read_and_written_again_does_not_grow(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	random_set_fill(&set, &busy);

	str row = chunk_encode(&set, 1, &arena, NULL);
	struct chunk_filter filter = all_of(&set);

	assert_true(chunk_decode(row, &filter, &got, &samples, &err));

	str again = chunk_encode(&got, 1, &arena, NULL);

	assert_true(again.len <= row.len + row.len / 20);
}

static void an_empty_set_is_a_row(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	struct chunk_filter filter = all_of(&set);
	uint64_t samples = 1;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	assert_true(
		chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got, &samples, &err));
	assert_int_equal(samples, 0);
	assert_int_equal(got.samples.len, 0);
}

static void samples_without_stacks_are_the_others_with_none(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	struct chunk_filter filter = all_of(&set);
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	random_set_fill(&set, &busy);
	filter.without = CHUNK_NO_STACKS;

	assert_true(
		chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got, &samples, &err));

	for (size_t i = 0; i < set.samples.len; i++)
		set.samples.items[i].stack = 0;
	assert_true(str_eq(sample_set_text(&set, &arena), sample_set_text(&got, &arena)));
	assert_int_equal(got.frames.len, 0);
}

static void samples_without_labels_are_the_others_with_none(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	struct chunk_filter filter = all_of(&set);
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	random_set_fill(&set, &busy);
	filter.without = CHUNK_NO_LABELS;

	assert_true(
		chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got, &samples, &err));

	for (size_t i = 0; i < set.samples.len; i++)
		set.samples.items[i].labels = 0;
	assert_true(str_eq(sample_set_text(&set, &arena), sample_set_text(&got, &arena)));
}

static void leaves_out_what_the_filter_does_not_want(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got, one;
	uint64_t samples;
	struct err err;
	size_t expected = 0;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	sample_set_init(&one, &arena);
	random_set_fill(&set, &busy);
	*vec_push(&arena, &one.series) = set.series.items[3];

	struct chunk_filter filter = { labels_in, &one, busy.first_ms + 100, busy.first_ms + 5000 };

	for (size_t i = 0; i < set.samples.len; i++)
		expected += set.samples.items[i].series == 3 &&
			    set.samples.items[i].time_ms >= filter.start_ms &&
			    set.samples.items[i].time_ms < filter.end_ms;
	assert_true(
		chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got, &samples, &err));
	assert_int_equal(got.samples.len, expected);
	assert_true(expected > 10);
	assert_int_equal(samples, set.samples.len);
}

static void refuses_every_row_with_a_flipped_byte(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct chunk_filter filter = all_of(&set);
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	random_set_fill(&set, &(struct random_options){ .seed = 3,
							.samples = 50,
							.series = 3,
							.stacks = 10,
							.frames = 20,
							.label_sets = 3,
							.span_ms = 100 });

	str row = chunk_encode(&set, 1, &arena, NULL);
	char *bytes = arena_array(&arena, char, row.len);

	for (size_t i = 0; i < row.len; i++) {
		AUTO_ARENA scratch = { 0 };
		struct sample_set got;

		memcpy(bytes, row.ptr, row.len);
		bytes[i] ^= 0x10;
		sample_set_init(&got, &scratch);
		assert_false(chunk_decode((str){ bytes, row.len }, &filter, &got, &samples, &err));
		assert_false(chunk_decode((str){ row.ptr, i }, &filter, &got, &samples, &err));
	}
}

/* A claim that lies behind a right checksum must be found out too. */
static void refuses_lies_whose_checksum_is_right(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct chunk_filter filter = all_of(&set);
	size_t refused = 0;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	random_set_fill(&set, &(struct random_options){ .seed = 5,
							.samples = 60,
							.series = 3,
							.stacks = 10,
							.frames = 20,
							.label_sets = 3,
							.span_ms = 100 });

	str row = chunk_encode(&set, 0, &arena, NULL);
	char *bytes = arena_array(&arena, char, row.len);

	for (size_t i = 0; i + 8 < row.len; i++) {
		AUTO_ARENA scratch = { 0 };
		struct sample_set got;
		uint64_t samples;

		memcpy(bytes, row.ptr, row.len);
		bytes[i] = (char)0xff;
		chunk_seal(bytes, row.len);
		sample_set_init(&got, &scratch);
		refused += !chunk_decode((str){ bytes, row.len }, &filter, &got, &samples, &err);
	}
	assert_true(refused > row.len / 4);
}

/* Lengths and bytes of such columns, and the checksum of all since `from`. */
static void put_columns(struct buf *row, size_t from, const str *columns, size_t count)
{
	struct buf body = { .arena = row->arena };

	for (size_t i = 0; i < count; i++) {
		size_t room = ZSTD_compressBound(columns[i].len);
		size_t len = ZSTD_compress(buf_reserve(&body, room), room, columns[i].ptr,
					   columns[i].len, 1);

		assert_false(ZSTD_isError(len));
		if (len < columns[i].len) {
			body.len += len;
		} else {
			len = columns[i].len;
			buf_str(&body, columns[i]);
		}
		buf_varint(row, columns[i].len);
		buf_varint(row, len);
	}
	buf_str(row, buf_bytes(&body));
	buf_u64(row, hash_64(str_skip(buf_bytes(row), from)));
}

/* A row of such columns, with one slice. */
static str row_of(const str columns[CHUNK_COLUMN_COUNT], struct arena *arena)
{
	struct buf row = { .arena = arena };
	size_t from;

	buf_u8(&row, CHUNK_VERSION);
	buf_varint(&row, 0);
	buf_varint(&row, 1);
	put_columns(&row, 0, columns, CHUNK_SHARED_COUNT);
	from = row.len;
	buf_varint(&row, 0);
	put_columns(&row, from, columns + CHUNK_SHARED_COUNT,
		    CHUNK_COLUMN_COUNT - CHUNK_SHARED_COUNT);
	return buf_bytes(&row);
}

/* Each within what one column might be: it is their sum that no memory must be taken for. */
static void refuses_columns_that_are_too_large_together(void **state)
{
	enum { LEN = CHUNK_RAW_MAX / 4 };
	AUTO_ARENA arena = { 0 }, scratch = { 0 };
	str columns[CHUNK_COLUMN_COUNT];
	struct sample_set got;
	struct chunk_filter filter = all_of(&got);
	uint64_t samples;
	struct err err;

	(void)state;
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		columns[i] = (str){ i ? columns[0].ptr : arena_array(&arena, char, LEN), LEN };

	str row = row_of(columns, &arena);

	assert_true(row.len < 1 << 20);
	sample_set_init(&got, &scratch);
	assert_false(chunk_decode(row, &filter, &got, &samples, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_string_equal(err.msg, "a row's columns are more than 268435456 bytes, decompressed");
	assert_true(scratch.held < 1 << 20);
}

/* A string of nothing is one byte of a column, and sixteen of a table. */
static void refuses_a_row_whose_tables_are_too_large(void **state)
{
	AUTO_ARENA arena = { 0 }, scratch = { 0 };
	str columns[CHUNK_COLUMN_COUNT] = { 0 };
	struct buf strings = { .arena = &arena };
	struct sample_set got;
	struct chunk_filter filter = all_of(&got);
	size_t count = CHUNK_MEMORY_MAX / sizeof(str);
	uint64_t samples;
	struct err err;

	(void)state;
	buf_varint(&strings, count);
	memset(buf_reserve(&strings, count), 0, count);
	strings.len += count;
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		columns[i] = STR("");
	columns[CHUNK_STRINGS] = buf_bytes(&strings);

	str row = row_of(columns, &arena);

	sample_set_init(&got, &scratch);
	assert_false(chunk_decode(row, &filter, &got, &samples, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_string_equal(err.msg, "a row needs more than 1073741824 bytes of memory");
	assert_true(scratch.held < 2 * count);
}

/* The head may be within bounds, and the slices with it not. */
static void refuses_slices_that_are_too_large_together(void **state)
{
	enum { LEN = CHUNK_RAW_MAX / 4 };
	AUTO_ARENA arena = { 0 }, scratch = { 0 };
	str columns[CHUNK_COLUMN_COUNT] = { 0 };
	struct buf none = { .arena = &arena };
	struct sample_set got;
	struct chunk_filter filter = all_of(&got);
	uint64_t samples;
	struct err err;

	(void)state;
	buf_varint(&none, 0);
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		columns[i] = i < CHUNK_SERIES ? buf_bytes(&none)
					      : (str){ columns[CHUNK_SERIES].ptr, LEN };
	columns[CHUNK_SERIES].ptr = arena_array(&arena, char, LEN);
	for (size_t i = CHUNK_SERIES; i < CHUNK_COLUMN_COUNT; i++)
		columns[i].ptr = columns[CHUNK_SERIES].ptr;

	str row = row_of(columns, &arena);

	sample_set_init(&got, &scratch);
	assert_false(chunk_decode(row, &filter, &got, &samples, &err));
	assert_string_equal(err.msg, "a row's columns are more than 268435456 bytes, decompressed");
	assert_true(scratch.held < 1 << 20);
}

/* Samples of STACK_DEPTH_MAX frames, the leaf of each its own and of this name. */
static void add_deep(struct sample_set *set, uint64_t count, str name)
{
	uint32_t stack[STACK_DEPTH_MAX];
	uint32_t series = sample_set_series(set, STR("t"), (struct labels){ 0 }, 1);
	uint32_t labels = sample_set_labels(set, (struct labels){ 0 });
	struct frame frame = { .type = STR("native") };

	for (; frame.address < STACK_DEPTH_MAX - 1; frame.address++)
		stack[frame.address] = sample_set_frame(set, &frame);
	frame.function = name;
	for (uint64_t i = 0; i < count; i++, frame.address++) {
		stack[STACK_DEPTH_MAX - 1] = sample_set_frame(set, &frame);

		uint32_t deep = sample_set_stack(set, stack, STACK_DEPTH_MAX);

		sample_set_add(set, (struct sample){ series, deep, labels, 1, 1 });
	}
}

static void a_set_too_large_for_a_row_is_left_to_be_cut(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, named, got;
	struct chunk_filter filter = all_of(&set);
	str name = { arena_array(&arena, char, ROW_RAW_MAX), ROW_RAW_MAX };
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	add_deep(&set, ROW_FRAMES_MAX / STACK_DEPTH_MAX + 1, STR("f"));
	assert_int_equal(chunk_encode(&set, 1, &arena, NULL).len, 0);
	set.samples.len--;
	sample_set_init(&got, &arena);
	assert_true(
		chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got, &samples, &err));
	assert_int_equal(got.samples.len, set.samples.len);

	/* Nothing is so large that it cannot be written at all. */
	sample_set_init(&named, &arena);
	add_deep(&named, 2, name);
	assert_int_equal(chunk_encode(&named, 1, &arena, NULL).len, 0);
	named.samples.len--;
	filter = all_of(&named);
	sample_set_init(&got, &arena);
	assert_true(
		chunk_decode(chunk_encode(&named, 1, &arena, NULL), &filter, &got, &samples, &err));
	assert_int_equal(samples, 1);
}

static void the_directory_says_what_stands_in_the_row(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct chunk_directory directory, got;
	struct chunk_slice slices[] = { { 100, 3 }, { 200, 0 } };
	uint64_t total = 0;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	random_set_fill(&set, &busy);
	directory = chunk_directory_of(&set, &arena);
	directory.layout = (struct chunk_layout){ 77, slices, ARRAY_LEN(slices) };
	slices[1].series_count = directory.series_count - slices[0].series_count;

	str bytes = chunk_directory_write(&directory, &arena);

	assert_true(chunk_directory_read(bytes, &got, &arena, &err));
	assert_int_equal(got.layout.head_len, 77);
	assert_int_equal(got.layout.slice_count, 2);
	assert_memory_equal(got.layout.slices, slices, sizeof(slices));
	assert_int_equal(got.series_count, directory.series_count);
	for (size_t i = 0; i < got.series_count; i++) {
		total += got.series[i].count;
		assert_true(got.series[i].last_ms < busy.first_ms + busy.span_ms);
		assert_int_equal(got.series[i].sum, directory.series[i].sum);
	}
	assert_int_equal(total, busy.samples);
	assert_int_equal(got.name_count, 2);
	assert_true(str_eq(got.names[0], STR("pid")));
	for (size_t len = 0; len < bytes.len; len++)
		assert_false(chunk_directory_read((str){ bytes.ptr, len }, &got, &arena, &err));

	/* A series that is in no slice, or one too many. */
	for (size_t wrong = 2; wrong <= 4; wrong += 2) {
		slices[0].series_count = wrong;
		bytes = chunk_directory_write(&directory, &arena);
		assert_false(chunk_directory_read(bytes, &got, &arena, &err));
	}
}

/* Enough for several slices. */
static const struct random_options large = {
	.seed = 23,
	.samples = 60000,
	.series = 60,
	.stacks = 4000,
	.frames = 900,
	.label_sets = 50,
	.first_ms = UINT64_C(1790000000000),
	.span_ms = 3600000,
};

/* The samples of the series whose ids are in the directory's run. */
struct run {
	struct sample_set *set;
	const struct chunk_directory *directory;
	const bool *series; /* by the directory's index */
};

static bool labels_in_run(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	const struct run *run = self;

	for (size_t i = 0; i < run->directory->series_count; i++)
		if (run->directory->series[i].id == id)
			return run->series[i] && labels_in(run->set, id, type, ret_labels);
	return false;
}

/* The pieces of a row, one after the other, as they come from the table. */
static str put_together(str row, const struct row_pieces *pieces, struct arena *arena)
{
	struct buf part = { .arena = arena };

	for (size_t i = 0; i < pieces->count; i++)
		buf_str(&part, (str){ row.ptr + pieces->pieces[i].at, pieces->pieces[i].len });
	return buf_bytes(&part);
}

static void a_part_of_a_row_holds_all_of_its_series(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct chunk_layout layout;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	random_set_fill(&set, &large);

	str row = chunk_encode(&set, 3, &arena, &layout);
	struct chunk_directory directory = chunk_directory_of(&set, &arena);
	bool *wanted = arena_array(&arena, bool, directory.series_count);

	directory.layout = layout;
	assert_true(layout.slice_count > 3);
	for (size_t i = 0; i < directory.series_count; i++) {
		AUTO_ARENA scratch = { 0 };
		struct sample_set from_part, from_row;
		struct run run = { &set, &directory, wanted };
		struct chunk_filter filter = { labels_in_run, &run, 0, UINT64_MAX };
		uint64_t samples, all;

		wanted[i] = wanted[directory.series_count - 1 - i / 2] = true;

		struct row_pieces pieces = row_pieces_choose(&directory, wanted, row.len, &scratch);
		str part = put_together(row, &pieces, &scratch);

		sample_set_init(&from_part, &scratch);
		sample_set_init(&from_row, &scratch);
		assert_true(chunk_decode(row, &filter, &from_row, &all, &err));
		assert_int_equal(all, large.samples);
		filter.slices = pieces.slices;
		assert_true(chunk_decode(part, &filter, &from_part, &samples, &err));
		assert_true(pieces.slices ? samples < all : samples == all);
		assert_true(str_eq(sample_set_text(&from_part, &scratch),
				   sample_set_text(&from_row, &scratch)));
		assert_int_equal(from_part.stacks.len, from_row.stacks.len);
		wanted[i] = wanted[directory.series_count - 1 - i / 2] = false;
	}
}

/* What a row lacks, has twice or in another order must not be taken for all of it. */
static void refuses_slices_that_are_not_those_that_were_asked_for(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	struct chunk_filter filter = all_of(&set);
	struct chunk_layout layout;
	struct buf twice = { .arena = &arena }, turned = { .arena = &arena };
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	random_set_fill(&set, &large);

	str row = chunk_encode(&set, 1, &arena, &layout);
	str head = { row.ptr, layout.head_len };
	str first = { row.ptr + head.len, layout.slices[0].len };
	str second = { first.ptr + first.len, layout.slices[1].len };

	row.len -= layout.slices[layout.slice_count - 1].len;
	assert_false(chunk_decode(row, &filter, &got, &samples, &err));
	filter.slices = layout.slice_count - 1;
	assert_true(chunk_decode(row, &filter, &got, &samples, &err));
	filter.slices = 1;
	assert_false(chunk_decode(row, &filter, &got, &samples, &err));
	filter.slices = 2;
	buf_str(&twice, head);
	buf_str(&twice, first);
	buf_str(&twice, first);
	assert_false(chunk_decode(buf_bytes(&twice), &filter, &got, &samples, &err));
	assert_string_equal(err.msg, "a row's slices are not in order");
	buf_str(&turned, head);
	buf_str(&turned, second);
	buf_str(&turned, first);
	assert_false(chunk_decode(buf_bytes(&turned), &filter, &got, &samples, &err));
}

static void reads_back_the_smallest_and_the_largest_values(void **state)
{
	static const int64_t values[] = { INT64_MIN, INT64_MAX, 0, -7, 14, 1, 52631578 * 7LL };

	(void)state;
	for (size_t first = 0; first < ARRAY_LEN(values); first++) {
		AUTO_ARENA arena = { 0 };
		struct sample_set set, got;
		struct chunk_filter filter = all_of(&set);
		uint64_t samples;
		struct err err;

		sample_set_init(&set, &arena);
		sample_set_init(&got, &arena);

		uint32_t series =
			sample_set_series(&set, STR("t"), (struct labels){ 0 }, (uint64_t)first);

		for (size_t i = first; i < ARRAY_LEN(values); i++)
			for (size_t j = i; j < ARRAY_LEN(values); j++)
				sample_set_add(&set, (struct sample){ .series = series,
								      .value = values[j],
								      .time_ms = i });
		assert_true(chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got,
					 &samples, &err));
		assert_true(str_eq(sample_set_text(&set, &arena), sample_set_text(&got, &arena)));
	}
}

static str file_read(const char *path, struct arena *arena)
{
	FILE *file = fopen(path, "rb");
	char *bytes = arena_array(arena, char, 1 << 16);

	assert_non_null(file);

	size_t len = fread(bytes, 1, 1 << 16, file);

	fclose(file);
	return (str){ bytes, len };
}

/* Which was written of the same random set when that was the version. */
static void reads_a_row_of_version_1(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	struct chunk_filter filter = all_of(&set);
	struct chunk_directory directory, expected;
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	random_set_fill(&set, &(struct random_options){ .seed = 11,
							.samples = 400,
							.series = 7,
							.stacks = 60,
							.frames = 50,
							.label_sets = 5,
							.first_ms = UINT64_C(1790000000000),
							.span_ms = 10000 });

	str row = file_read(CORPUS "/../../recorded/chunk/version_1.row", &arena);

	assert_int_equal(row.ptr[0], CHUNK_VERSION_WHOLE);
	assert_true(chunk_decode(row, &filter, &got, &samples, &err));
	assert_int_equal(samples, 400);
	assert_true(str_eq(sample_set_text(&set, &arena), sample_set_text(&got, &arena)));

	str bytes = file_read(CORPUS "/../../recorded/chunk/version_1.directory", &arena);

	expected = chunk_directory_of(&set, &arena);
	assert_true(chunk_directory_read(bytes, &directory, &arena, &err));
	assert_int_equal(directory.series_count, expected.series_count);
	assert_memory_equal(directory.series, expected.series,
			    expected.series_count * sizeof(*expected.series));
	assert_int_equal(directory.layout.slice_count, 0);
}

RUN_TESTS(TEST(reads_back_what_was_written), TEST(a_row_read_and_written_again_does_not_grow),
	  TEST(an_empty_set_is_a_row), TEST(samples_without_stacks_are_the_others_with_none),
	  TEST(samples_without_labels_are_the_others_with_none),
	  TEST(leaves_out_what_the_filter_does_not_want),
	  TEST(refuses_every_row_with_a_flipped_byte), TEST(refuses_lies_whose_checksum_is_right),
	  TEST(refuses_columns_that_are_too_large_together),
	  TEST(refuses_slices_that_are_too_large_together),
	  TEST(refuses_a_row_whose_tables_are_too_large),
	  TEST(a_part_of_a_row_holds_all_of_its_series),
	  TEST(refuses_slices_that_are_not_those_that_were_asked_for),
	  TEST(reads_back_the_smallest_and_the_largest_values), TEST(reads_a_row_of_version_1),
	  TEST(a_set_too_large_for_a_row_is_left_to_be_cut),
	  TEST(the_directory_says_what_stands_in_the_row))
