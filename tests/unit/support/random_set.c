// SPDX-License-Identifier: Apache-2.0
#include "support/random_set.h"

#include "profile/profile_type.h"

#include <inttypes.h>

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t below(uint64_t *state, size_t limit)
{
	return limit ? next(state) % limit : 0;
}

static void add_frame(struct sample_set *set, uint64_t *state, size_t i)
{
	struct arena *arena = set->arena;
	struct frame frame = { .type = STR("native"), .address = next(state) >> 20 };

	frame.build_id = str_format(arena, "%016" PRIx64, below(state, 5) * 77);
	frame.path = str_format(arena, "/usr/lib/lib%" PRIu64 ".so", below(state, 5));
	if (i % 3 == 0) {
		frame.type = STR("kernel");
		frame.build_id = (str){ 0 };
		frame.path = STR("[kernel.kallsyms]");
		frame.function = str_format(arena, "do_%" PRIu64, below(state, 40));
		frame.address = i % 2 ? 0 : UINT64_MAX - below(state, 1000);
	}
	if (i % 7 == 0) {
		frame.type = STR("cpython");
		frame.system_name = STR("système");
		frame.file = STR("a.py");
		frame.line = (uint32_t)below(state, 500);
		frame.start_line = 1;
		frame.inlined = i % 2;
	}
	sample_set_frame(set, &frame);
}

static void add_labels(struct sample_set *set, uint64_t *state, bool of_series)
{
	struct arena *arena = set->arena;
	struct label *items = arena_array(arena, struct label, 3);

	items[0].name = of_series ? STR("comm") : STR("thread_name");
	items[0].value = str_format(arena, "comm%" PRIu64, below(state, 9));
	items[1].name = of_series ? STR("service_name") : STR("pid");
	items[1].value = str_format(arena, "%" PRIu64, below(state, 50));
	items[2].name = STR("node");
	items[2].value = str_format(arena, "n%" PRIu64, below(state, 4));

	struct labels labels = labels_of(items, of_series ? 3 : 2);

	if (of_series)
		sample_set_series(set, STR(PROFILE_TYPE_CPU), labels,
				  below(state, 4) ? UINT64_C(52631578) : 0);
	else
		sample_set_labels(set, labels);
}

void random_set_fill(struct sample_set *set, const struct random_options *options)
{
	uint64_t state = options->seed * 2654435761 + 1;
	uint32_t stack[40];

	for (size_t i = 0; i < options->frames; i++)
		add_frame(set, &state, i);
	for (size_t i = 0; i < options->stacks && set->frames.len; i++) {
		size_t len = below(&state, 40);

		/* Many begin alike, as real ones do. */
		for (size_t j = 0; j < len; j++)
			stack[j] = (uint32_t)below(
				&state, j < 5 && set->frames.len > 2 ? 2 : set->frames.len);
		sample_set_stack(set, stack, len);
	}
	for (size_t i = 0; i < options->label_sets; i++)
		add_labels(set, &state, false);
	for (size_t i = 0; i < options->series; i++)
		add_labels(set, &state, true);
	for (size_t i = 0; i < options->samples && set->series.len; i++) {
		struct sample sample = {
			.series = (uint32_t)below(&state, set->series.len),
			.stack = (uint32_t)below(&state, set->stacks.len),
			.labels = (uint32_t)below(&state, set->label_sets.len),
			.time_ms = options->first_ms + below(&state, options->span_ms),
		};

		sample.value = (int64_t)set->series.items[sample.series].period;
		if (sample.series % 2)
			sample.value = (int64_t)next(&state);
		sample_set_add(set, sample);
	}
}

static void put_labels(struct buf *out, struct labels labels)
{
	for (size_t i = 0; i < labels.len; i++)
		buf_format(out, " " STR_FMT "=" STR_FMT, STR_ARG(labels.items[i].name),
			   STR_ARG(labels.items[i].value));
}

static void put_frame(struct buf *out, const struct frame *frame)
{
	buf_format(out,
		   ";" STR_FMT "|" STR_FMT "|" STR_FMT "|%" PRIx64 "|" STR_FMT "|" STR_FMT
		   "|" STR_FMT "|%u|%u|%d",
		   STR_ARG(frame->type), STR_ARG(frame->build_id), STR_ARG(frame->path),
		   frame->address, STR_ARG(frame->function), STR_ARG(frame->system_name),
		   STR_ARG(frame->file), frame->line, frame->start_line, frame->inlined);
}

static int compare(const void *a, const void *b)
{
	return str_compare(*(const str *)a, *(const str *)b);
}

str sample_set_text(const struct sample_set *set, struct arena *arena)
{
	str *lines = arena_array(arena, str, set->samples.len);
	struct buf all = { .arena = arena };

	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];
		const struct series *series = &set->series.items[sample->series];
		const struct stack *stack = &set->stacks.items[sample->stack];
		struct buf line = { .arena = arena };

		buf_format(&line, "%" PRIu64 " %" PRId64 " " STR_FMT " %" PRIu64 " {",
			   sample->time_ms, sample->value, STR_ARG(series->type), series->period);
		put_labels(&line, series->labels);
		buf_format(&line, " } {");
		put_labels(&line, set->label_sets.items[sample->labels]);
		buf_format(&line, " } ");
		for (size_t j = 0; j < stack->len; j++)
			put_frame(&line, &set->frames.items[stack->frames[j]]);
		lines[i] = buf_bytes(&line);
	}
	if (set->samples.len)
		qsort(lines, set->samples.len, sizeof(*lines), compare);
	for (size_t i = 0; i < set->samples.len; i++) {
		buf_str(&all, lines[i]);
		buf_u8(&all, '\n');
	}
	return buf_bytes(&all);
}
