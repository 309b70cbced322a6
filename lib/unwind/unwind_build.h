// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_build - builds the unwind table of an ELF file.
 *
 * The file is untrusted input: the work is bounded by its size and by "elf/limits.h". All memory is
 * freed when unwind_build() returns. Any thread.
 */
#pragma once

#include "base/err.h"

enum unwind_build_reason {
	UNWIND_BUILT,
	UNWIND_NO_ROWS,       /* no unwind information: no .eh_frame, .debug_frame or .gopclntab */
	UNWIND_MALFORMED,     /* not an ELF file, or its contents are inconsistent */
	UNWIND_TOO_LARGE,     /* more than limits.h allows, or its code spans more than 4 GB */
	UNWIND_WRONG_MACHINE, /* neither x86-64 nor arm64 */
	UNWIND_IO,            /* reading the file or writing the table failed */
	UNWIND_BUILD_REASON_COUNT
};

/* The names, as initializers: another table can add its own names to them. */
#define UNWIND_BUILD_REASON_NAMES                                                                 \
	[UNWIND_BUILT] = "built", [UNWIND_NO_ROWS] = "no_rows", [UNWIND_MALFORMED] = "malformed", \
	[UNWIND_TOO_LARGE] = "too_large", [UNWIND_WRONG_MACHINE] = "wrong_machine",               \
	[UNWIND_IO] = "io"

extern const char *const unwind_build_reason_names[UNWIND_BUILD_REASON_COUNT];

struct unwind_build_options {
	uint64_t memory_max; /* bytes of memory for the build; 0: UNWIND_BUILD_MEMORY_MAX */
};

struct unwind_build_result {
	enum unwind_build_reason reason;
	uint64_t rows, rules, bytes; /* of the table; bytes is the size of its file */
};

/*
 * Builds the table of the ELF file at elf_fd and writes it to out_fd, at its current position. The
 * caller keeps both descriptors. *ret is always set. False: there is no table, ret->reason says
 * why, and err has the message; the caller decides by ret->reason, not by err->code. out_fd may
 * then have a part of a table, which the caller discards.
 */
bool unwind_build(const struct unwind_build_options *options, int elf_fd, int out_fd,
		  struct unwind_build_result *ret, struct err *err) MUST_CHECK;
