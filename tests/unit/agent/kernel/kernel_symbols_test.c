// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/kernel/kernel_symbols.h"
#include "support/test.h"

static void apply(struct kernel_symbols *symbols, uint64_t address, uint64_t length,
		  const char *name, bool gone)
{
	kernel_symbols_apply(symbols, &(struct sideband_record){ .type = SIDEBAND_KSYMBOL,
								 .address = address,
								 .length = length,
								 .path = str_from(name),
								 .unregistered = gone });
}

static void assert_named(struct kernel_symbols *symbols, uint64_t address, const char *name)
{
	struct kernel_symbol symbol = kernel_symbols_find(symbols, address);

	assert_true(str_eq(symbol.name, str_from(name)));
}

static void symbolizes_bpf_programs_while_they_are_loaded(void **state)
{
	struct kernel_symbols symbols = { 0 };

	(void)state;
	apply(&symbols, 0xc0002000, 0x100, "bpf_prog_b", false);
	apply(&symbols, 0xc0001000, 0x100, "bpf_prog_a", false);
	assert_named(&symbols, 0xc0001000, "bpf_prog_a");
	assert_named(&symbols, 0xc00010ff, "bpf_prog_a");
	assert_named(&symbols, 0xc0001100, "[unknown]");
	assert_named(&symbols, 0xc0002010, "bpf_prog_b");
	assert_true(str_eq(kernel_symbols_find(&symbols, 0xc0002010).module, STR("[bpf]")));
	apply(&symbols, 0xc0001000, 0x100, "bpf_prog_a", true);
	assert_named(&symbols, 0xc0001000, "[unknown]");
	assert_named(&symbols, 0xc0002010, "bpf_prog_b");
	assert_int_equal(symbols.unknown, 2);
	kernel_symbols_close(&symbols);
}

static void a_new_program_replaces_older_ones_at_its_addresses(void **state)
{
	struct kernel_symbols symbols = { 0 };

	(void)state;
	apply(&symbols, 0xc0001000, 0x100, "first", false);
	apply(&symbols, 0xc0001100, 0x100, "second", false);
	apply(&symbols, 0xc0001080, 0x100, "third", false);
	assert_named(&symbols, 0xc0001000, "[unknown]");
	assert_named(&symbols, 0xc0001080, "third");
	assert_named(&symbols, 0xc0001180, "[unknown]");
	apply(&symbols, UINT64_MAX - 1, 100, "past the end", false);
	apply(&symbols, 0xc0009000, 0, "empty", false);
	assert_int_equal(symbols.count, 1);
	kernel_symbols_close(&symbols);
}

static void is_bounded(void **state)
{
	struct kernel_symbols symbols = { 0 };

	(void)state;
	for (uint64_t i = 0; i < KSYMBOLS_MAX + 10; i++)
		apply(&symbols, 0xc0000000 + i * 16, 16, "x", false);
	assert_int_equal(symbols.count, KSYMBOLS_MAX);
	kernel_symbols_close(&symbols);
}

static void symbolizes_this_kernel_or_detects_hidden_addresses(void **state)
{
	struct kernel_symbols symbols;
	struct err err = { 0 };

	(void)state;
	assert_true(kernel_symbols_open(&symbols, &err));
	(void)kernel_symbols_find(&symbols, 16); /* waits for the table */
	assert_true(symbols.hidden || symbols.count > 1000);
	assert_named(&symbols, 16, symbols.hidden ? "[hidden]" : "[unknown]");
	kernel_symbols_close(&symbols);
}

RUN_TESTS(TEST(symbolizes_bpf_programs_while_they_are_loaded),
	  TEST(a_new_program_replaces_older_ones_at_its_addresses), TEST(is_bounded),
	  TEST(symbolizes_this_kernel_or_detects_hidden_addresses))
