// SPDX-License-Identifier: Apache-2.0
#include "profile/labels.h"
#include "support/test.h"

static void sorts_by_name_and_keeps_the_last_of_a_name(void **state)
{
	struct label items[] = {
		{ STR("pod"), STR("a") },
		{ STR("comm"), STR("sh") },
		{ STR("pod"), STR("b") },
		{ STR("commx"), STR("") },
	};
	struct labels labels = labels_of(items, ARRAY_LEN(items));

	(void)state;
	assert_int_equal(labels.len, 3);
	assert_true(str_eq(labels.items[0].name, STR("comm")));
	assert_true(str_eq(labels.items[1].name, STR("commx")));
	assert_true(str_eq(labels_get(labels, STR("pod")), STR("b")));
	assert_null(labels_get(labels, STR("node")).ptr);
}

static void replaces_a_missing_service_name_by_the_first_fallback(void **state)
{
	static const struct {
		const char *compose_service, *container, *unit, *comm, *want;
	} rows[] = {
		{ "web", "shop-web-1", "nginx.service", "nginx", "web" },
		{ "", "shop-web-1", "nginx.service", "nginx", "shop-web-1" },
		{ "", "", "nginx.service", "nginx", "nginx.service" },
		{ "", "", "", "nginx", "nginx" },
		{ "", "", "", "", "unknown" },
	};
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct label items[] = {
			{ STR("compose_service"), str_from(rows[i].compose_service) },
			{ STR("container"), str_from(rows[i].container) },
			{ STR("unit"), str_from(rows[i].unit) },
			{ STR("comm"), str_from(rows[i].comm) },
		};
		struct labels labels = labels_of(items, ARRAY_LEN(items));

		labels = labels_with_service_name(labels, &arena);
		assert_true(
			str_eq(labels_get(labels, STR("service_name")), str_from(rows[i].want)));
		assert_int_equal(labels.len, 5);
	}
}

static void keeps_a_service_name_that_is_set(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct label items[] = { { STR("service_name"), STR("db") }, { STR("comm"), STR("x") } };
	struct labels labels = labels_of(items, ARRAY_LEN(items));

	(void)state;
	assert_true(labels_eq(labels_with_service_name(labels, &arena), labels));
}

static void a_name_belongs_either_to_the_series_or_to_the_sample(void **state)
{
	(void)state;
	assert_false(label_source_by_attribute(STR("host.name"), false)->of_sample);
	assert_null(label_source_by_attribute(STR("host.name"), true));
	assert_true(label_source_by_attribute(STR("thread.id"), true)->is_int);
	for (size_t i = 0; i < label_source_count; i++) {
		str name = str_from(label_sources[i].name);

		assert_ptr_equal(label_source_by_name(name), &label_sources[i]);
	}
}

static void dots_of_an_unlisted_attribute_become_underscores(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_true(str_eq(label_name_of_attribute(STR("a.b_c"), &arena), STR("a_b_c")));
}

RUN_TESTS(TEST(sorts_by_name_and_keeps_the_last_of_a_name),
	  TEST(replaces_a_missing_service_name_by_the_first_fallback),
	  TEST(keeps_a_service_name_that_is_set),
	  TEST(a_name_belongs_either_to_the_series_or_to_the_sample),
	  TEST(dots_of_an_unlisted_attribute_become_underscores))
