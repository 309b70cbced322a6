// SPDX-License-Identifier: Apache-2.0
/*
 * collapsed - writes a merge as lines of `root;...;leaf value`, the input of flamegraph.pl.
 *
 * A frame is its function, or basename(path)+0xADDRESS in the ELF file if it has no symbol. If the
 * response is grouped, each line begins with `name=value;` for each label. Lines are sorted by
 * bytes; each stack is one line. Any thread.
 */
#pragma once

#include "querier/merge/merge.h"

/* Writes the text, in the arena. ERR_LIMIT: lines and merge together use more memory than the merge
 * may, or a sum is beyond 64 bits. */
bool collapsed_write(struct merge *merge, struct arena *arena, str *ret_text,
		     struct err *err) MUST_CHECK;
