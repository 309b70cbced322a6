// SPDX-License-Identifier: Apache-2.0
/*
 * failpoint - named places in the code at which a test can kill or suspend the process.
 *
 * Exactly-once counting must hold wherever a process ends. A random kill seldom hits the gap
 * between two statements; a failpoint hits it every time. The table failpoint_rows describes each
 * place. Without the setting `--failpoints` none is armed, and each place costs one comparison:
 *
 *     decima-ingester --failpoints=in-copy=stop:2      # SIGSTOP to itself in its second COPY
 *
 *     if (!postgres_copy(...)) ...
 *     failpoint(FAILPOINT_AFTER_COPY);
 *
 * Armed failpoints are global to the process. They are set before its first thread starts; any
 * thread may visit one.
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
	FAILPOINT_KILL, /* SIGKILL, like kill -9 or the kernel's OOM killer */
	FAILPOINT_STOP, /* SIGSTOP: suspended until a SIGCONT */
	FAILPOINT_ACTION_COUNT,
};

struct failpoint_row {
	const char *name;
	const char *program; /* that has it: agent, ingester */
	const char *where;   /* what is done at this place, and what is not yet */
};

extern const struct failpoint_row failpoint_rows[FAILPOINT_COUNT];
extern const char *const failpoint_action_names[FAILPOINT_ACTION_COUNT];

/*
 * Arm the failpoints in `text`: NAME=ACTION[:VISIT], separated by commas. The action happens once,
 * at visit number VISIT (counted from 1; default 1). An empty text or NULL arms none. `text` is not
 * kept. ERR_INVALID, the only failure: the text is malformed, names a failpoint twice, or names one
 * of another program. Failpoints that stand before the error are armed then, so the program must
 * exit.
 */
bool failpoint_arm(const char *program, const char *text, struct err *err) MUST_CHECK;

/* Visit the failpoint. If it is armed for this visit, `kill` ends the process and `stop` suspends
 * it; the function returns after a SIGCONT. */
void failpoint(enum failpoint point);
