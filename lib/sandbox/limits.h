// SPDX-License-Identifier: Apache-2.0
/*
 * limits - the limits that hold for all sandboxed processes; the others are their services'.
 */
#pragma once

#include "base/limit.h"

#define SANDBOX_LIMITS(LIMIT)                                                              \
	LIMIT(SANDBOX_DESCRIPTORS_MAX, 32, COUNT,                                          \
	      "open descriptors of a process that parses files",                           \
	      "the file cannot be read, as one that is malformed")                         \
	LIMIT(SANDBOX_START_MS, 60000, MS,                                                 \
	      "the start of a process until it has restricted itself", ENDS("timeout"))    \
	LIMIT(SANDBOX_END_MS, 5000, MS, "the end of a process that has closed its socket", \
	      ENDS("bad_response"))                                                        \
	LIMIT(SANDBOX_KILL_MS, 2000, MS, "the end of a process that was killed",           \
	      "it is left behind: `decima_sandbox_left_processes`")                        \
	LIMIT(SANDBOX_LEFT_MAX, 4, COUNT, "processes of one owner that were left behind",  \
	      "no further process is started until one of them ends")

SANDBOX_LIMITS(LIMIT_CONSTANT)
