// SPDX-License-Identifier: Apache-2.0
/*
 * truncation_log - logs each user stack that does not reach its root, at debug level.
 *
 * The line names the process, why the walk ended, and file and offset of the leaf and of the last
 * frame. Any thread; no failure.
 */
#pragma once

#include "agent/process/process.h"
#include "bpf/sample.h"

/* Writes nothing if the stack is complete or empty. `process` may be NULL; then the leaf is logged
 * as unmapped. Borrows both arguments during the call. */
void truncation_log(const struct sample_record *record, const struct process *process);
