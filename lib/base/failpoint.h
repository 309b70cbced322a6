// SPDX-License-Identifier: Apache-2.0
/*
 * failpoint - named places at which a process can be told to die or to stand still.
 *
 * What is counted once must be so wherever a process ends. Chance seldom ends one between two
 * statements; a failpoint does, each time. The table says where each lies. Nothing is armed unless
 * the setting `--failpoints` says so, and then it is one comparison at each place:
 *
 *     decima-ingester --failpoints=in-copy=stop:2      # in its second COPY it stops itself
 *
 *     if (!postgres_copy(...)) ...
 *     failpoint(FAILPOINT_AFTER_COPY);
 *
 * What is armed is the process's own: set before its first thread, counted by any thread.
 */
#pragma once

#include "base/err.h"

enum failpoint {
	FAILPOINT_AFTER_SPOOL_FILE,
	FAILPOINT_AFTER_SPOOL_FSYNC,
	FAILPOINT_AFTER_PRODUCE,
	FAILPOINT_AT_REPORT,
	FAILPOINT_IN_REVOKE,
	FAILPOINT_AFTER_SERIES,
	FAILPOINT_IN_COPY,
	FAILPOINT_AFTER_COPY,
	FAILPOINT_AFTER_FENCE,
	FAILPOINT_AFTER_COMMIT,
	FAILPOINT_BEFORE_COMPACTION,
	FAILPOINT_IN_COMPACTION,
	FAILPOINT_IN_ROLLUP,
	FAILPOINT_AFTER_COMPACTION,
	FAILPOINT_COUNT,
};

enum failpoint_action {
	FAILPOINT_NONE,
	FAILPOINT_KILL, /* SIGKILL, as kill -9 or the machine's memory killer would */
	FAILPOINT_STOP, /* SIGSTOP: it stands still until somebody sends SIGCONT */
	FAILPOINT_ACTION_COUNT,
};

struct failpoint_row {
	const char *name;
	const char *program; /* whose it is: agent, ingester */
	const char *where;   /* what is done there, and what is not */
};

extern const struct failpoint_row failpoint_rows[FAILPOINT_COUNT];
extern const char *const failpoint_action_names[FAILPOINT_ACTION_COUNT];

/*
 * Arm what the text says: NAME=ACTION[:VISIT], separated by commas; VISIT, from 1, is when it
 * acts, once. An empty text arms nothing. Names of other programs are errors, since they
 * would never be met. Call it before the first thread.
 */
bool failpoint_arm(const char *program, const char *text, struct err *err) MUST_CHECK;

/* We are there. Returns unless it is armed with `kill` and this is the visit. */
void failpoint(enum failpoint point);
