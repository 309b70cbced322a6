// SPDX-License-Identifier: Apache-2.0
#include "querier/report/binary_name.h"
#include "support/test.h"

static void a_base_name_has_neither_directory_nor_mark_of_deletion(void **state)
{
	static const char *const cases[][2] = {
		{ "/opt/releases/7/shop", "shop" },
		{ "/opt/shop (deleted)", "shop" },
		{ "shop", "shop" },
		{ "[kernel.kallsyms]", "[kernel.kallsyms]" },
		{ "/", "" },
		{ "", "" },
		{ " (deleted)", " (deleted)" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA arena = { 0 };

		assert_string_equal(str_z(&arena, binary_base_name(str_from(cases[i][0]))),
				    cases[i][1]);
	}
}

static void the_version_of_a_shared_library_is_no_part_of_its_name(void **state)
{
	static const char *const cases[][3] = {
		{ "libssl.so.3", "libssl", ".so" },
		{ "libssl.so.1.1", "libssl", ".so" },
		{ "libssl.so", "libssl", ".so" },
		{ "libc-2.31.so", "libc", ".so" },
		{ "libstdc++.so.6.0.30", "libstdc++", ".so" },
		{ "libpython3.11.so.1.0", "libpython3.11", ".so" },
		{ "libboost-1.74.so.1.74.0", "libboost", ".so" },
		/* Not a version of a shared library: */
		{ "python3.11", "python3.11", "" },
		{ "app-1.2", "app-1.2", "" },
		{ "libx.so.old", "libx.so.old", "" },
		{ "libx.so1", "libx.so1", "" },
		{ ".so", ".so", "" },
		{ "-2.0.so", "-2.0", ".so" },
		{ "ld-linux-x86-64.so.2", "ld-linux-x86-64", ".so" },
		{ "", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA arena = { 0 };
		struct unversioned_name name = binary_unversioned(str_from(cases[i][0]));

		assert_string_equal(str_z(&arena, name.stem), cases[i][1]);
		assert_string_equal(str_z(&arena, name.suffix), cases[i][2]);
	}
}

static void names_are_compared_without_versions(void **state)
{
	(void)state;
	assert_int_equal(binary_name_compare(STR("libssl.so.3"), STR("libssl.so.1.1")), 0);
	assert_true(binary_name_compare(STR("libssl.so"), STR("libssl")) != 0);
	assert_true(binary_name_compare(STR("liba.so"), STR("libb.so")) < 0);
	assert_true(binary_name_compare(STR("libb.so"), STR("liba.so")) > 0);
}

RUN_TESTS(TEST(a_base_name_has_neither_directory_nor_mark_of_deletion),
	  TEST(the_version_of_a_shared_library_is_no_part_of_its_name),
	  TEST(names_are_compared_without_versions))
