// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_encode.h"

#include "store/chunk/chunk_encoder_internal.h"
#include "store/chunk/chunk_slices_internal.h"
#include "store/limits.h"

#include <zstd.h>

static struct ranks ranks_new(struct arena *arena, size_t size)
{
	return (struct ranks){
		.of = arena_array(arena, uint32_t, size),
		.all = arena_array(arena, uint32_t, size),
	};
}

static void ranks_use(struct ranks *ranks, uint32_t index)
{
	if (ranks->of[index])
		return;
	ranks->all[ranks->count++] = index;
	ranks->of[index] = (uint32_t)ranks->count;
}

/* Reassigns the ranks, given in order of use, in the row's order. */
static void ranks_sort(struct ranks *ranks, int (*compare)(const void *, const void *, void *),
		       struct chunk_encoder *encoder)
{
	if (ranks->count)
		qsort_r(ranks->all, ranks->count, sizeof(*ranks->all), compare, encoder);
	for (size_t i = 0; i < ranks->count; i++)
		ranks->of[ranks->all[i]] = (uint32_t)i + 1;
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static uint32_t origin_of(struct chunk_encoder *encoder, const struct frame *frame)
{
	struct buf *column = &encoder->columns[CHUNK_ORIGINS];
	struct buf key = { .arena = &encoder->scratch };
	bool is_new;

	buf_varint(&key, chunk_encoder_string(encoder, frame->type));
	buf_varint(&key, chunk_encoder_string(encoder, frame->build_id));
	buf_varint(&key, chunk_encoder_string(encoder, frame->path));

	uint64_t number = chunk_encoder_number(&encoder->origins, buf_bytes(&key), &is_new);

	if (is_new)
		buf_str(column, buf_bytes(&key));
	return (uint32_t)number;
}

static void find_used(struct chunk_encoder *encoder)
{
	const struct sample_set *set = encoder->set;

	for (size_t i = 0; i < set->samples.len; i++) {
		ranks_use(&encoder->series, set->samples.items[i].series);
		ranks_use(&encoder->stacks, set->samples.items[i].stack);
	}
	for (size_t i = 0; i < encoder->stacks.count; i++) {
		const struct stack *stack = &set->stacks.items[encoder->stacks.all[i]];

		for (size_t j = 0; j < stack->len; j++)
			ranks_use(&encoder->frames, stack->frames[j]);
	}
	for (size_t i = 0; i < encoder->frames.count; i++) {
		uint32_t index = encoder->frames.all[i];

		encoder->frame_origins[index] = origin_of(encoder, &set->frames.items[index]);
	}
}

static int compare_series(const void *a, const void *b, void *self)
{
	const struct series *series = ((const struct chunk_encoder *)self)->set->series.items;

	return order(series[*(const uint32_t *)a].id, series[*(const uint32_t *)b].id);
}

static int compare_frames(const void *a, const void *b, void *self)
{
	const struct chunk_encoder *encoder = self;
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	const struct frame *x = &encoder->set->frames.items[first];
	const struct frame *y = &encoder->set->frames.items[second];
	int by = order(encoder->frame_origins[first], encoder->frame_origins[second]);

	by = by ? by : order(x->address, y->address);
	by = by ? by : str_compare(x->function, y->function);
	by = by ? by : order(x->line, y->line);
	return by ? by : order(first, second);
}

static int compare_stacks(const void *a, const void *b, void *self)
{
	const struct chunk_encoder *encoder = self;
	const struct stack *x = &encoder->set->stacks.items[*(const uint32_t *)a];
	const struct stack *y = &encoder->set->stacks.items[*(const uint32_t *)b];

	for (size_t i = 0; i < x->len && i < y->len; i++) {
		int by = order(encoder->frames.of[x->frames[i]], encoder->frames.of[y->frames[i]]);

		if (by)
			return by;
	}
	return order(x->len, y->len);
}

static int compare_samples(const void *a, const void *b, void *self)
{
	const struct chunk_encoder *encoder = self;
	const struct sample *x = a, *y = b;
	int by = order(encoder->series.of[x->series], encoder->series.of[y->series]);

	by = by ? by : order(x->time_ms, y->time_ms);
	by = by ? by : order(encoder->stacks.of[x->stack], encoder->stacks.of[y->stack]);
	by = by ? by : order(x->labels, y->labels);
	return by ? by : order((uint64_t)x->value, (uint64_t)y->value);
}

static void sort_samples(struct chunk_encoder *encoder)
{
	size_t count = encoder->set->samples.len;

	encoder->sample_count = count;
	encoder->samples = arena_array(&encoder->scratch, struct sample, count);
	if (!count)
		return;
	memcpy(encoder->samples, encoder->set->samples.items, count * sizeof(struct sample));
	qsort_r(encoder->samples, count, sizeof(struct sample), compare_samples, encoder);
	for (size_t i = 0; i < count; i++)
		ranks_use(&encoder->label_sets, encoder->samples[i].labels);
}

static bool frame_is_named(const struct frame *frame)
{
	return frame->function.len || frame->system_name.len || frame->file.len || frame->line ||
	       frame->start_line;
}

static void put_frames(struct chunk_encoder *encoder)
{
	struct buf *frames = &encoder->columns[CHUNK_FRAMES];
	struct buf *names = &encoder->columns[CHUNK_NAMES];
	uint64_t origin = 0, address = 0, function = 0;

	buf_varint(frames, encoder->frames.count);
	for (size_t i = 0; i < encoder->frames.count; i++) {
		uint32_t index = encoder->frames.all[i];
		const struct frame *frame = &encoder->set->frames.items[index];
		bool named = frame_is_named(frame);

		if (encoder->frame_origins[index] != origin)
			address = 0;
		buf_varint(frames, encoder->frame_origins[index] - origin);
		buf_varint(frames, (named ? CHUNK_FRAME_NAMED : 0U) |
					   (frame->inlined ? CHUNK_FRAME_INLINED : 0U));
		buf_varint(&encoder->columns[CHUNK_ADDRESSES], frame->address - address);
		origin = encoder->frame_origins[index];
		address = frame->address;
		if (!named)
			continue;

		uint64_t name = chunk_encoder_string(encoder, frame->function);

		buf_zigzag(names, (int64_t)(name - function));
		buf_varint(names, chunk_encoder_string(encoder, frame->system_name));
		buf_varint(names, chunk_encoder_string(encoder, frame->file));
		buf_varint(names, frame->line);
		buf_varint(names, frame->start_line);
		function = name;
	}
}

static void put_stacks(struct chunk_encoder *encoder)
{
	struct buf *shapes = &encoder->columns[CHUNK_STACK_SHAPES];
	struct stack before = { 0 };

	buf_varint(shapes, encoder->stacks.count);
	for (size_t i = 0; i < encoder->stacks.count; i++) {
		struct stack stack = encoder->set->stacks.items[encoder->stacks.all[i]];
		size_t shared = 0;

		while (shared < stack.len && shared < before.len &&
		       stack.frames[shared] == before.frames[shared])
			shared++;
		buf_varint(shapes, shared);
		buf_varint(shapes, stack.len - shared);
		encoder->stack_frames += stack.len;
		for (size_t j = shared; j < stack.len; j++)
			buf_varint(&encoder->columns[CHUNK_STACK_FRAMES],
				   encoder->frames.of[stack.frames[j]] - 1);
		before = stack;
	}
}

static void put_label_sets(struct chunk_encoder *encoder)
{
	struct buf *column = &encoder->columns[CHUNK_LABEL_SETS];

	buf_varint(column, encoder->label_sets.count);
	for (size_t i = 0; i < encoder->label_sets.count; i++) {
		struct labels labels = encoder->set->label_sets.items[encoder->label_sets.all[i]];

		buf_varint(column, labels.len);
		for (size_t j = 0; j < labels.len; j++) {
			buf_varint(column, chunk_encoder_string(encoder, labels.items[j].name));
			buf_varint(column, chunk_encoder_string(encoder, labels.items[j].value));
		}
	}
}

/* Prepends the count of a table, which is known only at its end. */
static void put_count_before(struct buf *column, size_t count)
{
	struct buf counted = { .arena = column->arena };

	buf_varint(&counted, count);
	buf_str(&counted, buf_bytes(column));
	*column = counted;
}

static void put_column(struct buf *head, struct buf *body, str column, int level)
{
	size_t room = ZSTD_compressBound(column.len), len = 0;

	if (level > 0 && column.len) {
		len = ZSTD_compress(buf_reserve(body, room), room, column.ptr, column.len, level);
		if (ZSTD_isError(len) || len >= column.len)
			len = 0;
	}
	body->len += len;
	if (!len)
		buf_str(body, column);
	buf_varint(head, column.len);
	buf_varint(head, len ? len : column.len);
}

static bool fits(const struct chunk_encoder *encoder)
{
	size_t raw = chunk_encoder_raw_len(encoder->columns, 0, CHUNK_SHARED_COUNT);

	for (size_t i = 0; i < encoder->slices.len; i++)
		raw += chunk_encoder_raw_len(encoder->slices.items[i].columns, CHUNK_SHARED_COUNT,
					     CHUNK_COLUMN_COUNT);
	return encoder->sample_count <= 1 ||
	       (raw <= ROW_RAW_MAX && encoder->stack_frames <= ROW_FRAMES_MAX);
}

/* Lengths and bytes of these columns, then the checksum of the row from `from` on. */
static void put_columns(struct chunk_encoder *encoder, struct buf *row, size_t from,
			const struct buf *columns, size_t count, int level)
{
	struct buf body = { .arena = &encoder->scratch };

	for (size_t i = 0; i < count; i++)
		put_column(row, &body, buf_bytes(&columns[i]), level);
	buf_str(row, buf_bytes(&body));
	buf_u64(row, hash_64(str_skip(buf_bytes(row), from)));
}

static str put_row(struct chunk_encoder *encoder, int level, struct arena *arena,
		   struct chunk_layout *layout)
{
	struct buf row = { .arena = arena };

