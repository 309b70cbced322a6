// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_gauge - samples of gauges, made as few as say the same of a whole hour. Pure.
 *
 * What an answer needs of a gauge are, of each process (a series, and of it the samples of one
 * `pid`), the sum of each stack and the times of its profiles: the querier's mean over time is made
 * of these. So of a process with m stacks and n profiles max(m, n) samples are kept: the i-th has
 * the i-th stack with all of its sum, or a stack of the process once more with nothing, and the
 * i-th time, or the last one again. Sums and times are what they were; which stack had what when is
 * gone, and so are all labels of samples but `pid`.
 *
 * What was made so may be made fewer again, together with more of the same hour.
 */
#pragma once

#include "profile/sample_set.h"

void rollup_gauge_fold(struct sample_set *set);
