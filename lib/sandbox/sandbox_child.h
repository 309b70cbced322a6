// SPDX-License-Identifier: Apache-2.0
/*
 * sandbox_child - a sandboxed process's own side of "sandbox/sandbox.h": restrict itself, then
 * receive jobs.
 *
 * The process calls sandbox_enter() first in main(), then receives jobs from SANDBOX_SOCKET with
 * sandbox_message_receive() and responds. It leaves with _exit(): handlers of exit() that open
 * files, such as those of gcov, are not allowed. One thread.
 *
 *     if (!sandbox_enter(&rules))
 *             return 1;
 *     while (sandbox_message_receive(SANDBOX_SOCKET, &job, sizeof(job), fds)) ...
 *     _exit(0);
 */
#pragma once

#include "base/str.h"

enum { SANDBOX_SOCKET = 3 }; /* the process's descriptor of the socket pair */

/*
 * The default of --sandbox-uid: a uid that no user, service or container has by the usual
 * conventions, so that no process of others may send the sandboxed process signals. It is below
 * those that systemd gives to services with DynamicUser, and above those of people.
 */
#define SANDBOX_UID 61000
enum { SANDBOX_UID_MAX = INT32_MAX };

/* The row of the setting --sandbox-uid, after its offset; it is a CONF_U64. */
#define SANDBOX_UID_SETTING                                                                 \
	.fallback = SANDBOX_TEXT(SANDBOX_UID), .max = SANDBOX_UID_MAX,                      \
	.help = "User and group of child processes that parse untrusted files, if this "    \
		"process is root and may change users. It should own no file and no other " \
		"process. 0: they stay root, without capabilities."
#define SANDBOX_TEXT(number)  SANDBOX_TEXT_(number)
#define SANDBOX_TEXT_(number) #number

enum sandbox_profile {
	SANDBOX_PARSER, /* works on descriptors that it is given; opens no file, has no network */
	SANDBOX_HELPER, /* opens files and has the network, and parses no untrusted file */
};

/* Restrictions that the system may not allow. All others must hold. */
enum sandbox_step {
	SANDBOX_STEP_OOM_SCORE, /* first for the OOM killer: /proc is not mounted, or read-only */
	SANDBOX_STEP_PRIORITY,  /* a lower priority */
	SANDBOX_STEP_USER,      /* a user of its own: needs CAP_SETUID, CAP_SETGID and CAP_KILL */
	SANDBOX_STEP_BOUNDING,  /* no capability for programs it executes: needs CAP_SETPCAP */
	SANDBOX_STEP_COUNT
};

struct sandbox_rules {
	enum sandbox_profile profile;
	const char *name;      /* of the process */
	uint64_t capabilities; /* bits of those that a helper keeps */
	uint32_t uid;          /* of a parser that root starts; 0: it stays root */
	/* 0: not limited */
	uint64_t address_space_max; /* bytes */
	uint64_t file_max;          /* bytes of a file that it writes */
	uint64_t cpu_seconds_max;   /* of its whole life */
	int nice;                   /* -20 to 19 */
	bool only_when_idle;        /* idle class of the CPU and I/O schedulers */
};

/*
 * Restricts the process and reports to the owner, whose sandbox_start() then returns. False: a
 * restriction that must hold is not possible; the owner has the reason, and the process should
 * exit.
 *
 * A process with any profile has no descriptor beside the standard ones and SANDBOX_SOCKET, gains
 * no privileges by executing programs, keeps only the given capabilities, dumps no core, cannot be
 * traced, is first for the OOM killer and is killed when its owner ends. A parser also has no
 * groups, a user of its own, no standard output, and a list of allowed system calls: any other one
 * kills it.
 */
bool sandbox_enter(const struct sandbox_rules *rules) MUST_CHECK;

/* Reads rules->uid from the only argument of a parser's program. False: the arguments are others,
 * which is on standard error; the program should exit with status 2. */
bool sandbox_arguments_parse(struct sandbox_rules *rules, int argc, char **argv) MUST_CHECK;
