// SPDX-License-Identifier: Apache-2.0
/*
 * failpoint - named places in the code at which a test can kill or suspend the process.
 *
 * Exactly-once counting must hold wherever a process ends. A random kill seldom hits the gap
 * between two statements; a failpoint hits it every time. The library or service that has the place
 * defines the failpoint; a program's table lists all that it can meet. Without the setting
 * `--failpoints` none is armed, and each place costs one comparison:
 *
 *     decima-ingester --failpoints=in-copy=stop:2      # SIGSTOP to itself in its second COPY
 *
 *     if (!postgres_copy(...)) ...
 *     failpoint(&failpoint_after_copy);
 *
 * Failpoints are global variables: docs/decisions/0035-failpoints-in-the-shipped-program.md
 * explains why. They are armed before the process's first thread starts; any thread may visit one.
 */
#pragma once

#include "base/err.h"

enum failpoint_action {
	FAILPOINT_NONE,
	FAILPOINT_KILL, /* SIGKILL, like kill -9 or the kernel's OOM killer */
	FAILPOINT_STOP, /* SIGSTOP: suspended until a SIGCONT */
	FAILPOINT_ACTION_COUNT,
};

struct failpoint {
	const char *name;
	const char *where; /* what is done at this place, and what is not yet */
	/* private */
	enum failpoint_action action;
	uint64_t visit;          /* the visit at which the action happens */
	_Atomic uint64_t visits; /* so far */
};

/* The failpoints of a program, each with a different name. */
struct failpoint_table {
	const char *program; /* agent, ingester */
	struct failpoint *const *points;
	size_t count;
};

extern const char *const failpoint_action_names[FAILPOINT_ACTION_COUNT];

/*
 * Arm the failpoints in `text`: NAME=ACTION[:VISIT], separated by commas. The action happens once,
 * at visit number VISIT (counted from 1; default 1). An empty text or NULL arms none. `text` is not
 * kept. ERR_INVALID, the only failure: the text is malformed, names a failpoint twice, or names one
 * that is not in the table. Failpoints that stand before the error are armed then, so the program
 * must exit.
 */
bool failpoint_arm(const struct failpoint_table *table, const char *text,
		   struct err *err) MUST_CHECK;

/* Visit the failpoint. If it is armed for this visit, `kill` ends the process and `stop` suspends
 * it; the function returns after a SIGCONT. */
void failpoint(struct failpoint *point);
