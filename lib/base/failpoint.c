// SPDX-License-Identifier: Apache-2.0
#include "base/failpoint.h"

#include "base/log.h"
#include "base/str.h"

#include <inttypes.h>
#include <signal.h>

const char *const failpoint_action_names[FAILPOINT_ACTION_COUNT] = {
	[FAILPOINT_NONE] = "none",
	[FAILPOINT_KILL] = "kill",
	[FAILPOINT_STOP] = "stop",
};

static struct failpoint *find_point(const struct failpoint_table *table, str name, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	str names = { 0 };

	for (size_t i = 0; i < table->count; i++) {
		struct failpoint *point = table->points[i];

		if (str_eq(str_from(point->name), name))
			return point;
		names = str_format(&arena, STR_FMT "%s%s", STR_ARG(names), names.len ? ", " : "",
				   point->name);
	}
	err_set(err, ERR_INVALID, "the %s has no failpoint \"" STR_FMT "\"; it has " STR_FMT,
		table->program, STR_ARG(name), STR_ARG(names));
	return NULL;
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

static bool arm_one(const struct failpoint_table *table, str text, struct err *err)
{
	str rest = text, name = str_cut(&rest, '='), action = str_cut(&rest, ':');
	struct failpoint *point = find_point(table, name, err);
	enum failpoint_action parsed;
	uint64_t visit = 1;

	if (!point || !find_action(action, &parsed, err))
		return false;
	if (rest.ptr && (!str_to_u64(rest, &visit) || visit == 0))
		return err_set(err, ERR_INVALID,
			       "failpoint \"" STR_FMT
			       "\": the visit must be a number from 1, not \"" STR_FMT "\"",
			       STR_ARG(name), STR_ARG(rest));
	if (point->action != FAILPOINT_NONE)
		return err_set(err, ERR_INVALID, "failpoint \"" STR_FMT "\" is set twice",
			       STR_ARG(name));
	point->action = parsed;
	point->visit = visit;
	log_warn("failpoint armed: for tests only", "name=%s action=%s visit=%" PRIu64, point->name,
		 failpoint_action_names[parsed], visit);
	return true;
}

bool failpoint_arm(const struct failpoint_table *table, const char *text, struct err *err)
{
	str rest = str_from(text);

	if (!rest.len)
		return true;
	while (rest.ptr) /* it is "" after a last comma, NULL after the last failpoint */
		if (!arm_one(table, str_cut(&rest, ','), err))
			return err_wrap(err, "--failpoints");
	return true;
}

/* The log line is written first, so that a test can see in the log where the process is.
 * GCOVR_EXCL_START: a process that is killed here writes no coverage counts */
static void act(struct failpoint *point)
{
	if (++point->visits != point->visit)
		return;
	log_warn("failpoint", "name=%s action=%s", point->name,
		 failpoint_action_names[point->action]);
	/* raise() signals this thread, so that it does not run on. kill() might select another one.
	 */
	raise(point->action == FAILPOINT_KILL ? SIGKILL : SIGSTOP);
	log_info("failpoint passed", "name=%s", point->name);
}
/* GCOVR_EXCL_STOP */

void failpoint(struct failpoint *point)
{
	if (point->action != FAILPOINT_NONE)
		act(point); /* GCOVR_EXCL_LINE: only in a process that ends here */
}
