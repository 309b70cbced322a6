// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "querier/querier_limits.h"
#include "querier/symbolize/symbol_lookup.h"
#include "support/test.h"

static const struct group_by ungrouped;
static struct err err;

/*
 * A symbolizer for which address A of binary B is in the function "B.G.A", where G is the
 * generation; addresses below 0x10 are unknown.
 */
struct fake {
	uint64_t generation;
	size_t requests, addresses, most_addresses, binaries;
	const char *fails; /* with this error; NULL: it works */
	size_t fewer;      /* locations, or binaries, than were requested */
	bool fewer_binaries;
	uint64_t next_generation; /* after the next request; 0: stays */
	enum name_reason reason;  /* of all; NAME_KNOWN: by address */
};

static struct symbolized_location locate(const struct fake *fake, str build_id, uint64_t address,
					 struct arena *arena)
{
	struct symbolized_line *line = arena_new(arena, struct symbolized_line);

	if (fake->reason)
		return (struct symbolized_location){ .reason = fake->reason };
	if (address < 0x10)
		return (struct symbolized_location){ .reason = NAME_NO_SYMBOL };
	line->function = str_format(arena, STR_FMT ".%ju.%jx", STR_ARG(build_id),
				    (uintmax_t)fake->generation, (uintmax_t)address);
	return (struct symbolized_location){ line, 1, NAME_KNOWN };
}

static bool fake_query(void *self, const struct symbolize_request *request,
		       const struct store_bounds *bounds, struct arena *arena,
		       struct symbolize_response *ret_response, struct err *query_err)
{
	struct fake *fake = self;
	struct symbolized_binary *binaries =
		arena_array(arena, struct symbolized_binary, request->binary_count);
	size_t addresses = 0;

	fake->requests++;
	fake->binaries += request->binary_count;
	assert_true(bounds->deadline_ns > clock_monotonic_ns());
	if (fake->fails)
		return err_set(query_err, ERR_IO, "%s", fake->fails);
	for (size_t i = 0; i < request->binary_count; i++) {
		const struct symbolize_binary *requested = &request->binaries[i];
		struct symbolized_location *locations =
			arena_array(arena, struct symbolized_location, requested->address_count);

		for (size_t j = 0; j < requested->address_count; j++)
			locations[j] =
				locate(fake, requested->build_id, requested->addresses[j], arena);
		binaries[i] =
			(struct symbolized_binary){ .generation = fake->generation,
						    .locations = locations,
						    .location_count = requested->address_count };
		if (requested->address_count)
			binaries[i].location_count -= fake->fewer;
		addresses += requested->address_count;
	}
	fake->addresses += addresses;
	if (addresses > fake->most_addresses)
		fake->most_addresses = addresses;
	if (fake->next_generation)
		fake->generation = fake->next_generation;
	*ret_response =
		(struct symbolize_response){ binaries, request->binary_count -
							       (fake->fewer_binaries ? 1 : 0) };
	return true;
}

struct scene {
	struct fake fake;
	struct symbolization symbolization;
	struct arena arena;
	struct merge merge;
	struct memory memory;
	struct symbol_lookup lookup;
};

static void begin(struct scene *scene)
{
	*scene = (struct scene){ .fake.generation = 1 };
	symbolization_init(&scene->symbolization,
			   &(struct symbolization_options){ .source = { fake_query, &scene->fake },
							    .timeout_ns = 60 * NS_PER_SECOND,
							    .cache_max_bytes = 1 << 28 });
	merge_init(&scene->merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 28, &scene->arena);
	merge_share_memory(&scene->merge, &scene->memory);
}

static void end(struct scene *scene)
{
	symbol_lookup_done(&scene->lookup);
	arena_free(&scene->arena);
	symbolization_done(&scene->symbolization);
}

static void add(struct scene *scene, str build_id, uint64_t address, str path)
{
	sample_set_frame(&scene->merge.set, &(struct frame){ .type = STR("native"),
							     .build_id = build_id,
							     .path = path,
							     .address = address });
}

static void add_many(struct scene *scene, str build_id, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(scene, build_id, 0x1000 + i, STR("/bin/x"));
}

/* Run another query over the same merge. */
static void look_up(struct scene *scene)
{
	const struct store_bounds unbound = { 0 };

	symbol_lookup_done(&scene->lookup);
	scene->fake.requests = scene->fake.addresses = scene->fake.binaries = 0;
	assert_true(symbol_lookup_run(&scene->lookup, &scene->symbolization, &scene->merge,
				      &unbound, &err));
}

