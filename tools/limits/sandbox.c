// SPDX-License-Identifier: Apache-2.0
/* Limits of lib/sandbox/limits.h. */
#include "limits/limit.h"
#include "sandbox/limits.h"

#define ENDS(reason) "the process is killed, `decima_sandbox_ends_total{reason=\"" reason "\"}`"

static const struct limit rows[] = {
	LIMIT(SANDBOX_DESCRIPTORS_MAX, COUNT, "open descriptors of a process that parses files",
	      "the file cannot be read, as one that is malformed"),
	LIMIT(SANDBOX_START_MS, MS, "the start of a process until it has restricted itself",
	      ENDS("timeout")),
	LIMIT(SANDBOX_END_MS, MS, "the end of a process that has closed its socket",
	      ENDS("bad_response")),
};

const struct limit_table sandbox_limits = TABLE("lib/sandbox/limits.h", rows);
