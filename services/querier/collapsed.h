// SPDX-License-Identifier: Apache-2.0
/*
 * collapsed - an answer as lines of `root;...;leaf value`, as flamegraph.pl and its kin read them.
 *
 * A frame is its function, or basename(path)+0xADDRESS in the ELF file where nobody has named it.
 * Grouped answers begin each line with `name=value;` for each label. Sorted by bytes, each line
 * once.
 */
#pragma once

#include "merge.h"

/* ERR_LIMIT: lines and merge together need more memory than the merge may. */
bool collapsed_write(struct merge *merge, struct arena *arena, str *ret_text,
		     struct err *err) MUST_CHECK;
