// SPDX-License-Identifier: Apache-2.0
/*
 * files_sweep - scans the whole store: counts its files, evicts files, removes leftovers.
 *
 * A scan is expensive, so it runs only at startup, every few minutes because other processes may
 * share the directory, and when the quota is exceeded. Any thread.
 */
#pragma once

#include "debuginfo/files.h"

/* Recounts the stored files and bytes. If the quota is exceeded, removes files, in the order of
 * files.h. A file that cannot be removed is skipped. */
void files_sweep(struct files *files);

/* Removes files, in the order of files.h, if there is no room for `bytes` more, and reserves these
 * until files_release_room(). For a file that no client asked for, no file is removed that was
 * asked for lately (ASKED_LATELY_SECONDS). ERR_LIMIT: there is no room; then nothing was removed,
 * unless a removal failed. */
bool files_make_room(struct files *files, uint64_t bytes, bool is_asked_for,
		     struct err *err) MUST_CHECK;

/* Ends the reservation. `bytes` and `count` are what was stored since, as for files_account(), 0 if
 * nothing was. */
void files_release_room(struct files *files, uint64_t reserved, uint64_t bytes, uint64_t count);

/* As far as is known without a scan: whether files_make_room() can make room for a file that no
 * client asked for. */
bool files_may_have_room(const struct files *files, uint64_t bytes);

/* Remove the temporary files of writers that died. A temporary file that is locked belongs to a
 * running process and stays. */
void files_sweep_leftovers(struct files *files);

extern struct metric *const files_sweep_metrics[];
