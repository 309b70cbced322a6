// SPDX-License-Identifier: Apache-2.0
/*
 * sample_parse - checks the length and the counts of a record from the BPF ring buffer. Pure: any
 * thread.
 */
#pragma once

#include "bpf/sample.h"

/*
 * Returns `bytes` as a record, borrowed; `bytes` must be aligned to 8. NULL: the counts of the
 * record exceed their limits or do not match `len`; the caller counts the record as malformed. The
 * counts of a returned record are safe to use. Registers and stack bytes are untrusted: the sampled
 * process chooses them.
 */
const struct sample_record *sample_parse(const void *bytes, size_t len);
