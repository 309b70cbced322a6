// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "querier/report/collapsed_internal.h"
#include "querier/symbolize/symbolize_merge.h"
#include "support/random_set.h"
#include "support/test.h"

#include <inttypes.h>

static const struct group_by ungrouped;
static struct err err;

static const struct function_symbol work = {
	{ "work(int)", 9 }, { "_Z4worki", 8 }, { "w.c", 3 }, 5
};
static const struct function_symbol step = { { "step", 4 }, { "step", 4 }, { "s.h", 3 }, 1 };
static const struct function_symbol leaf = { { "leaf", 4 }, { "leaf", 4 }, { "s.h", 3 }, 7 };

static struct frame native(uint64_t address)
{
	return (struct frame){ .type = STR("native"),
			       .build_id = STR("aabb"),
			       .path = STR("/bin/app"),
			       .address = address };
}

static void begin(struct merge *merge, struct arena *arena)
{
	merge_init(merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, arena);
}

/* Add a stack of these frames, root first, with a value. */
static void put(struct merge *merge, const struct frame *frames, size_t len, int64_t value)
{
	uint32_t indexes[8];

	for (size_t i = 0; i < len; i++)
		indexes[i] = sample_set_frame(&merge->set, &frames[i]);
	assert_true(merge_add(merge, sample_set_stack(&merge->set, indexes, len), 0, value, &err));
}

static void assert_collapsed(struct merge *merge, const char *expected)
{
	AUTO_ARENA arena = { 0 };
	str text;

	assert_true(collapsed_write(merge, &arena, &text, &err));
	assert_string_equal(str_z(&arena, text), expected);
}

static void inlined_lines_become_frames_outermost_first(void **state)
{
	static const struct function_line lines[] = { { &leaf, 9 }, { &step, 3 }, { &work, 6 } };
	const struct address_lines names[] = { { lines, 3, NAME_KNOWN } };
	const struct frame from = native(0x1234);
	AUTO_ARENA arena = { 0 };
	struct merge plain, named;

	(void)state;
	begin(&plain, &arena);
	begin(&named, &arena);
	put(&plain, &from, 1, 7);
	assert_true(symbolize_merge(&named, &plain,
				    &(struct symbolize_options){ names, .keep_addresses = true },
				    &err));

	struct stack stack = named.set.stacks.items[named.set.samples.items[0].stack];

	assert_int_equal(stack.len, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct frame *frame = &named.set.frames.items[stack.frames[i]];

		assert_true(str_eq(frame->function, lines[2 - i].function->function));
		assert_true(str_eq(frame->system_name, lines[2 - i].function->system_name));
		assert_true(str_eq(frame->file, lines[2 - i].function->file));
		assert_true(str_eq(frame->path, from.path));
		assert_true(str_eq(frame->build_id, from.build_id));
		assert_int_equal(frame->address, 0x1234);
		assert_int_equal(frame->line, lines[2 - i].line);
		assert_int_equal(frame->start_line, lines[2 - i].function->start_line);
		assert_int_equal(frame->inlined, i > 0);
	}
	assert_int_equal(named.set.samples.items[0].value, 7);
}

/* Two addresses of work, called by one of main and by an address without symbols. */
static void fill_two_addresses(struct merge *merge)
{
	const struct frame one[] = { native(1), native(3) };
	const struct frame two[] = { native(1), native(4) };
	const struct frame unknown[] = { native(2), native(4) };

	put(merge, one, 2, 5);
	put(merge, two, 2, 6);
	put(merge, unknown, 2, 7);
}

static const struct function_line step_line = { &step, 3 };
static const struct function_line work_lines[] = { { &work, 6 }, { &work, 8 } };
/* By frame of the merge above: addresses 1, 3, 4, 2. */
static const struct address_lines two_addresses[] = { { &step_line, 1, NAME_KNOWN },
						      { &work_lines[0], 1, NAME_KNOWN },
						      { &work_lines[1], 1, NAME_KNOWN },
						      { NULL, 0, NAME_NO_SYMBOL } };

static void stacks_that_become_equal_are_added_up(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct merge plain, named, exact;

	(void)state;
	begin(&plain, &arena);
	begin(&named, &arena);
	begin(&exact, &arena);
	fill_two_addresses(&plain);
	assert_true(symbolize_merge(&named, &plain, &(struct symbolize_options){ two_addresses },
				    &err));
	assert_true(symbolize_merge(
		&exact, &plain,
		&(struct symbolize_options){ two_addresses, .keep_addresses = true }, &err));

	assert_int_equal(named.set.samples.len, 2);
	assert_int_equal(exact.set.samples.len, 3);
	assert_collapsed(&named, "app+0x2;work(int) 7\nstep;work(int) 11\n");
	assert_collapsed(&exact, "app+0x2;work(int) 7\nstep;work(int) 11\n");
}

