// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_expression - evaluates the DWARF expressions that occur in unwind information.
 *
 * It recognizes only the forms that compilers, assembly code and linkers write: register + n,
 * *(register + n) + m, and the expression of PLT stubs. Any thread.
 */
#pragma once

#include "base/reader.h"

enum dwarf_term_kind {
	DWARF_TERM_UNKNOWN,
	DWARF_TERM_NUMBER,   /* offset */
	DWARF_TERM_REGISTER, /* register_number + offset */
	DWARF_TERM_DEREF,    /* *(register_number + offset) + second */
	DWARF_TERM_PLT,      /* rsp + 8, and 8 more if (pc & 15) >= offset */
};

struct dwarf_term {
	enum dwarf_term_kind kind;
	uint64_t register_number; /* DWARF number */
	int64_t offset, second;
};

/* Kind DWARF_TERM_UNKNOWN: the expression is malformed or has another form. */
struct dwarf_term dwarf_expression_read(str expression);
