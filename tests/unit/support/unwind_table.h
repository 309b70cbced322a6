// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_table - makes unwind tables for tests: from a list of rows to an opened file.
 */
#pragma once

#include "base/hash.h"
#include "support/test.h"
#include "unwind/unwind_file.h"
#include "unwind/unwind_writer_internal.h"

#include <sys/mman.h>

/* A file with these pages and a correct checksum. */
static inline int unwind_table_fd(str pages)
{
	struct unwind_file_header header = { .version = UNWIND_FILE_VERSION };
	int fd = memfd_create("table", MFD_CLOEXEC);

	memcpy(header.magic, UNWIND_FILE_MAGIC, sizeof(header.magic));
	header.page_count = (uint32_t)(pages.len / UNWIND_PAGE_BYTES);
	header.checksum = hash_64(pages);
	assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
	assert_int_equal(write(fd, pages.ptr, pages.len), (ssize_t)pages.len);
	return fd;
}

static inline bool unwind_table_open(struct unwind_file *file, str pages)
{
	AUTO_FD fd = unwind_table_fd(pages);
	struct err err = { 0 };

	return unwind_file_open(file, fd, &err);
}

/* A rule that contains a number, so that tests can distinguish rules. */
static inline struct unwind_rule unwind_table_rule(int32_t number)
{
	return (struct unwind_rule){ .cfa = UNWIND_CFA_REGISTER,
				     .cfa_register = 7,
				     .cfa_offset = number };
}

static inline str unwind_table_pages(const struct unwind_rows *rows, struct arena *arena)
{
	struct err err = { 0 };
	str pages;

	if (!unwind_pages_write(rows, arena, &pages, &err))
		fail_msg("%s", err.msg);
	return pages;
}