static void an_unknown_address_stays_with_its_reason(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct merge plain, named;
	size_t unknown = 0;

	(void)state;
	begin(&plain, &arena);
	begin(&named, &arena);
	fill_two_addresses(&plain);
	assert_true(symbolize_merge(&named, &plain, &(struct symbolize_options){ two_addresses },
				    &err));

	for (size_t i = 0; i < named.set.frames.len; i++) {
		const struct frame *frame = &named.set.frames.items[i];

		assert_int_equal(named.reasons[i],
				 frame->function.len ? NAME_KNOWN : NAME_NO_SYMBOL);
		if (frame->function.len == 0) {
			assert_int_equal(frame->address, 2);
			assert_true(str_eq(frame->build_id, STR("aabb")));
			unknown++;
		}
	}
	assert_int_equal(unknown, 1);
}

static void kernel_and_interpreted_frames_need_no_symbols(void **state)
{
	const struct frame frames[] = {
		{ .type = STR("kernel"), .build_id = STR("aabb"), .address = 1 },
		{ .type = STR("cpython"), .build_id = STR("aabb"), .function = STR("f") },
		{ .type = STR("native"), .path = STR("/bin/app"), .address = 1 },
	};
	const struct frame wanted = native(0);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(frames); i++)
		assert_false(frame_needs_symbol(&frames[i]));
	assert_true(frame_needs_symbol(&wanted));
}

/*
 * A second implementation of the invariant of sums: each sample becomes text, frame by frame, with
 * the functions inserted here; then the sums below each prefix of these texts are compared.
 */
struct prefix {
	str text;
	int64_t value;
};

struct prefixes {
	VEC(struct prefix) list;
	struct arena *arena;
	struct buf text;
	int64_t value;
};

static void add_prefix(struct prefixes *prefixes, str function, str path, uint64_t address)
{
	buf_format(&prefixes->text, ";" STR_FMT "|" STR_FMT "|%" PRIx64, STR_ARG(function),
		   STR_ARG(path), function.len ? 0 : address);
	*vec_push(prefixes->arena, &prefixes->list) =
		(struct prefix){ str_copy(prefixes->arena, buf_bytes(&prefixes->text)),
				 prefixes->value };
}

static int compare_prefixes(const void *a, const void *b)
{
	return str_compare(((const struct prefix *)a)->text, ((const struct prefix *)b)->text);
}

/* names: NULL if the merge is symbolized already. */
static void add_frame(struct prefixes *prefixes, const struct frame *frame,
		      const struct address_lines *name)
{
	uint32_t len = name && frame_needs_symbol(frame) ? name->len : 0;

	if (len == 0)
		add_prefix(prefixes, frame->function, frame->path, frame->address);
	for (uint32_t i = len; i-- > 0;)
		add_prefix(prefixes, name->lines[i].function->function, frame->path, 0);
}

static void add_samples(struct prefixes *prefixes, const struct merge *merge,
			const struct address_lines *names)
{
	const struct sample_set *set = &merge->set;

	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];
		struct stack stack = set->stacks.items[sample->stack];

		prefixes->value = sample->value;
		prefixes->text = (struct buf){ .arena = prefixes->arena };
		buf_format(&prefixes->text, "%u", sample->labels);
		add_prefix(prefixes, STR("all"), STR(""), 0);
		for (size_t j = 0; j < stack.len; j++) {
			uint32_t index = stack.frames[j];

			add_frame(prefixes, &set->frames.items[index],
				  names ? &names[index] : NULL);
		}
	}
}

static str prefix_sums(const struct merge *merge, const struct address_lines *names,
		       struct arena *arena)
{
	struct prefixes all = { .arena = arena };
	struct buf text = { .arena = arena };
	const struct prefix *items;
	int64_t sum = 0;

	add_samples(&all, merge, names);
	items = all.list.items;
	if (items)
		qsort(all.list.items, all.list.len, sizeof(*items), compare_prefixes);
	for (size_t i = 0; i < all.list.len; i++) {
		sum += items[i].value;
		if (i + 1 < all.list.len && str_eq(items[i].text, items[i + 1].text))
			continue;
		buf_format(&text, STR_FMT " %" PRId64 "\n", STR_ARG(items[i].text), sum);
		sum = 0;
	}
	return buf_bytes(&text);
}

