// SPDX-License-Identifier: Apache-2.0
#include "base/failpoint.h"

#include "base/log.h"
#include "base/str.h"

#include <inttypes.h>
#include <signal.h>

const struct failpoint_row failpoint_rows[FAILPOINT_COUNT] = {
	[FAILPOINT_AFTER_SPOOL_FILE] = { "after-spool-file", "agent",
					 "A batch's file is on the disk; the number it took is not "
					 "in the spool's meta file yet." },
	[FAILPOINT_AFTER_SPOOL_FSYNC] = { "after-spool-fsync", "agent",
					  "A batch and its number are on the disk; the publisher "
					  "has not heard of it." },
	[FAILPOINT_AFTER_PRODUCE] = { "after-produce", "agent",
				      "A batch was given to Kafka's client, which may have sent it "
				      "or not." },
	[FAILPOINT_AT_REPORT] = { "at-report", "agent",
				  "Kafka has acknowledged a batch; the spool still holds it." },
	[FAILPOINT_IN_REVOKE] = { "in-revoke", "ingester",
				  "Kafka takes the partitions away; what was read of them is not "
				  "dropped yet." },
	[FAILPOINT_AFTER_SERIES] = { "after-series", "ingester",
				     "New series are committed; their samples are not begun." },
	[FAILPOINT_IN_COPY] = { "in-copy", "ingester",
				"PostgreSQL has half of the bytes of the rows of samples." },
	[FAILPOINT_AFTER_COPY] = { "after-copy", "ingester",
				   "PostgreSQL has the rows of samples; the seen numbers and the "
				   "offsets are not written." },
	[FAILPOINT_AFTER_FENCE] = { "after-fence", "ingester",
				    "All is written and the offsets are locked; COMMIT is not "
				    "sent." },
	[FAILPOINT_AFTER_COMMIT] = { "after-commit", "ingester",
				     "PostgreSQL has committed; the ingester has not taken note." },
	[FAILPOINT_BEFORE_COMPACTION] = { "before-compaction", "ingester",
					  "Rows to be merged or summed up are locked and read; "
					  "nothing is written." },
	[FAILPOINT_IN_COMPACTION] = { "in-compaction", "ingester",
				      "Rows are marked as merged, and what they were merged into "
				      "is "
				      "written; COMMIT is not sent." },
	[FAILPOINT_IN_ROLLUP] = { "in-rollup", "ingester",
				  "Chunks are marked as summed up, and their sums are written; "
				  "COMMIT is not sent." },
	[FAILPOINT_AFTER_COMPACTION] = { "after-compaction", "ingester",
					 "PostgreSQL has committed what was merged or summed up; "
					 "the ingester has not taken note." },
};

const char *const failpoint_action_names[FAILPOINT_ACTION_COUNT] = {
	[FAILPOINT_NONE] = "none",
	[FAILPOINT_KILL] = "kill",
	[FAILPOINT_STOP] = "stop",
};

/* A fourth global: docs/decisions/0035-failpoints-in-the-shipped-program.md says why. */
static struct {
	enum failpoint_action action;
	uint64_t visit;          /* at which it acts */
	_Atomic uint64_t visits; /* so far */
} armed[FAILPOINT_COUNT];

static bool refuse_name(const char *program, str name, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	str names = { 0 };

	for (size_t i = 0; i < FAILPOINT_COUNT; i++)
		if (str_eq(str_from(failpoint_rows[i].program), str_from(program)))
			names = str_format(&arena, STR_FMT "%s%s", STR_ARG(names),
					   names.len ? ", " : "", failpoint_rows[i].name);
	return err_set(err, ERR_INVALID, "the %s has no failpoint \"" STR_FMT "\"; it has " STR_FMT,
		       program, STR_ARG(name), STR_ARG(names));
}

static bool find_point(const char *program, str name, size_t *ret_point, struct err *err)
{
	for (size_t i = 0; i < FAILPOINT_COUNT; i++) {
		const struct failpoint_row *row = &failpoint_rows[i];

		if (!str_eq(str_from(row->name), name) ||
		    !str_eq(str_from(row->program), str_from(program)))
			continue;
		*ret_point = i;
		return true;
	}
	return refuse_name(program, name, err);
}

static bool find_action(str text, enum failpoint_action *ret_action, struct err *err)
{
	for (int i = FAILPOINT_KILL; i < FAILPOINT_ACTION_COUNT; i++) {
		if (str_eq(text, str_from(failpoint_action_names[i]))) {
			*ret_action = (enum failpoint_action)i;
			return true;
		}
	}
	return err_set(err, ERR_INVALID,
		       "a failpoint can kill or stop, but not \"" STR_FMT "\": NAME=ACTION[:VISIT]",
		       STR_ARG(text));
}

static bool arm_one(const char *program, str text, struct err *err)
{
	str rest = text, name = str_cut(&rest, '='), action = str_cut(&rest, ':');
	enum failpoint_action does;
	uint64_t visit = 1;
	size_t point;

	if (!find_point(program, name, &point, err) || !find_action(action, &does, err))
		return false;
	if (rest.ptr && (!str_to_u64(rest, &visit) || visit == 0))
		return err_set(err, ERR_INVALID,
			       "failpoint \"" STR_FMT "\" acts at a visit from 1 on, not \"" STR_FMT
			       "\"",
			       STR_ARG(name), STR_ARG(rest));
	if (armed[point].action != FAILPOINT_NONE)
		return err_set(err, ERR_INVALID, "failpoint \"" STR_FMT "\" is given twice",
			       STR_ARG(name));
	armed[point].action = does;
	armed[point].visit = visit;
	log_warn("a failpoint is armed, as only a test should", "name=%s action=%s visit=%" PRIu64,
		 failpoint_rows[point].name, failpoint_action_names[does], visit);
	return true;
}

bool failpoint_arm(const char *program, const char *text, struct err *err)
{
	str rest = str_from(text);

	while (rest.len)
		if (!arm_one(program, str_cut(&rest, ','), err))
			return err_wrap(err, "setting --failpoints");
	return true;
}

/* The line is out before anything happens: who looks from outside knows where we are.
 * GCOVR_EXCL_START: a process that is killed or stopped here writes no counts */
static void act(enum failpoint point)
{
	if (++armed[point].visits != armed[point].visit)
		return;
	log_warn("failpoint", "name=%s action=%s", failpoint_rows[point].name,
		 failpoint_action_names[armed[point].action]);
	/* To this thread: so it does not take another step, which it might if any other was met. */
	raise(armed[point].action == FAILPOINT_KILL ? SIGKILL : SIGSTOP);
	log_info("failpoint passed", "name=%s", failpoint_rows[point].name);
}
/* GCOVR_EXCL_STOP */

void failpoint(enum failpoint point)
{
	if (armed[point].action != FAILPOINT_NONE)
		act(point); /* GCOVR_EXCL_LINE: only in a process that ends so */
}
