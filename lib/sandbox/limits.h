// SPDX-License-Identifier: Apache-2.0
/*
 * limits - the limits that hold for all sandboxed processes; the others are their services'.
 */
#pragma once

enum {
	SANDBOX_DESCRIPTORS_MAX = 32, /* open descriptors of a process that parses files */
	SANDBOX_START_MS = 60000,     /* for a process to start and to restrict itself */
	SANDBOX_END_MS = 5000,        /* for a process that closed its socket to end */
};
