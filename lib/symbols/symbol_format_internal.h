// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_format - the file format of symbol tables, shared by symbol_writer.c and symbol_table.c.
 * Declarations only.
 *
 * A file has a header, then the parts in the order of enum symbol_part, each at a multiple of 8
 * bytes. Integers are little endian, as is every supported machine.
 *
 * Rows cover the addresses of the program. A row holds from its address to the next row; it has a
 * node, a file and a line. Node 0 means that nothing is known there. A node is a function or an
 * inlined call. A function has no parent; an inlined call has the node that it was inlined into as
 * its parent, and the file and the line of the call. So the source lines of an address, innermost
 * first, come from its row and then from the parents of the node.
 *
 *     blocks     address and offset of the first row of each block of up to SYMBOL_BLOCK_ROWS
 *                rows; a lookup searches them
 *     rows       varints; each row is a difference to the previous row of its block:
 *                address << 2 | SYMBOL_ROW_NODE | SYMBOL_ROW_FILE, zigzag of the line, then
 *                zigzag of the node and of the file if their bits are set. A block starts from its
 *                own address and zeros
 *     nodes      a parent precedes its children. Node 0 is unused. A function of the ELF symbol
 *                table has its own file, if that is known, in place of the file of the call: it
 *                holds where the row has no file
 *     functions  name and line of declaration. Function 0 is unused. If a function has no linkage
 *                name, its string has two names: a NUL, the varint length of the plain name, the
 *                plain name, the qualified name
 *     files      offset of each file's name in the strings. File 0 is the empty name
 *     strings    varint length, bytes. The first string is empty
 */
#pragma once

#include <stdint.h>

#define SYMBOL_MAGIC "DECNAMES"

enum { SYMBOL_VERSION = 3, SYMBOL_BLOCK_ROWS = 32 };

enum symbol_part {
	SYMBOL_BLOCKS,
	SYMBOL_NODES,
	SYMBOL_FUNCTIONS,
	SYMBOL_FILES,
	SYMBOL_ROWS,
	SYMBOL_STRINGS,
	SYMBOL_PART_COUNT
};

enum symbol_row_flag { SYMBOL_ROW_NODE = 1, SYMBOL_ROW_FILE = 2 };

struct symbol_block {
	uint64_t address;
	uint32_t rows_at; /* offset in the rows */
	uint32_t row_count;
};

struct symbol_node {
	uint32_t function, parent;
	uint32_t call_file, call_line;
};

struct symbol_function {
	uint32_t name; /* offset in the strings */
	uint32_t start_line;
};

struct symbol_header {
	char magic[8];
	uint32_t version;
	uint32_t split_units; /* see symbol_table.h; only for statistics, not in the checksum */
	uint64_t checksum;    /* XXH3 of the following fields */
	uint64_t row_count;
	uint64_t sizes[SYMBOL_PART_COUNT];  /* bytes of each part */
	uint64_t hashes[SYMBOL_PART_COUNT]; /* XXH3 of each part */
};

_Static_assert(sizeof(struct symbol_block) == 16, "no padding");
_Static_assert(sizeof(struct symbol_node) == 16, "no padding");
_Static_assert(sizeof(struct symbol_function) == 8, "no padding");
_Static_assert(sizeof(struct symbol_header) % 8 == 0, "parts are aligned");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tables are mapped, not decoded");
