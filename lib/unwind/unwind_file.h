// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_file - a mapped file with an unwind table.
 *
 * unwind_file_open() verifies the whole table. A search of its pages, as unwind_format.h defines
 * it, then never leads out of the pages, even if the file is corrupt or malicious. One thread opens
 * and closes; any thread may search.
 */
#pragma once

#include "base/err.h"
#include "unwind/unwind_format.h"

struct unwind_file {
	const uint8_t *pages; /* page_count pages; mapped until unwind_file_close() */
	uint32_t page_count;
	const struct unwind_header *header; /* the beginning of the first page */
	/* private */
	void *image;
	size_t image_len;
};

/*
 * Maps the table and verifies it. ERR_INVALID: not an unwind table, of another version, or corrupt;
 * ERR_IO: the file cannot be mapped. The caller keeps the descriptor. After a failure nothing is
 * mapped and the struct is zeroed.
 */
bool unwind_file_open(struct unwind_file *file, int fd, struct err *err) MUST_CHECK;

/* Unmaps the table. Accepts a zeroed struct. */
void unwind_file_close(struct unwind_file *file);

/* The rule that holds at a virtual address of the ELF file. False, with *ret_rule unchanged: the
 * address is outside of the table, or its row has UNWIND_CFA_NONE. */
bool unwind_file_find(const struct unwind_file *file, uint64_t address,
		      struct unwind_rule *ret_rule) MUST_CHECK;

/*
 * The address of the next row after this address, or the end of the table. The function serves to
 * list all rows, including rows with UNWIND_CFA_NONE. False: the address is at or past the end.
 */
bool unwind_file_next(const struct unwind_file *file, uint64_t address,
		      uint64_t *ret_address) MUST_CHECK;
