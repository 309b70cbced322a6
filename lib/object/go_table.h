// SPDX-License-Identifier: Apache-2.0
/*
 * go_table - where the parts of .gopclntab are, and how one reads them.
 */
#pragma once

#include "base/reader.h"
#include "base/vec.h"
#include "object/elf_sections.h"

struct go_table {
	str bytes; /* of the section */
	uint64_t address;
	uint32_t magic;
	uint8_t instruction_len, pointer_size;
	uint64_t function_count;
	str names, units, files, values, functions; /* its parts: each to the section's end */
	uint64_t text;                              /* what addresses of functions begin from */
	str inlined; /* what trees of inlined calls are told from; empty: not at hand */
};

enum { GO_1_16 = 0xfffffffa, GO_1_18 = 0xfffffff0, GO_1_20 = 0xfffffff1 };

enum {
	GO_FUNCTION_TOP = 1 << 0,         /* nothing calls it: a stack's root */
	GO_FUNCTION_MOVES_STACK = 1 << 1, /* it writes to the stack pointer */
};

/* From this instruction on until the next one's. */
struct go_value {
	uint64_t start, end; /* from the function's first address */
	int64_t value;
};

typedef VEC(struct go_value) go_values;

/* A function's record. */
struct go_function {
	uint64_t address;
	str name;
	/* Where they are; 0: none. Of the stack: how far it is from the return address. */
	uint32_t stack_values, file_values, line_values, inlined_values;
	uint8_t flags; /* GO_FUNCTION_...; none are known before Go 1.17 */
	uint32_t unit, start_line;
	str tree; /* of inlined calls */
};

/* False: there is none that we know how to read. Parts are in the arena. */
bool go_table_open(struct go_table *table, int fd, const struct elf_sections *sections,
		   struct arena *arena, struct err *err) MUST_CHECK;

/* The index-th function. False: it makes no sense. */
bool go_table_function(const struct go_table *table, uint64_t index,
		       struct go_function *ret_function) MUST_CHECK;

/* Where the index-th function begins; that of the last one and one more is where all code ends. */
bool go_table_address(const struct go_table *table, uint64_t index,
		      uint64_t *ret_address) MUST_CHECK;

/* A list of values by instruction; what makes no sense ends it. */
void go_table_values(const struct go_table *table, uint32_t at, struct arena *arena,
		     go_values *values);

str go_table_name(const struct go_table *table, uint32_t at);

/* The path of a unit's file. */
str go_table_file(const struct go_table *table, uint32_t unit, int64_t number);
