// SPDX-License-Identifier: Apache-2.0
/*
 * files_sweep - scans the whole store: counts its files, evicts files, removes leftovers.
 *
 * A scan is expensive, so it runs only at startup, every few minutes because other processes may
 * share the directory, and when the quota is exceeded. Any thread.
 */
#pragma once

#include "debuginfo/files.h"

/* Recounts the stored files and bytes. If the quota is exceeded, removes the least recently read
 * files first. A file that cannot be removed is skipped. */
void files_sweep(struct files *files);

/* Remove the temporary files of writers that died. A temporary file that is locked belongs to a
 * running process and stays. */
void files_sweep_leftovers(struct files *files);

extern struct metric *const files_sweep_metrics[];
