// SPDX-License-Identifier: Apache-2.0
#include "base/failpoint.h"

#include "base/log.h"
#include "base/str.h"

#include <inttypes.h>
#include <signal.h>

const struct failpoint_row failpoint_rows[FAILPOINT_COUNT] = {
	[FAILPOINT_AFTER_SPOOL_FILE] = { "after-spool-file", "agent",
					 "A batch's file is on disk; its sequence number is not in "
					 "the spool's meta file yet." },
	[FAILPOINT_AFTER_SPOOL_FSYNC] = { "after-spool-fsync", "agent",
					  "A batch and its sequence number are on disk; the "
					  "publisher does not know of it yet." },
	[FAILPOINT_AFTER_PRODUCE] = { "after-produce", "agent",
				      "A batch was passed to the Kafka client, which may or may "
				      "not have sent it." },
	[FAILPOINT_AT_REPORT] = { "at-report", "agent",
				  "Kafka has acknowledged a batch; it is still in the spool." },
	[FAILPOINT_IN_REVOKE] = { "in-revoke", "ingester",
				  "Kafka revokes the partitions; the messages read from them are "
				  "not dropped yet." },
	[FAILPOINT_AFTER_SERIES] = { "after-series", "ingester",
				     "New series are committed; the write of their samples has not "
				     "begun." },
	[FAILPOINT_IN_COPY] = { "in-copy", "ingester",
				"PostgreSQL has received half of the bytes of the sample rows." },
	[FAILPOINT_AFTER_COPY] = { "after-copy", "ingester",
				   "PostgreSQL has the sample rows; the received sequence numbers "
				   "and the offsets are not written." },
	[FAILPOINT_AFTER_FENCE] = { "after-fence", "ingester",
				    "All rows are written and the offsets are locked; COMMIT is "
				    "not sent." },
	[FAILPOINT_AFTER_COMMIT] = { "after-commit", "ingester",
				     "PostgreSQL has committed; the ingester has not recorded "
				     "it." },
	[FAILPOINT_BEFORE_COMPACTION] = { "before-compaction", "ingester",
					  "The rows to compact or roll up are locked and read; "
					  "nothing is written." },
	[FAILPOINT_IN_COMPACTION] = { "in-compaction", "ingester",
				      "Rows are marked as compacted and the compacted chunks are "
				      "written; COMMIT is not sent." },
	[FAILPOINT_IN_ROLLUP] = { "in-rollup", "ingester",
				  "Chunks are marked as rolled up and the rollups are written; "
				  "COMMIT is not sent." },
	[FAILPOINT_AFTER_COMPACTION] = { "after-compaction", "ingester",
					 "PostgreSQL has committed a compaction or rollup; the "
					 "ingester has not recorded it." },
};

const char *const failpoint_action_names[FAILPOINT_ACTION_COUNT] = {
	[FAILPOINT_NONE] = "none",
	[FAILPOINT_KILL] = "kill",
	[FAILPOINT_STOP] = "stop",
};

/* A fourth global variable: docs/decisions/0035-failpoints-in-the-shipped-program.md explains why.
 */
static struct {
	enum failpoint_action action;
	uint64_t visit;          /* the visit at which the action happens */
	_Atomic uint64_t visits; /* so far */
} armed[FAILPOINT_COUNT];

static bool unknown_name(const char *program, str name, struct err *err)
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
	return unknown_name(program, name, err);
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
	enum failpoint_action parsed;
	uint64_t visit = 1;
	size_t point;

	if (!find_point(program, name, &point, err) || !find_action(action, &parsed, err))
		return false;
	if (rest.ptr && (!str_to_u64(rest, &visit) || visit == 0))
		return err_set(err, ERR_INVALID,
			       "failpoint \"" STR_FMT
			       "\": the visit must be a number from 1, not \"" STR_FMT "\"",
			       STR_ARG(name), STR_ARG(rest));
	if (armed[point].action != FAILPOINT_NONE)
		return err_set(err, ERR_INVALID, "failpoint \"" STR_FMT "\" is set twice",
			       STR_ARG(name));
	armed[point].action = parsed;
	armed[point].visit = visit;
	log_warn("failpoint armed: for tests only", "name=%s action=%s visit=%" PRIu64,
		 failpoint_rows[point].name, failpoint_action_names[parsed], visit);
	return true;
}

bool failpoint_arm(const char *program, const char *text, struct err *err)
{
	str rest = str_from(text);

	while (rest.len)
		if (!arm_one(program, str_cut(&rest, ','), err))
			return err_wrap(err, "--failpoints");
	return true;
}

/* The log line is written first, so that a test can see in the log where the process is.
 * GCOVR_EXCL_START: a process that is killed here writes no coverage counts */
static void act(enum failpoint point)
{
	if (++armed[point].visits != armed[point].visit)
		return;
	log_warn("failpoint", "name=%s action=%s", failpoint_rows[point].name,
		 failpoint_action_names[armed[point].action]);
	/* raise() signals this thread, so that it does not run on. kill() might select another one.
	 */
	raise(armed[point].action == FAILPOINT_KILL ? SIGKILL : SIGSTOP);
	log_info("failpoint passed", "name=%s", failpoint_rows[point].name);
}
/* GCOVR_EXCL_STOP */

void failpoint(enum failpoint point)
{
	if (armed[point].action != FAILPOINT_NONE)
		act(point); /* GCOVR_EXCL_LINE: only in a process that ends here */
}
