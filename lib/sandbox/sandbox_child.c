// SPDX-License-Identifier: Apache-2.0
#include "sandbox/sandbox_child.h"

#include "sandbox/capabilities.h"
#include "sandbox/limits.h"
#include "sandbox/sandbox_internal.h"
#include "sandbox/sandbox_message.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { IOPRIO_PROCESS = 1, IOPRIO_IDLE = 3 << 13 };

/* A lower limit of the owner stays. */
static bool set_limit(__rlimit_resource_t resource, uint64_t soft, uint64_t hard, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0)
		return err_errno(err, "read limit %d", (int)resource);
	limit.rlim_max = hard < limit.rlim_max ? hard : limit.rlim_max;
	limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
	return setrlimit(resource, &limit) == 0 || err_errno(err, "set limit %d", (int)resource);
}

static bool set_limits(const struct sandbox_rules *rules, struct err *err)
{
	const struct {
		__rlimit_resource_t resource;
		uint64_t max;
	} limits[] = {
#ifndef SANDBOX_SANITIZED /* the runtimes of sanitizers reserve terabytes */
		{ RLIMIT_AS, rules->address_space_max },
#endif
		{ RLIMIT_FSIZE, rules->file_max },
		{ RLIMIT_CPU, rules->cpu_seconds_max },
	};

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		/* A second of CPU time after SIGXCPU, SIGKILL follows. */
		uint64_t hard = limits[i].max + (limits[i].resource == RLIMIT_CPU);

		if (limits[i].max && !set_limit(limits[i].resource, limits[i].max, hard, err))
			return false;
	}
	if (rules->profile == SANDBOX_PARSER &&
	    (!set_limit(RLIMIT_NOFILE, SANDBOX_DESCRIPTORS_MAX, SANDBOX_DESCRIPTORS_MAX, err) ||
	     !set_limit(RLIMIT_NPROC, 0, 0, err)))
		return false;
	return set_limit(RLIMIT_CORE, 0, 0, err);
}

static void lower_priority(const struct sandbox_rules *rules, uint32_t *skipped)
{
	struct sched_param param = { 0 };
	AUTO_FD fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1000", 4) != 4)
		*skipped |= 1U << SANDBOX_STEP_OOM_SCORE;
	if (setpriority(PRIO_PROCESS, 0, rules->nice) != 0 ||
	    (rules->only_when_idle &&
	     (sched_setscheduler(0, SCHED_IDLE, &param) != 0 ||
	      syscall(SYS_ioprio_set, IOPRIO_PROCESS, 0, IOPRIO_IDLE) != 0)))
		*skipped |= 1U << SANDBOX_STEP_PRIORITY;
}

/*
 * Leave root. The owner must be able to kill the process afterwards, so it needs CAP_KILL, which
 * this process has if the owner has it. In a container the capabilities are usually missing: then
 * the process stays root without capabilities, behind the filter.
 */
static bool change_user(uint32_t uid, uint32_t *skipped, struct err *err)
{
	const uint32_t needed = 1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_KILL;
	struct __user_cap_data_struct sets[2];

	if (geteuid() != 0 || uid == 0)
		return true;
	if (!capabilities_read(sets, err))
		return false;
	if ((sets[0].effective & needed) != needed) {
		*skipped |= 1U << SANDBOX_STEP_USER;
		return true;
	}
	return (setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 &&
		setresuid(uid, uid, uid) == 0) ||
	       err_errno(err, "become user %u", uid);
}

/* A change of the user or of capabilities resets both attributes that are set last. */
static bool drop_privileges(const struct sandbox_rules *rules, uint32_t *skipped, struct err *err)
{
	bool is_parser = rules->profile == SANDBOX_PARSER;
	uint64_t kept = is_parser ? 0 : rules->capabilities;

	if (!capabilities_drop_bounding(kept))
		*skipped |= 1U << SANDBOX_STEP_BOUNDING;
	if (is_parser && !change_user(rules->uid, skipped, err))
		return false;
	if (!capabilities_drop(kept, err))
		return false;
	return (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0) ||
	       err_errno(err, "forbid new privileges");
}

/* An arena aborts when an allocation fails; so the owner can distinguish that from another
 * abort. */
static void handle_abort(int signal)
{
	(void)signal;
	if (errno == ENOMEM)
		_exit(SANDBOX_EXIT_MEMORY);
}

static bool restrict_process(const struct sandbox_rules *rules, uint32_t *skipped, struct err *err)
{
	const struct sigaction on_abort = { .sa_handler = handle_abort };

	prctl(PR_SET_NAME, rules->name);
	lower_priority(rules, skipped);
	if (!drop_privileges(rules, skipped, err) || !set_limits(rules, err))
		return false;
	if (rules->profile == SANDBOX_HELPER)
		return true;
	if (sigaction(SIGABRT, &on_abort, NULL) != 0)
		return err_errno(err, "handle SIGABRT");
	if (dup2(STDIN_FILENO, STDOUT_FILENO) < 0)
		return err_errno(err, "close the standard output");
#ifndef SANDBOX_SANITIZED /* the runtimes of sanitizers report there */
	if (dup2(STDIN_FILENO, STDERR_FILENO) < 0)
		return err_errno(err, "close the standard error");
#endif
	return sandbox_filter_load(err);
}

bool sandbox_enter(const struct sandbox_rules *rules)
{
	struct sandbox_hello hello = { .cpu_seconds_max = rules->cpu_seconds_max };
	struct err err = { 0 };

	hello.is_restricted = restrict_process(rules, &hello.skipped, &err);
	snprintf(hello.error, sizeof(hello.error), "%s", err.msg);
	return sandbox_message_send(SANDBOX_SOCKET, &hello, sizeof(hello), NULL) &&
	       hello.is_restricted;
}

bool sandbox_arguments_parse(struct sandbox_rules *rules, int argc, char **argv)
{
	uint64_t uid;

	if (argc != 2 || !str_to_u64(str_from(argv[1]), &uid) || uid > SANDBOX_UID_MAX) {
		fprintf(stderr, "%s: started by Decima's services only\n",
			program_invocation_short_name);
		return false;
	}
	rules->uid = (uint32_t)uid;
	return true;
}
