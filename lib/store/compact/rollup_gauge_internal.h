// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_gauge - reduces the samples of gauges to the minimum that preserves an hour's means. No
 * I/O; one thread per set.
 *
 * A process here is a series together with a value of the label `pid`. For a mean over time the
 * querier needs, of each process, the sum of each stack and the times of its profiles. For a
 * process with m stacks and n profiles, max(m, n) samples are kept. Sample i has stack i with the
 * whole sum of the stack, or, if i >= m, the last stack again with value 0. Sample i has time i,
 * or, if i >= n, the last time again. Sums and times stay exact. The times of individual stacks,
 * and all labels of samples except `pid`, are lost.
 *
 * The result may be folded again, together with more samples of the same hour.
 */
#pragma once

#include "profile/sample_set.h"

/* Reduces the samples of the set in place; new label sets are in the set's arena. Cannot fail. */
void rollup_gauge_fold(struct sample_set *set);
