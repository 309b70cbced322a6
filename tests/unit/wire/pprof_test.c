// SPDX-License-Identifier: Apache-2.0
#include "pprof.pb-c.h"
#include "profile/profile_type.h"
#include "support/test.h"
#include "wire/pprof.h"

#include <zlib.h>

enum { PERIOD = 52631578 };

/* Decode the profile with zlib's inflate and protobuf-c. */
static Pprof__Profile *read_back(str gzip)
{
	static uint8_t room[8 << 20];
	z_stream stream = {
		.next_in = (Bytef *)(uintptr_t)gzip.ptr,
		.avail_in = (uInt)gzip.len,
		.next_out = room,
		.avail_out = sizeof(room),
	};

	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	inflateEnd(&stream);
	return pprof__profile__unpack(NULL, stream.total_out, room);
}

static str text(const Pprof__Profile *profile, int64_t id)
{
	assert_in_range(id, 0, profile->n_string_table - 1);
	return (str){ (const char *)profile->string_table[id].data, profile->string_table[id].len };
}

/* main (native) → do_syscall_64 (kernel), twice by pid 7 and once by pid 8. */
static void fill(struct sample_set *set)
{
	static struct label comm = { STR("comm"), STR("x") };
	static struct label pids[] = { { STR("pid"), STR("7") }, { STR("pid"), STR("8") } };
	struct frame native = {
		.type = STR("native"),
		.build_id = STR("abcd"),
		.path = STR("/bin/x"),
		.address = 0x1234,
	};
	struct frame kernel = {
		.type = STR("kernel"),
		.path = STR("[kernel.kallsyms]"),
		.function = STR("do_syscall_64"),
	};
	uint32_t frames[] = { sample_set_frame(set, &native), sample_set_frame(set, &kernel) };
	struct labels labels = { &comm, 1 };
	struct sample sample = {
		.series = sample_set_series(set, STR(PROFILE_TYPE_CPU), labels, PERIOD),
		.stack = sample_set_stack(set, frames, 2),
		.value = PERIOD,
	};

	for (size_t i = 0; i < 3; i++) {
		sample.labels = sample_set_labels(set, (struct labels){ &pids[i / 2], 1 });
		sample.time_ms = 1000 + i;
		sample_set_add(set, sample);
	}
	sample.series = sample_set_series(set, STR("a:b:c:d:e"), labels, 0);
	sample_set_add(set, sample);
}

static const struct pprof_options plain = {
	.type = STR(PROFILE_TYPE_CPU),
	.start_ms = 1000,
	.end_ms = 61000,
	.period = PERIOD,
};

static void merges_equal_stacks_and_leaves_other_types_out(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;

	(void)state;
	sample_set_init(&set, &arena);
	fill(&set);

	Pprof__Profile *profile = read_back(pprof_write(&set, &plain, &arena));

	assert_non_null(profile);
	assert_int_equal(profile->n_sample, 1);
	assert_int_equal(profile->sample[0]->value[0], 3 * PERIOD);
	assert_int_equal(profile->sample[0]->n_label, 0);
	assert_true(str_eq(text(profile, profile->sample_type[0]->type), STR("cpu")));
	assert_true(str_eq(text(profile, profile->sample_type[0]->unit), STR("nanoseconds")));
	assert_int_equal(profile->time_nanos, 1000000000);
	assert_int_equal(profile->duration_nanos, 60000000000);
	assert_int_equal(profile->period, PERIOD);
	assert_int_equal(profile->string_table[0].len, 0);
	pprof__profile__free_unpacked(profile, NULL);
}

static void keeps_addresses_build_ids_and_names_leaf_first(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;

	(void)state;
	sample_set_init(&set, &arena);
	fill(&set);

	Pprof__Profile *profile = read_back(pprof_write(&set, &plain, &arena));
	const Pprof__Location *leaf = profile->location[profile->sample[0]->location_id[0] - 1];
	const Pprof__Location *root = profile->location[profile->sample[0]->location_id[1] - 1];
	const Pprof__Mapping *mapping = profile->mapping[root->mapping_id - 1];
	const Pprof__Function *function = profile->function[leaf->line[0]->function_id - 1];

	assert_true(str_eq(text(profile, function->name), STR("do_syscall_64")));
	assert_int_equal(root->address, 0x1234);
	assert_int_equal(root->n_line, 0);
	assert_true(str_eq(text(profile, mapping->filename), STR("/bin/x")));
	assert_true(str_eq(text(profile, mapping->build_id), STR("abcd")));
	assert_true(mapping->memory_start <= 0x1234 && 0x1234 < mapping->memory_limit);
	pprof__profile__free_unpacked(profile, NULL);
}

