// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_sum - of samples that are the same but for their values one, with the sum of them. Pure.
 */
#pragma once

#include "profile/sample_set.h"

/* In place, sorted by `compare`, which says of two samples that are the same 0; how many are left.
 */
size_t rollup_sum(struct sample *samples, size_t count,
		  int (*compare)(const void *left, const void *right)) MUST_CHECK;
