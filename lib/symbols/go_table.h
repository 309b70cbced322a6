// SPDX-License-Identifier: Apache-2.0
/*
 * go_table - reads .gopclntab, the function table of a Go program. All texts borrow from the bytes
 * of the table. One thread per arena.
 */
#pragma once

#include "base/reader.h"
#include "base/vec.h"
#include "elf/elf_sections.h"

struct go_table {
	str bytes; /* of the section */
	uint64_t address;
	uint32_t magic;
	uint8_t instruction_len, pointer_size;
	uint64_t function_count;
	str names, units, files, values, functions; /* parts; each reaches to the section's end */
	uint64_t text; /* base of the addresses of functions; 0: they are absolute */
	str inlined;   /* data with the trees of inlined calls; empty: not available */
};

enum { GO_1_16 = 0xfffffffa, GO_1_18 = 0xfffffff0, GO_1_20 = 0xfffffff1 };

enum {
	GO_FUNCTION_TOP = 1 << 0,         /* it has no caller: the root of a stack */
	GO_FUNCTION_MOVES_STACK = 1 << 1, /* it writes to the stack pointer */
};

/* A value that holds for the instructions in [start, end). */
struct go_value {
	uint64_t start, end; /* offsets from the function's first address */
	int64_t value;
};

typedef VEC(struct go_value) go_values;

/* An inlined call. */
struct go_call {
	str name;
	uint32_t pc; /* of an instruction at the place of the call, from the function's first
			address */
	uint32_t start_line; /* 0: unknown, before Go 1.20 */
};

/* A function's record. */
struct go_function {
	uint64_t address;
	str name;
	/* Offsets of lists; 0: none. A stack value is the distance to the return address. */
	uint32_t stack_values, file_values, line_values, inlined_values;
	uint8_t flags; /* GO_FUNCTION_...; 0 before Go 1.17 */
	uint32_t unit, start_line;
	str tree; /* of inlined calls; empty: it has none, or it is not available */
};

/*
 * Opens the table; its bytes are in the arena. If there is no table, its version is unknown, or the
 * file does not say where its code is (go_module_internal.h), function_count is 0. ERR_LIMIT: a
 * section is larger than GO_TABLE_MAX; other codes as elf_section_read(). After a failure
 * *ret_table is unchanged. There is nothing to close.
 */
bool go_table_open(struct go_table *ret_table, int fd, const struct elf_sections *sections,
		   struct arena *arena, struct err *err) MUST_CHECK;

/* The record of the function with this index, below function_count. False: it is malformed;
 * *ret_function is then undefined. */
bool go_table_function(const struct go_table *table, uint64_t index,
		       struct go_function *ret_function) MUST_CHECK;

/* The start of a function. With index == function_count: the end of all code. */
bool go_table_address(const struct go_table *table, uint64_t index,
		      uint64_t *ret_address) MUST_CHECK;

/*
 * Decodes the list of values at offset `at` into *values, replacing its contents. A malformed pair
 * ends the list.
 */
void go_table_values(const struct go_table *table, uint32_t at, struct arena *arena,
		     go_values *values);

/* The number of calls that the tree may have. */
size_t go_table_call_count(const struct go_table *table, str tree);

/* The inlined call with this index in the tree. False: it is malformed; *ret_call is undefined. */
bool go_table_call(const struct go_table *table, str tree, size_t index,
		   struct go_call *ret_call) MUST_CHECK;

/* The name of a function; empty: malformed. */
str go_table_name(const struct go_table *table, uint32_t at);

/* The path of the file with this number in the unit; empty: unknown. */
str go_table_file(const struct go_table *table, uint32_t unit, int64_t number);