static void the_first_mapping_is_the_program_with_the_largest_sum(void **state)
{
	static const char *const paths[] = { "[kernel.kallsyms]", "/lib/libc.so.6", "/bin/small",
					     "/bin/large", "/lib/plugin.so" };
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct labels none = { 0 };

	(void)state;
	sample_set_init(&set, &arena);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct frame frame = { .type = STR("native"),
				       .path = str_from(paths[i]),
				       .address = 0x1000 + i };
		uint32_t frames[] = { sample_set_frame(&set, &frame) };

		sample_set_add(&set,
			       (struct sample){ .series = sample_set_series(
							&set, STR(PROFILE_TYPE_CPU), none, PERIOD),
						.stack = sample_set_stack(&set, frames, 1),
						.labels = sample_set_labels(&set, none),
						.value = i == 3 ? 2 * PERIOD : PERIOD });
	}

	Pprof__Profile *profile = read_back(pprof_write(&set, &plain, &arena));

	assert_true(str_eq(text(profile, profile->mapping[0]->filename), STR("/bin/large")));
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		const Pprof__Location *location =
			profile->location[profile->sample[i]->location_id[0] - 1];
		const Pprof__Mapping *mapping = profile->mapping[location->mapping_id - 1];

		assert_int_equal(mapping->id, location->mapping_id);
		assert_true(str_eq(text(profile, mapping->filename), str_from(paths[i])));
	}
	pprof__profile__free_unpacked(profile, NULL);
}

static void distinguishes_samples_by_the_requested_labels(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct pprof_options options = plain;

	(void)state;
	sample_set_init(&set, &arena);
	fill(&set);
	options.series_labels = options.sample_labels = true;

	Pprof__Profile *profile = read_back(pprof_write(&set, &options, &arena));

	assert_int_equal(profile->n_sample, 2);
	assert_int_equal(profile->sample[0]->value[0], 2 * PERIOD);
	assert_int_equal(profile->sample[1]->value[0], PERIOD);
	assert_int_equal(profile->sample[0]->n_label, 2);
	assert_true(str_eq(text(profile, profile->sample[0]->label[0]->str), STR("x")));
	assert_true(str_eq(text(profile, profile->sample[0]->label[1]->key), STR("pid")));
	assert_int_equal(profile->sample[0]->label[1]->num, 7);
	assert_int_equal(profile->sample[1]->label[1]->num, 8);
	pprof__profile__free_unpacked(profile, NULL);
}

/* main called work, into which step and leaf were inlined; the same address twice; and an address
 * of another binary that has no name. */
static void fill_inlined(struct sample_set *set)
{
	struct frame frames[] = {
		{ .function = STR("main"), .file = STR("a.c"), .line = 3, .address = 0x10 },
		{ .function = STR("work"), .file = STR("a.c"), .line = 9, .address = 0x20 },
		{ .function = STR("step"), .file = STR("b.c"), .line = 4, .address = 0x20 },
		{ .function = STR("leaf"), .file = STR("b.c"), .line = 7, .address = 0x20 },
		{ .address = 0x30 },
		{ .function = STR("known"), .address = 0x40 },
	};
	uint32_t indexes[ARRAY_LEN(frames)];

	for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
		frames[i].path = i < 4 ? STR("/bin/named") : STR("/bin/half");
		frames[i].inlined = i == 2 || i == 3;
		indexes[i] = sample_set_frame(set, &frames[i]);
	}

	struct sample sample = {
		.series = sample_set_series(set, STR(PROFILE_TYPE_CPU), (struct labels){ 0 }, 0),
		.value = 1,
	};

	for (size_t len = 4; len <= ARRAY_LEN(frames); len++) {
		sample.stack = sample_set_stack(set, indexes, len);
		sample_set_add(set, sample);
	}
}

static void inlined_lines_share_a_location_innermost_first(void **state)
{
	static const char *const names[] = { "leaf", "step", "work" };
	AUTO_ARENA arena = { 0 };
	struct sample_set set;

	(void)state;
	sample_set_init(&set, &arena);
	fill_inlined(&set);

	Pprof__Profile *profile = read_back(pprof_write(&set, &plain, &arena));
	const Pprof__Sample *sample = profile->sample[0];

	assert_int_equal(profile->n_sample, 3);
	assert_int_equal(profile->n_location, 4);
	assert_int_equal(sample->n_location_id, 2);

	const Pprof__Location *inlined = profile->location[sample->location_id[0] - 1];

	assert_int_equal(inlined->address, 0x20);
	assert_int_equal(inlined->n_line, 3);
	for (size_t i = 0; i < 3; i++) {
		const Pprof__Function *function =
			profile->function[inlined->line[i]->function_id - 1];

		assert_true(str_eq(text(profile, function->name), str_from(names[i])));
	}
	assert_int_equal(inlined->line[2]->line, 9);
	assert_int_equal(profile->location[sample->location_id[1] - 1]->n_line, 1);
	pprof__profile__free_unpacked(profile, NULL);
}

