// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/kallsyms_internal.h"
#include "support/test.h"

static const char *const lines[] = {
	"ffffffff81000000 T _text",
	"ffffffff81000000 T _stext",
	"ffffffff81002000 t __pfx_second",
	"ffffffff81002010 t second",
	"ffffffff81001000 T first",
	"ffffffff81003000 D some_data",
	"ffffffff81004000 t $x",
	"ffffffffc0001000 t nft_do_chain\t[nf_tables]",
	"ffffffffc0000000 t nft_first\t[nf_tables]",
	"ffffffffc0100000 t bpf_prog_6deef7357e7b4530_sample\t[bpf]",
	"not a line",
	"",
};

static void finds_the_function_that_contains_an_address(void **state)
{
	static const struct {
		uint64_t address;
		const char *name, *module;
	} rows[] = {
		{ 0xffffffff81000000, "_text", "[kernel.kallsyms]" },
		{ 0xffffffff81001fff, "first", "[kernel.kallsyms]" },
		{ 0xffffffff81002008, "first", "[kernel.kallsyms]" },
		{ 0xffffffff81002010, "second", "[kernel.kallsyms]" },
		{ 0xffffffffc0000010, "nft_first", "[nf_tables]" },
		{ 0xffffffffc0001010, "nft_do_chain", "[nf_tables]" },
		{ 0xffffffffc0100001, "bpf_prog_6deef7357e7b4530_sample", "[bpf]" },
	};
	struct kallsyms table = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		kallsyms_add(&table, str_from(lines[i]));
	kallsyms_finish(&table);
	assert_false(table.hidden);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		str name, module;

		assert_true(kallsyms_find(&table, rows[i].address, &name, &module));
		assert_true(str_eq(name, str_from(rows[i].name)));
		assert_true(str_eq(module, str_from(rows[i].module)));
	}
	kallsyms_done(&table);
}

static void finds_no_function_far_above_each_symbol(void **state)
{
	static const uint64_t addresses[] = { 0, 0xffffffff80ffffff, 0xffffffff90000000,
					      UINT64_MAX };
	struct kallsyms table = { 0 };
	str name, module;

	(void)state;
	assert_false(kallsyms_find(&table, 1, &name, &module));
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		kallsyms_add(&table, str_from(lines[i]));
	kallsyms_finish(&table);
	for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
		assert_false(kallsyms_find(&table, addresses[i], &name, &module));
	kallsyms_done(&table);
}

static void detects_that_the_kernel_hides_its_addresses(void **state)
{
	struct kallsyms table = { 0 };

	(void)state;
	kallsyms_add(&table, STR("0000000000000000 T _text"));
	kallsyms_finish(&table);
	assert_true(table.hidden);
	assert_int_equal(table.count, 0);
	kallsyms_done(&table);
}

RUN_TESTS(TEST(finds_the_function_that_contains_an_address),
	  TEST(finds_no_function_far_above_each_symbol),
	  TEST(detects_that_the_kernel_hides_its_addresses))
