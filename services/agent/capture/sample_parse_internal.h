// SPDX-License-Identifier: Apache-2.0
/*
 * sample_parse - checks a record of the ring buffer. Pure.
 */
#pragma once

#include "bpf/sample.h"

/*
 * Returns the bytes as a record; NULL if its counts exceed their limits or do not match `len`. The
 * counts of a returned record are safe to use. Registers and stack bytes are untrusted: the sampled
 * process chooses them.
 */
const struct sample_record *sample_parse(const void *bytes, size_t len);
