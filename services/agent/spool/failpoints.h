// SPDX-License-Identifier: Apache-2.0
/*
 * failpoints - the agent's failpoints, all of them on a batch's way through the spool.
 */
#pragma once

#include "base/failpoint.h"

extern struct failpoint failpoint_after_spool_file, failpoint_after_spool_fsync,
	failpoint_after_produce, failpoint_at_report;

extern const struct failpoint_table agent_failpoints;
