// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_format - a table of names as it lies in its file: what symbol_writer.c and symbol_table.c
 * agree on.
 *
 * A header, then the parts in the order of enum symbol_part, each at a multiple of 8. Integers are
 * little endian, as is every machine that this runs on.
 *
 * The program's addresses are cut into rows. A row begins at an address and says what stands there
 * until the next row: a node, which may be 0 for nothing, a file and a line. A node is a function
 * at its place: the outermost one has no parent, an inlined one knows into which node it was
 * inlined and from which file and line it was called. So the row and the node's parents are the
 * lines of an address, innermost first.
 *
 *     blocks     where every SYMBOL_BLOCK_ROWS rows begin: what is searched
 *     rows       varints, each row as its difference from the one before in its block:
 *                address << 2 | SYMBOL_ROW_NODE | SYMBOL_ROW_FILE, zigzag of line's, and as the
 *                two bits say zigzag of node's and of file's. A block begins from its own address
 *                and zeros.
 *     nodes      a parent comes before its children. Node 0 is nothing
 *     functions  name and line of declaration. Function 0 is nothing. A name that
 *                no linker knows has what it is in beside it: its string is a NUL, the varint
 *                length of the name, the name, the name with what it is in
 *     files      where each one's name is. File 0 is the empty one
 *     strings    varint length, bytes. The first one is empty
 */
#pragma once

#include <stdint.h>

#define SYMBOL_MAGIC "DECNAMES"

enum { SYMBOL_VERSION = 2, SYMBOL_BLOCK_ROWS = 32 };

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
	uint32_t rows_at; /* from the part's beginning */
	uint32_t row_count;
};

struct symbol_node {
	uint32_t function, parent;
	uint32_t call_file, call_line;
};

struct symbol_function {
	uint32_t name; /* from the strings' beginning */
	uint32_t start_line;
};

struct symbol_header {
	char magic[8];
	uint32_t version;
	uint32_t reserved;
	uint64_t checksum; /* of what follows, XXH3 */
	uint64_t row_count;
	uint64_t sizes[SYMBOL_PART_COUNT];  /* bytes of each part */
	uint64_t hashes[SYMBOL_PART_COUNT]; /* of each part, XXH3 */
};

_Static_assert(sizeof(struct symbol_block) == 16, "no padding");
_Static_assert(sizeof(struct symbol_node) == 16, "no padding");
_Static_assert(sizeof(struct symbol_function) == 8, "no padding");
_Static_assert(sizeof(struct symbol_header) % 8 == 0, "parts are aligned");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tables are read as they lie");