static void assert_function(struct scene *scene, size_t frame, const char *function)
{
	const struct address_lines *name = &scene->lookup.resolved[frame];
	AUTO_ARENA arena = { 0 };

	assert_int_equal(name->len, 1);
	assert_string_equal(str_z(&arena, name->lines[0].function->function), function);
}

static void cached_symbols_are_not_requested_again(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	add(&scene, STR("aa"), 0x20, STR("/bin/a"));
	add(&scene, STR("bb"), 0x20, STR("/bin/b"));
	add(&scene, STR("aa"), 0x1, STR("/bin/a"));
	add(&scene, STR("aa"), 0x20, STR("/other/a"));
	look_up(&scene);
	assert_int_equal(scene.fake.requests, 1);
	assert_int_equal(scene.fake.binaries, 2);
	assert_int_equal(scene.fake.addresses, 3); /* one is below two paths */
	assert_function(&scene, 0, "aa.1.20");
	assert_function(&scene, 1, "bb.1.20");
	assert_function(&scene, 3, "aa.1.20");
	assert_int_equal(scene.lookup.resolved[2].reason, NAME_NO_SYMBOL);
	assert_int_equal(scene.lookup.stats.addresses, 4);
	assert_int_equal(scene.lookup.stats.symbolized, 3);
	assert_int_equal(scene.lookup.stats.unsymbolized[NAME_NO_SYMBOL], 1);

	add(&scene, STR("bb"), 0x30, STR("/bin/b"));
	look_up(&scene);
	assert_int_equal(scene.fake.addresses, 1);
	assert_int_equal(scene.lookup.stats.cached, 4);
	look_up(&scene);
	assert_int_equal(scene.fake.requests, 0);
	assert_function(&scene, 4, "bb.1.30");
	assert_int_equal(scene.lookup.warning_count, 0);
	end(&scene);
}

static void many_addresses_are_several_requests(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	add_many(&scene, STR("aa"), 2 * SYMBOL_BATCH_ADDRESSES_MAX + 5);
	look_up(&scene);
	assert_int_equal(scene.fake.requests, 3);
	assert_int_equal(scene.fake.most_addresses, SYMBOL_BATCH_ADDRESSES_MAX);
	assert_int_equal(scene.lookup.stats.symbolized, 2 * SYMBOL_BATCH_ADDRESSES_MAX + 5);
	end(&scene);
	begin(&scene);
	for (size_t i = 0; i < SYMBOL_BATCH_BINARIES_MAX + 1; i++)
		add_many(&scene, str_format(&scene.arena, "%zx", i), 2);
	look_up(&scene);
	assert_int_equal(scene.fake.requests, 2);
	assert_int_equal(scene.lookup.stats.symbolized, 2 * (SYMBOL_BATCH_BINARIES_MAX + 1));
	end(&scene);
}

static void a_new_debug_file_applies_to_the_whole_query(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	add(&scene, STR("aa"), 0x20, STR("/bin/a"));
	look_up(&scene);
	assert_function(&scene, 0, "aa.1.20");

	scene.fake.generation = 2;
	add(&scene, STR("aa"), 0x30, STR("/bin/a"));
	look_up(&scene);
	assert_function(&scene, 0, "aa.2.20");
	assert_function(&scene, 1, "aa.2.30");
	assert_int_equal(scene.fake.requests, 2);
	end(&scene);
}

static void a_file_that_changes_meanwhile_is_requested_again_and_never_mixed(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	add_many(&scene, STR("aa"), SYMBOL_BATCH_ADDRESSES_MAX + 1);
	scene.fake.next_generation = 2;
	look_up(&scene);
	assert_int_equal(scene.fake.requests, 3);
	for (size_t i = 0; i < scene.merge.set.frames.len; i++) {
		AUTO_ARENA arena = { 0 };
		str name = str_format(&arena, "aa.2.%zx", 0x1000 + i);

		assert_function(&scene, i, str_z(&arena, name));
	}
	end(&scene);
}

static void assert_no_symbols(struct scene *scene, size_t requests)
{
	look_up(scene);
	assert_int_equal(scene->fake.requests, requests);
	for (size_t i = 0; i < scene->merge.set.frames.len; i++) {
		assert_int_equal(scene->lookup.resolved[i].len, 0);
		assert_int_equal(scene->lookup.resolved[i].reason, NAME_NO_RESPONSE);
	}
	assert_int_equal(scene->lookup.warning_count, 1);
}

