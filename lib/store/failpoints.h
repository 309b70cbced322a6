// SPDX-License-Identifier: Apache-2.0
/*
 * failpoints - the failpoints of the writer and of compaction.
 */
#pragma once

#include "base/failpoint.h"

extern struct failpoint failpoint_after_series, failpoint_after_copy, failpoint_after_fence,
	failpoint_after_commit, failpoint_before_compaction, failpoint_in_compaction,
	failpoint_in_rollup, failpoint_after_compaction;
