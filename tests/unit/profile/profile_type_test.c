// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "support/test.h"

static void parses_ids_aliases_and_parcas_delta(void **state)
{
	static const struct {
		const char *text, *id;
	} rows[] = {
		{ PROFILE_TYPE_CPU, PROFILE_TYPE_CPU },
		{ "process_cpu:cpu:nanoseconds", PROFILE_TYPE_CPU },
		{ "memory:inuse_space:bytes", "memory:inuse_space:bytes:space:bytes" },
		{ "x:y:z:a:b", "x:y:z:a:b" },
		{ "x:y:z::", "x:y:z::" },
		{ "x:y:z:a:b:delta", "x:y:z:a:b" },
	};
	struct err err;
	str id;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(profile_type_parse(str_from(rows[i].text), &id, &err));
		assert_true(str_eq(id, str_from(rows[i].id)));
	}
}

static void rejects_invalid_types_with_a_sentence(void **state)
{
	static const char *const rows[] = { "",         "cpu",        "a:b:c",       "a:b:c:d:e:f",
					    ":b:c:d:e", "a:b{:c:d:e", "a b:c:d:e:f", "a:b:c:d\"" };
	struct err err;
	str id;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_false(profile_type_parse(str_from(rows[i]), &id, &err));
		assert_int_equal(err.code, ERR_INVALID);
	}
}

static void otlps_samples_of_cpu_are_cpu_time_by_their_period(void **state)
{
	static const struct {
		const char *type, *unit, *period_type, *period_unit, *id;
		bool multiply;
	} rows[] = {
		{ "samples", "count", "cpu", "nanoseconds", PROFILE_TYPE_CPU, true },
		{ "cpu", "nanoseconds", "cpu", "nanoseconds", PROFILE_TYPE_CPU, false },
		{ "cpu", "nanoseconds", "", "", PROFILE_TYPE_CPU, false },
		{ "off_cpu", "nanoseconds", "cpu", "nanoseconds",
		  "off_cpu:off_cpu:nanoseconds:cpu:nanoseconds", false },
		{ "inuse_space", "bytes", "space", "bytes", "memory:inuse_space:bytes:space:bytes",
		  false },
		{ "inuse_space", "bytes", "", "", "memory:inuse_space:bytes:space:bytes", false },
		/* block or mutex: ambiguous */
		{ "contentions", "count", "contentions", "count",
		  "otlp:contentions:count:contentions:count", false },
		{ "samples", "count", "", "", "otlp:samples:count::", false },
		{ "a:b{", "c d", "", "", "otlp:a_b_:c_d::", false },
	};
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool multiply;
		str id = profile_type_of_otlp(str_from(rows[i].type), str_from(rows[i].unit),
					      str_from(rows[i].period_type),
					      str_from(rows[i].period_unit), &multiply, &arena);

		assert_true(str_eq(id, str_from(rows[i].id)));
		assert_true(multiply == rows[i].multiply);
	}
}

static void every_listed_type_has_five_parts_and_a_unit(void **state)
{
	struct err err;
	str id;

	(void)state;
	for (size_t i = 0; i < profile_type_count; i++) {
		assert_true(profile_type_parse(str_from(profile_types[i].id), &id, &err));
		assert_true(profile_type_unit(id).len > 0 && profile_type_part(id, 4).len > 0);
	}
	assert_int_equal(profile_type_temporality(STR("memory:inuse_space:bytes:space:bytes")),
			 TEMPORALITY_GAUGE);
	assert_int_equal(profile_type_temporality(STR("x:y:z:a:b")), TEMPORALITY_DELTA);
}

RUN_TESTS(TEST(parses_ids_aliases_and_parcas_delta), TEST(rejects_invalid_types_with_a_sentence),
	  TEST(otlps_samples_of_cpu_are_cpu_time_by_their_period),
	  TEST(every_listed_type_has_five_parts_and_a_unit))
