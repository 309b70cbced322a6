// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_file - a table of unwind rows on disk, mapped.
 *
 * All of it is verified when it is opened: whoever searches its pages afterwards as unwind_format.h
 * says is led to places within them, however the file came to be.
 */
#pragma once

#include "base/err.h"
#include "unwind_format.h"

struct unwind_file {
	const uint8_t *pages; /* page_count of them */
	uint32_t page_count;
	const struct unwind_header *header; /* the beginning of the first page */
	/* private */
	void *image;
	size_t image_len;
};

/* ERR_INVALID: it is no such table, or spoiled. The descriptor stays the caller's. */
bool unwind_file_open(struct unwind_file *file, int fd, struct err *err) MUST_CHECK;
void unwind_file_close(struct unwind_file *file);

/* The rule of the row that holds at an address of the ELF file; false: none does. */
bool unwind_file_find(const struct unwind_file *file, uint64_t address,
		      struct unwind_rule *ret_rule) MUST_CHECK;

/* Where the row after the one that holds at this address begins, or the table ends. False: past its
 * end. For what lists all rows; where none holds is a row, too. */
bool unwind_file_next(const struct unwind_file *file, uint64_t address,
		      uint64_t *ret_address) MUST_CHECK;
