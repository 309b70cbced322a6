// SPDX-License-Identifier: Apache-2.0
/*
 * files_sweep - walking the whole store.
 */
#pragma once

#include "files.h"

/* Count what is there, remove the least recently read until the quota holds. */
void files_sweep(struct files *files);

/* Remove what writers that died left behind. */
void files_sweep_leftovers(struct files *files);

enum { FILES_SWEEP_METRICS = 3 };
extern struct metric *const files_sweep_metrics[FILES_SWEEP_METRICS];