	buf_u8(&row, CHUNK_VERSION);
	buf_varint(&row, encoder->base_ms);
	buf_varint(&row, encoder->slices.len);
	put_columns(encoder, &row, 0, encoder->columns, CHUNK_SHARED_COUNT, level);
	*layout = (struct chunk_layout){
		.head_len = row.len,
		.slices = arena_array(arena, struct chunk_slice, encoder->slices.len),
		.slice_count = encoder->slices.len,
	};
	for (size_t i = 0; i < encoder->slices.len; i++) {
		const struct slice *slice = &encoder->slices.items[i];
		size_t from = row.len;

		buf_varint(&row, i);
		put_columns(encoder, &row, from, slice->columns + CHUNK_SHARED_COUNT,
			    CHUNK_COLUMN_COUNT - CHUNK_SHARED_COUNT, level);
		layout->slices[i] = (struct chunk_slice){ row.len - from, slice->series_count };
	}
	return buf_bytes(&row);
}

str chunk_encode(const struct sample_set *set, int level, struct arena *arena,
		 struct chunk_layout *ret_layout)
{
	struct chunk_encoder encoder = { .set = set };
	struct chunk_layout layout;

	for (size_t i = 0; i < CHUNK_SHARED_COUNT; i++)
		encoder.columns[i].arena = &encoder.scratch;
	encoder.strings.arena = encoder.origins.arena = &encoder.scratch;
	encoder.series = ranks_new(&encoder.scratch, set->series.len);
	encoder.stacks = ranks_new(&encoder.scratch, set->stacks.len);
	encoder.frames = ranks_new(&encoder.scratch, set->frames.len);
	encoder.label_sets = ranks_new(&encoder.scratch, set->label_sets.len);
	encoder.frame_origins = arena_array(&encoder.scratch, uint32_t, set->frames.len);

	chunk_encoder_string(&encoder, STR(""));
	find_used(&encoder);
	ranks_sort(&encoder.series, compare_series, &encoder);
	ranks_sort(&encoder.frames, compare_frames, &encoder);
	ranks_sort(&encoder.stacks, compare_stacks, &encoder);
	sort_samples(&encoder);

	put_frames(&encoder);
	put_stacks(&encoder);
	put_label_sets(&encoder);
	chunk_slices_put(&encoder);

	for (size_t i = 0; i < encoder.slices.len; i++)
		put_count_before(&encoder.slices.items[i].columns[CHUNK_SERIES],
				 encoder.slices.items[i].series_count);
	put_count_before(&encoder.columns[CHUNK_STRINGS], encoder.strings.len);
	put_count_before(&encoder.columns[CHUNK_ORIGINS], encoder.origins.len);

	str row = fits(&encoder)
			  ? put_row(&encoder, level, arena, ret_layout ? ret_layout : &layout)
			  : (str){ 0 };

	arena_free(&encoder.scratch);
	return row;
}
