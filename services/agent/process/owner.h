// SPDX-License-Identifier: Apache-2.0
/*
 * owner - whom the places are counted for that a process takes in the agent's tables.
 *
 * The owner is one party that the host's administrator knows, and that a process cannot change:
 * the login user of the process's cgroup (user-1000.slice), else its container, else the user that
 * it runs as, in each systemd unit. Not the cgroup itself: a user may make cgroups of any name
 * below an own slice. Not the user id in a user namespace: a user may have 65,536 of these there;
 * it is the user who made the namespace. Agent thread only.
 */
#pragma once

#include "base/shares.h"

struct process;

enum owner_class {
	OWNER_ROOT, /* processes of root, outside of containers and login sessions of others */
	OWNER_USER,
	OWNER_CONTAINER,
	OWNER_CLASS_COUNT
};

extern const char *const owner_class_names[OWNER_CLASS_COUNT];

/*
 * The owner of the process. It is determined from its cgroup and /proc/PID, and kept until its next
 * exec, or until its cgroup is read again. If the process is gone, it is the owner of its parent;
 * if that is gone too, the owner that was known before; else a user whom no process has.
 */
struct share_owner owner_of_process(struct process *process);