static void a_mapping_claims_names_only_if_each_of_its_locations_has_one(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;

	(void)state;
	sample_set_init(&set, &arena);
	fill_inlined(&set);

	Pprof__Profile *profile = read_back(pprof_write(&set, &plain, &arena));

	assert_int_equal(profile->n_mapping, 2);
	for (size_t i = 0; i < 2; i++) {
		const Pprof__Mapping *mapping = profile->mapping[i];
		bool named = str_eq(text(profile, mapping->filename), STR("/bin/named"));

		assert_int_equal(mapping->has_functions, named);
		assert_int_equal(mapping->has_filenames, named);
		assert_int_equal(mapping->has_line_numbers, named);
		assert_int_equal(mapping->has_inline_frames, named);
	}
	pprof__profile__free_unpacked(profile, NULL);
}

static void an_empty_set_is_a_valid_profile(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;

	(void)state;
	sample_set_init(&set, &arena);

	Pprof__Profile *profile = read_back(pprof_write(&set, &plain, &arena));

	assert_non_null(profile);
	assert_int_equal(profile->n_sample, 0);
	assert_int_equal(profile->n_sample_type, 1);
	pprof__profile__free_unpacked(profile, NULL);
}

static bool count_down(void *left)
{
	return (*(int *)left)-- > 0;
}

/* Texts that do not compress well: the encoding is compressed in several pieces. */
static void fill_with_texts(struct sample_set *set, struct arena *arena)
{
	struct labels none = { 0 };
	uint64_t random = 1;
	struct sample sample = {
		.series = sample_set_series(set, STR(PROFILE_TYPE_CPU), none, PERIOD),
		.value = PERIOD,
	};

	for (int i = 0; i < 1000; i++) {
		char *name = arena_array(arena, char, 4096);
		struct frame frame = { .function = { name, 4096 } };
		uint32_t index;

		for (size_t at = 0; at < 4096; at++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			name[at] = (char)('!' + (random >> 33) % 64);
		}
		index = sample_set_frame(set, &frame);
		sample.stack = sample_set_stack(set, &index, 1);
		sample_set_add(set, sample);
	}
}

/* It is asked every 256 samples, then before each MiB that is compressed. */
static void an_encoding_ends_when_its_caller_says_so(void **state)
{
	enum { ENOUGH = 100 };
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct pprof_options options = plain;
	int left = ENOUGH;

	(void)state;
	sample_set_init(&set, &arena);
	fill_with_texts(&set, &arena);
	options.may_continue = count_down;
	options.self = &left;

	Pprof__Profile *profile = read_back(pprof_write(&set, &options, &arena));
	int asked = ENOUGH - left;

	assert_non_null(profile);
	assert_int_equal(profile->n_sample, 1000);
	pprof__profile__free_unpacked(profile, NULL);
	assert_true(asked >= 4 + 4);
	for (int times = 0; times < asked; times++) {
		left = times;
		assert_null(pprof_write(&set, &options, &arena).ptr);
	}
}

static void only_the_compressed_bytes_stay_in_memory(void **state)
{
	AUTO_ARENA samples = { 0 }, arena = { 0 };
	struct sample_set set;
	str body;

	(void)state;
	sample_set_init(&set, &samples);
	fill_with_texts(&set, &samples);
	body = pprof_write(&set, &plain, &arena);
	assert_true(body.len > 64 * 1024); /* more than a block of an arena */
	assert_in_range(arena.size, body.len, body.len + 64);
}

RUN_TESTS(TEST(only_the_compressed_bytes_stay_in_memory),
	  TEST(merges_equal_stacks_and_leaves_other_types_out),
	  TEST(keeps_addresses_build_ids_and_names_leaf_first),
	  TEST(the_first_mapping_is_the_program_with_the_largest_sum),
	  TEST(distinguishes_samples_by_the_requested_labels),
	  TEST(inlined_lines_share_a_location_innermost_first),
	  TEST(a_mapping_claims_names_only_if_each_of_its_locations_has_one),
	  TEST(an_empty_set_is_a_valid_profile), TEST(an_encoding_ends_when_its_caller_says_so))
