// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/brief_processes_internal.h"
#include "support/test.h"

static struct sideband_record event(enum sideband_type type, uint32_t pid, uint32_t parent_pid,
				    uint64_t time_ns)
{
	return (struct sideband_record){
		.type = type, .pid = pid, .parent_pid = parent_pid, .time_ns = time_ns
	};
}

#define FORK(pid, parent, time) event(SIDEBAND_FORK, pid, parent, time)
#define EXIT(pid, time)         event(SIDEBAND_EXIT, pid, 1, time)
#define MAP(pid, time)          event(SIDEBAND_MAP, pid, 0, time)

/* Each row: the events of a round, which process is sampled, and whether process 7 is brief at time
 * 10. */
static void knows_a_process_that_started_and_ended_without_a_sample(void **state)
{
	const struct {
		const char *what;
		struct sideband_record events[5];
		uint32_t sampled;
		bool is_brief;
	} rows[] = {
		{ "it ended", { { .type = SIDEBAND_OTHER } }, 0, false },
		{ "fork, map, exit", { FORK(7, 1, 1), MAP(7, 2), EXIT(7, 3) }, 0, true },
		{ "in any order", { EXIT(7, 3), MAP(7, 2), FORK(7, 1, 1) }, 0, true },
		{ "it runs", { FORK(7, 1, 1), MAP(7, 2) }, 0, false },
		{ "it is older", { MAP(7, 2), EXIT(7, 3) }, 0, false },
		{ "it has a sample", { FORK(7, 1, 1), EXIT(7, 3) }, 7, false },
		{ "another has a sample", { FORK(7, 1, 1), EXIT(7, 3) }, 8, true },
		{ "its thread runs", { FORK(7, 1, 1), FORK(7, 7, 2), EXIT(7, 3) }, 0, false },
		{ "its thread ended too",
		  { FORK(7, 1, 1), FORK(7, 7, 2), EXIT(7, 3), EXIT(7, 4) },
		  0,
		  true },
		{ "the fork of its thread was lost",
		  { FORK(7, 1, 1), EXIT(7, 3), EXIT(7, 4) },
		  0,
		  false },
		{ "its child runs", { FORK(7, 1, 1), FORK(8, 7, 2), EXIT(7, 3) }, 0, false },
		{ "its child ended",
		  { FORK(7, 1, 1), FORK(8, 7, 2), EXIT(7, 3), EXIT(8, 4) },
		  0,
		  true },
		{ "its child has a sample",
		  { FORK(7, 1, 1), FORK(8, 7, 2), EXIT(7, 3), EXIT(8, 4) },
		  8,
		  false },
		{ "the child of its child runs",
		  { FORK(9, 8, 3), FORK(7, 1, 1), FORK(8, 7, 2), EXIT(7, 3), EXIT(8, 4) },
		  0,
		  false },
		{ "the pid was used twice",
		  { FORK(7, 1, 1), EXIT(7, 2), FORK(7, 1, 3), EXIT(7, 4) },
		  0,
		  false },
		{ "the exit is of an older process", { EXIT(7, 1), FORK(7, 1, 2) }, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct brief_processes brief = { .arena = &arena };
		struct sideband_record map = MAP(7, 10);

		for (size_t k = 0; k < ARRAY_LEN(rows[i].events); k++)
			brief_processes_start(&brief, &rows[i].events[k]);
		for (size_t k = 0; k < ARRAY_LEN(rows[i].events); k++)
			brief_processes_end(&brief, &rows[i].events[k]);
		brief_processes_need(&brief, rows[i].sampled);
		brief_processes_decide(&brief);
		if (brief_processes_has(&brief, &map) != rows[i].is_brief)
			fail_msg("%s", rows[i].what);
	}
}

static void keeps_an_event_of_an_older_process_with_the_pid(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct brief_processes brief = { .arena = &arena };
	struct sideband_record events[] = { EXIT(7, 1), FORK(7, 1, 2), EXIT(7, 3) };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		brief_processes_start(&brief, &events[i]);
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		brief_processes_end(&brief, &events[i]);
	brief_processes_decide(&brief);

	assert_false(brief_processes_has(&brief, &events[0]));
	assert_true(brief_processes_has(&brief, &events[1]));
	assert_true(brief_processes_has(&brief, &events[2]));
}

RUN_TESTS(TEST(knows_a_process_that_started_and_ended_without_a_sample),
	  TEST(keeps_an_event_of_an_older_process_with_the_pid))
