// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind_format - the format of unwind tables in pages. unwind_writer.c writes it; the stack walk
 * in the kernel and on the host searches it.
 *
 * A table belongs to one ELF file. It is a sequence of 4 KB pages, which are copied unchanged into
 * the pages that the BPF programs see. All offsets in a table count from its first byte.
 *
 *     page 0   struct unwind_header, then the root: struct unwind_entry, sorted by address
 *     index    only if the root has no room for all blocks (depth 2): pages full of entries, the
 *              last may be shorter; the root then refers to these pages
 *     blocks   up to UNWIND_BLOCK_ROWS_MAX rows each; a block does not cross the end of a page:
 *                  uint16_t count; uint16_t pc[count]; uint8_t or uint16_t rule[count]
 *              pc counts from the entry's address, which is that of the first row: pc[0] is 0
 *     rules    struct unwind_rule, aligned to its size, so no rule crosses the end of a page; the
 *              most frequent first, so that most blocks need one byte for the index of a rule
 *
 * A row holds from its address to the address of the next row. Addresses without unwind information
 * (between functions, past the end) have a row with the rule UNWIND_CFA_NONE; padding of up to
 * UNWIND_GAP_BRIDGED bytes belongs to the row before it. Addresses are those of the ELF file.
 * Integers are little endian, as is every supported machine.
 */
#pragma once

#include <stdint.h>

enum {
	UNWIND_PAGE_BYTES = 4096,
	UNWIND_BLOCK_ROWS_MAX = 256,
	UNWIND_ROOT_MAX = 504,  /* entries of the root that fit into page 0 */
	UNWIND_INDEX_MAX = 512, /* entries of an index page */
	UNWIND_RULES_MAX = 4096,
	UNWIND_GAP_BRIDGED = 15,
	UNWIND_BLOCK_WIDE =
		1, /* bit of unwind_entry.place: the rules of the block have two bytes */
};

struct unwind_header {
	uint64_t base;  /* the lowest address with a row; addresses of entries count from it */
	uint32_t bytes; /* the table covers the addresses [base, base + bytes) */
	uint32_t page_count;
	uint32_t row_count;
	uint32_t block_count;
	uint32_t root_count; /* entries in page 0 */
	uint32_t depth;      /* 1: the root refers to blocks; 2: to index pages */
	uint32_t rules_at;   /* offset of the first rule */
	uint32_t rule_count;
	uint32_t flags; /* UNWIND_TABLE_... */
	uint32_t reserved[5];
};
_Static_assert(sizeof(struct unwind_header) + 8 * UNWIND_ROOT_MAX == UNWIND_PAGE_BYTES,
	       "header and root fill a page");

enum {
	UNWIND_TABLE_GO = 1 << 0, /* Go code: without a row, use the frame pointer */
};

struct unwind_entry {
	uint32_t address; /* from base; of the first row in the block or index page */
	uint32_t place;   /* offset of the block, even, | UNWIND_BLOCK_WIDE; or of the index page */
};

/* How to compute the canonical frame address (CFA). On x86-64 it is the caller's stack pointer. */
enum unwind_cfa {
	UNWIND_CFA_NONE,     /* no unwind information */
	UNWIND_CFA_REGISTER, /* register + cfa_offset */
	UNWIND_CFA_DEREF,    /* *(register + cfa_offset) + cfa_second */
	UNWIND_CFA_PLT,      /* rsp + 8, and 8 more if (pc & 15) >= cfa_offset (x86-64) */
	UNWIND_CFA_SIGNAL,   /* a signal frame: all registers are in the kernel's frame at rsp */
	UNWIND_CFA_FRAME_POINTER, /* no row, but the code keeps the frame pointer (Go) */
	UNWIND_CFA_UNSUPPORTED,   /* a row of a kind that the walk does not support */
	UNWIND_CFA_COUNT
};

/* How to restore the caller's value of a register. */
enum unwind_saved {
	UNWIND_SAVED_SAME,      /* still in the register */
	UNWIND_SAVED_AT_CFA,    /* *(CFA + offset) */
	UNWIND_SAVED_UNDEFINED, /* for the return address: no caller, the root of the stack */
	UNWIND_SAVED_REGISTER,  /* in another register; the offset is its DWARF number */
	UNWIND_SAVED_AT_FRAME_POINTER, /* *(frame pointer + offset): after realigning the stack */
	UNWIND_SAVED_UNSUPPORTED,
	UNWIND_SAVED_COUNT
};

struct unwind_rule {
	uint8_t cfa;            /* enum unwind_cfa */
	uint8_t cfa_register;   /* DWARF number of the machine */
	uint8_t frame_pointer;  /* enum unwind_saved: of rbp, x29 */
	uint8_t return_address; /* enum unwind_saved */
	int32_t cfa_offset;
	int32_t cfa_second;
	int16_t frame_pointer_offset;
	int16_t return_address_offset;
};
_Static_assert(sizeof(struct unwind_rule) == 16, "a multiple of it fills a page");

/* The file of a table on disk: struct unwind_file_header, then page_count pages. */
#define UNWIND_FILE_MAGIC "DECUNWND"

enum { UNWIND_FILE_VERSION = 2 };

struct unwind_file_header {
	char magic[8];
	uint32_t version;
	uint32_t page_count;
	uint64_t checksum; /* XXH3 of the pages */
	uint64_t reserved;
};

/* An executable mapping of a process, in a list sorted by start, without overlaps. */
struct unwind_mapping {
	uint64_t start, end;
	uint64_t bias;  /* address in memory - address in the ELF file */
	uint32_t table; /* number of the first page of its table; 0: no table (yet) */
	uint32_t flags; /* UNWIND_MAPPING_... */
};
_Static_assert(sizeof(struct unwind_mapping) == 32, "a multiple of it fills a page");

enum {
	UNWIND_MAPPING_ANONYMOUS = 1 << 0, /* no file: generated code */
	UNWIND_MAPPING_AWAITED =
		1 << 2, /* its table is being built or loaded; may change, as .table does */
};
