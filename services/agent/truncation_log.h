// SPDX-License-Identifier: Apache-2.0
/*
 * truncation_log - a line at debug level for each user stack that does not reach its root: whose,
 * why, and where in which files its leaf and the frame are at which the walk ended.
 */
#pragma once

#include "process.h"
#include "sample.h"

/* `process` may be NULL. */
void truncation_log(const struct sample_record *record, const struct process *process);