static void a_failed_source_is_reported_and_paused(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	add_many(&scene, STR("aa"), 3 * SYMBOL_BATCH_ADDRESSES_MAX);
	scene.fake.fails = "it hangs";
	assert_no_symbols(&scene, 1);
	assert_true(str_find(scene.lookup.warnings[0], STR("it hangs")) != SIZE_MAX);
	assert_true(str_find(scene.lookup.warnings[0], STR("30000 of 30000")) != SIZE_MAX);

	scene.fake.fails = NULL;
	assert_no_symbols(&scene, 0);
	clock_sleep_ms(SYMBOLIZER_PAUSE_MS);
	look_up(&scene);
	assert_int_equal(scene.lookup.stats.symbolized, 3 * SYMBOL_BATCH_ADDRESSES_MAX);
	end(&scene);
}

static void a_response_of_another_size_than_the_request_is_rejected(void **state)
{
	struct scene scene;

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&scene);
		add_many(&scene, STR("aa"), 7);
		scene.fake.fewer = i == 0;
		scene.fake.fewer_binaries = i == 1;
		assert_no_symbols(&scene, 1);
		assert_no_symbols(&scene, 0);
		end(&scene);
	}
}

static void cached_symbols_are_used_while_the_source_is_down(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	add(&scene, STR("aa"), 0x20, STR("/bin/a"));
	look_up(&scene);
	scene.fake.fails = "gone";
	add(&scene, STR("bb"), 0x20, STR("/bin/b"));
	look_up(&scene);
	assert_function(&scene, 0, "aa.1.20");
	assert_int_equal(scene.lookup.resolved[1].reason, NAME_NO_RESPONSE);
	end(&scene);
}

static void a_query_that_ends_early_is_no_failure_of_the_source(void **state)
{
	const struct store_bounds brief = { .deadline_ns = 1 };
	struct scene scene;
	struct cancel cancel;

	(void)state;
	begin(&scene);
	add(&scene, STR("aa"), 0x20, STR("/bin/a"));
	assert_true(
		symbol_lookup_run(&scene.lookup, &scene.symbolization, &scene.merge, &brief, &err));
	assert_int_equal(scene.lookup.resolved[0].reason, NAME_NO_RESPONSE);
	assert_int_equal(scene.fake.requests, 0);
	symbol_lookup_done(&scene.lookup);

	assert_true(cancel_open(&cancel, &err));
	cancel_request(&cancel);
	assert_false(symbol_lookup_run(&scene.lookup, &scene.symbolization, &scene.merge,
				       &(struct store_bounds){ .cancel = &cancel }, &err));
	assert_int_equal(scene.fake.requests, 0);
	cancel_close(&cancel);
	look_up(&scene);
	assert_function(&scene, 0, "aa.1.20");
	end(&scene);
}

static void pending_debug_info_is_a_warning(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	add(&scene, STR("aa"), 0x20, STR("/bin/a"));
	scene.fake.reason = NAME_PENDING;
	look_up(&scene);
	assert_int_equal(scene.lookup.stats.unsymbolized[NAME_PENDING], 1);
	assert_int_equal(scene.lookup.warning_count, 1);
	assert_true(str_find(scene.lookup.warnings[0], STR("request again")) != SIZE_MAX);
	end(&scene);
}

static void symbols_count_as_memory_of_the_response(void **state)
{
	const struct store_bounds unbound = { 0 };
	struct scene scene;

	(void)state;
	begin(&scene);
	add_many(&scene, STR("aa"), 30000);
	scene.merge.memory_max = scene.arena.size + (1 << 20);
	assert_false(symbol_lookup_run(&scene.lookup, &scene.symbolization, &scene.merge, &unbound,
				       &err));
	assert_int_equal(err.code, ERR_LIMIT);
	end(&scene);
	assert_int_equal(scene.memory.used, 0);
}

static void without_addresses_no_request_is_sent(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	look_up(&scene);
	assert_int_equal(scene.fake.requests, 0);
	end(&scene);
}

RUN_TESTS(TEST(cached_symbols_are_not_requested_again), TEST(many_addresses_are_several_requests),
	  TEST(a_new_debug_file_applies_to_the_whole_query),
	  TEST(a_file_that_changes_meanwhile_is_requested_again_and_never_mixed),
	  TEST(a_failed_source_is_reported_and_paused),
	  TEST(a_response_of_another_size_than_the_request_is_rejected),
	  TEST(cached_symbols_are_used_while_the_source_is_down),
	  TEST(a_query_that_ends_early_is_no_failure_of_the_source),
	  TEST(pending_debug_info_is_a_warning), TEST(symbols_count_as_memory_of_the_response),
	  TEST(without_addresses_no_request_is_sent))
