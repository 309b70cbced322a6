// SPDX-License-Identifier: Apache-2.0
/*
 * sample_parse - what the kernel's ring holds, as records. Pure.
 */
#pragma once

#include "sample.h"

/*
 * The record that these bytes are; NULL: they are none, or not as many as it says. What it says of
 * the stack is then true; registers and stack are anything that a process likes.
 */
const struct sample_record *sample_parse(const void *bytes, size_t len);