/* Few functions for many addresses, some of them unknown; inlined to some depth. */
static struct address_lines *random_names(const struct merge *merge, uint64_t seed,
					  struct arena *arena)
{
	const struct function_symbol *functions[] = { &work, &step, &leaf };
	struct address_lines *names =
		arena_array(arena, struct address_lines, merge->set.frames.len);

	for (size_t i = 0; i < merge->set.frames.len; i++) {
		uint64_t draw = (i + 1) * (seed * 2 + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
		uint32_t len = (uint32_t)(draw % 4);
		struct function_line *lines = arena_array(arena, struct function_line, len);

		for (uint32_t j = 0; j < len; j++)
			lines[j] = (struct function_line){ functions[(draw >> (3 + j)) % 3],
							   (uint32_t)(draw >> 10) % 4 };
		names[i] =
			(struct address_lines){ lines, len, len ? NAME_KNOWN : NAME_NO_DEBUG_INFO };
	}
	return names;
}

static void the_sum_below_each_prefix_of_a_stack_stays_what_it_was(void **state)
{
	static const struct group_by by = { .names = { { "comm", 4 }, { "pid", 3 } }, .len = 2 };

	(void)state;
	for (uint64_t seed = 1; seed < 60; seed++) {
		AUTO_ARENA arena = { 0 };
		struct merge plain, named;
		struct sample_set row;

		merge_init(&plain, STR(PROFILE_TYPE_CPU), seed % 2 ? &by : &ungrouped, 1 << 28,
			   &arena);
		merge_init(&named, STR(PROFILE_TYPE_CPU), plain.group_by, 1 << 28, &arena);
		sample_set_init(&row, &arena);
		random_set_fill(&row, &(struct random_options){ .seed = seed,
								.samples = seed * 17,
								.series = 1 + seed % 6,
								.stacks = seed * 5,
								.frames = seed * 4,
								.label_sets = seed % 8,
								.first_ms = 1,
								.span_ms = 1000 });
		for (size_t i = 0; i < row.samples.len; i++)
			row.samples.items[i].value = (int64_t)(i % 11) + 1;
		assert_true(merge_add_row(&plain, &row, &err));

		const struct address_lines *names = random_names(&plain, seed, &arena);
		const struct symbolize_options options = { names, .keep_addresses = seed % 3 == 0 };

		assert_true(symbolize_merge(&named, &plain, &options, &err));
		assert_string_equal(str_z(&arena, prefix_sums(&named, NULL, &arena)),
				    str_z(&arena, prefix_sums(&plain, names, &arena)));
		assert_true(named.set.samples.len <= plain.set.samples.len);
	}
}

static void symbolizing_counts_as_memory_of_the_response(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct memory memory = { 0 };
	struct merge plain;
	bool written = false;
	int rejected = 0;

	(void)state;
	begin(&plain, &arena);
	merge_share_memory(&plain, &memory);
	for (uint64_t i = 0; i < 5000; i++) {
		const struct frame frames[] = { native(1), native(2 + i) };

		put(&plain, frames, 2, 1);
	}
	assert_true(merge_within_memory(&plain, &arena, &err));

	const struct address_lines *names = random_names(&plain, 7, &arena);

	for (size_t more = 0; !written; more += 64 << 10) {
		AUTO_ARENA of_names = { 0 };
		struct merge named;

		merge_init(&named, STR(PROFILE_TYPE_CPU), &ungrouped, arena.size + more, &of_names);
		merge_share_memory(&named, &memory);
		written =
			symbolize_merge(&named, &plain, &(struct symbolize_options){ names }, &err);
		if (!written) {
			assert_int_equal(err.code, ERR_LIMIT);
			rejected++;
		}
		memory_update(&named.memory, 0);
	}
	assert_true(rejected > 2);
}

static void a_sum_beyond_64_bits_is_an_error(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct merge plain, named;

	(void)state;
	begin(&plain, &arena);
	begin(&named, &arena);
	fill_two_addresses(&plain);
	plain.set.samples.items[0].value = INT64_MAX;
	assert_false(symbolize_merge(&named, &plain, &(struct symbolize_options){ two_addresses },
				     &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

RUN_TESTS(TEST(inlined_lines_become_frames_outermost_first),
	  TEST(stacks_that_become_equal_are_added_up),
	  TEST(an_unknown_address_stays_with_its_reason),
	  TEST(kernel_and_interpreted_frames_need_no_symbols),
	  TEST(the_sum_below_each_prefix_of_a_stack_stays_what_it_was),
	  TEST(symbolizing_counts_as_memory_of_the_response),
	  TEST(a_sum_beyond_64_bits_is_an_error))
