// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_build - the table of unwind rows of an ELF file.
 *
 * The file may have been made to deceive: what is done is bounded by its size and by limits.h.
 */
#pragma once

#include "base/err.h"

enum unwind_build_reason {
	UNWIND_BUILT,
	UNWIND_NO_ROWS,       /* neither .eh_frame nor .debug_frame tells any, and it is not Go's */
	UNWIND_MALFORMED,     /* no ELF file, or one that contradicts itself */
	UNWIND_TOO_LARGE,     /* more than limits.h allows, or code of 4 GB and more */
	UNWIND_WRONG_MACHINE, /* neither x86-64 nor arm64 */
	UNWIND_IO,            /* it could not be read, or the table not be written */
	UNWIND_BUILD_REASON_COUNT
};

/* What they are called, for a table that may go on with others. */
#define UNWIND_BUILD_REASON_NAMES                                                                 \
	[UNWIND_BUILT] = "built", [UNWIND_NO_ROWS] = "no_rows", [UNWIND_MALFORMED] = "malformed", \
	[UNWIND_TOO_LARGE] = "too_large", [UNWIND_WRONG_MACHINE] = "wrong_machine",               \
	[UNWIND_IO] = "io"

extern const char *const unwind_build_reason_names[UNWIND_BUILD_REASON_COUNT];

struct unwind_build_options {
	uint64_t memory_max; /* bytes that a build may hold; 0: UNWIND_BUILD_MEMORY_MAX */
};

struct unwind_build_result {
	enum unwind_build_reason reason;
	uint64_t rows, rules, bytes; /* of the table: bytes of its file */
};

/*
 * Builds the table of the ELF file at elf_fd and writes its file to out_fd, at its position. False:
 * there is none, and ret->reason says why in a word.
 */
bool unwind_build(const struct unwind_build_options *options, int elf_fd, int out_fd,
		  struct unwind_build_result *ret, struct err *err) MUST_CHECK;
