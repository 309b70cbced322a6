// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_expression - what a DWARF expression of unwind information computes, if it is of a kind
 * that compilers and assembly write: register + n, *(register + n) + m, and that of PLT stubs.
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
	uint64_t register_number; /* of DWARF */
	int64_t offset, second;
};

/* Of kind DWARF_TERM_UNKNOWN if it is none of these. */
struct dwarf_term dwarf_expression_read(str expression);
