// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_expression - what a DWARF expression of unwind information computes, if it is of a kind
 * that compilers and assembly write: register + n, *(register + n) + m, and that of PLT stubs.
 */
#pragma once

#include "base/reader.h"

enum unwind_term_kind {
	UNWIND_TERM_UNKNOWN,
	UNWIND_TERM_NUMBER,   /* offset */
	UNWIND_TERM_REGISTER, /* register_number + offset */
	UNWIND_TERM_DEREF,    /* *(register_number + offset) + second */
	UNWIND_TERM_PLT,      /* rsp + 8, and 8 more if (pc & 15) >= offset */
};

struct unwind_term {
	enum unwind_term_kind kind;
	uint64_t register_number; /* of DWARF */
	int64_t offset, second;
};

/* Of kind UNWIND_TERM_UNKNOWN if it is none of these. */
struct unwind_term unwind_expression_read(str expression);
