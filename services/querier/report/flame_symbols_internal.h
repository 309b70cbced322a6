// SPDX-License-Identifier: Apache-2.0
/*
 * flame_symbols - the symbols of one merge, or of two that are compared: what a bar of a flame
 * graph and a row of a table stand for.
 *
 * A frame with a function becomes a symbol as the identity says
 * ("querier/report/frame_identity.h"). A frame without a function becomes an address in one build
 * of a binary. Symbols of two merges are numbered together, so a function is one symbol on both
 * sides, and the source file distinguishes symbols on both sides or on neither. Pure: any thread.
 * All memory is in the arena; nothing must be freed.
 */
#pragma once

#include "querier/merge/merge.h"
#include "querier/report/frame_identity.h"

/* Where a symbol was found: a file, and its build. Either may be empty. */
struct flame_build {
	str path, build_id;
};

struct flame_symbol {
	str name;     /* the function; binary+0xADDRESS; comm=nginx; [no stack] */
	str binary;   /* see below; may be empty */
	str file;     /* source file, of the first of its builds that has one; empty if unknown */
	str build_id; /* this field and the next: one build, one address, or empty */
	str address;  /* in the ELF file: 0x1f */
	/* Why the function is unknown: a sentence of name_reason_text and a word of
	 * name_reason_names; empty if the frame was not symbolized. */
	str reason, reason_code;
	/* By path and build id; equal ones are neighbours. Empty for labels and [no stack]. */
	const struct flame_build *builds;
	size_t build_count;
};
/*
 * `binary` is a path if the identity has one; otherwise the base name of the binary, without its
 * version if the symbol's binaries have different ones; and empty if a symbol of FRAME_OF_FUNCTION
 * is in several binaries.
 */

enum { FLAME_SIDES_MAX = 2 };

struct flame_symbols {
	/* Each once, sorted by name, binary, file and build. */
	const struct flame_symbol *items;
	size_t len;
	struct merge *merges[FLAME_SIDES_MAX];
	/* private */
	uint32_t *of_frame[FLAME_SIDES_MAX]; /* symbol by frame */
	uint32_t *of_group[FLAME_SIDES_MAX]; /* by label set: group_by->len of each */
	uint32_t no_stack;
};

/* Makes the symbols of 1 or 2 merges with the same groups. Texts are borrowed from the merges.
 * ERR_LIMIT: more memory than the last merge may use; `symbols` must not be used then. */
bool flame_symbols_make(struct flame_symbols *symbols, struct merge *const *merges, size_t count,
			enum frame_identity identity, struct arena *arena,
			struct err *err) MUST_CHECK;
