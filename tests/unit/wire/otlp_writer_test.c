// SPDX-License-Identifier: Apache-2.0
#include "support/profiles.h"
#include "support/test.h"
#include "wire/otlp_writer.h"
#include "wire/protobuf_internal.h"

#include <profiles.pb-c.h>

static Otlp__ProfilesData *write_and_unpack(struct sample_set *set, struct arena *arena)
{
	ProtobufCAllocator allocator = protobuf_allocator(arena);

	sample_set_init(set, arena);
	profiles_fill(set, arena);

	str bytes = otlp_write(set, 0, set->samples.len, arena);
	Otlp__ProfilesData *data =
		otlp__profiles_data__unpack(&allocator, bytes.len, (const uint8_t *)bytes.ptr);

	if (!data)
		abort();
	return data;
}

static void every_table_begins_with_its_zero_value_and_has_no_duplicates(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	const Otlp__ProfilesDictionary *d = write_and_unpack(&set, &arena)->dictionary;

	(void)state;
	assert_int_equal(d->string_table[0].len, 0);
	assert_int_equal(d->location_table[0]->n_lines, 0);
	assert_int_equal(d->stack_table[0]->n_location_indices, 0);
	assert_int_equal(d->mapping_table[0]->filename_strindex, 0);
	assert_int_equal(d->function_table[0]->name_strindex, 0);
	assert_int_equal(d->attribute_table[0]->key_strindex, 0);
	assert_int_equal(d->link_table[0]->trace_id.len, 0);
	assert_int_equal(d->n_stack_table, 4);
	assert_int_equal(d->n_mapping_table, 5); /* app, libz, kernel, g */
	assert_int_equal(d->n_function_table, 5);
	assert_int_equal(d->n_link_table, 2);
	for (size_t i = 0; i < d->n_string_table; i++)
		for (size_t k = 0; k < i; k++)
			assert_false(str_eq(protobuf_str(d->string_table[i]),
					    protobuf_str(d->string_table[k])));
}

static void ticks_are_written_as_timestamps_only_and_other_values_with_them(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	const Otlp__ProfilesData *data = write_and_unpack(&set, &arena);
	size_t bare = 0, valued = 0, profiles = 0;

	(void)state;
	assert_int_equal(data->n_resource_profiles, 2);
	for (size_t r = 0; r < data->n_resource_profiles; r++) {
		const Otlp__ScopeProfiles *scope = data->resource_profiles[r]->scope_profiles[0];

		assert_true(str_eq(protobuf_str(scope->scope->name), STR("decima")));
		profiles += scope->n_profiles;
		for (size_t p = 0; p < scope->n_profiles; p++)
			for (size_t s = 0; s < scope->profiles[p]->n_samples; s++) {
				const Otlp__Sample *sample = scope->profiles[p]->samples[s];

				if (sample->n_values)
					valued += sample->n_timestamps_unix_nano;
				else
					bare += sample->n_timestamps_unix_nano;
			}
	}
	assert_int_equal(profiles, 4); /* ticks, time and heap of one, ticks of the other */
	assert_int_equal(bare, 5);
	assert_int_equal(valued, 3);
}

static void only_items_that_the_range_references_are_written(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	ProtobufCAllocator allocator = protobuf_allocator(&arena);

	(void)state;
	sample_set_init(&set, &arena);
	profiles_fill(&set, &arena);

	str bytes = otlp_write(&set, 2, 1, &arena);
	const Otlp__ProfilesData *data =
		otlp__profiles_data__unpack(&allocator, bytes.len, (const uint8_t *)bytes.ptr);

	assert_true(data && data->n_resource_profiles == 1);
	assert_int_equal(data->dictionary->n_stack_table, 2);
	assert_int_equal(data->dictionary->n_mapping_table, 1);
	assert_int_equal(data->dictionary->n_location_table, 2);
}

RUN_TESTS(TEST(every_table_begins_with_its_zero_value_and_has_no_duplicates),
	  TEST(ticks_are_written_as_timestamps_only_and_other_values_with_them),
	  TEST(only_items_that_the_range_references_are_written))
