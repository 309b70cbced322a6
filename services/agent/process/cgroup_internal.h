// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup - parses /proc/PID/cgroup: path, container, systemd unit. Pure: any thread.
 *
 * Supports cgroup v1, v2 and hybrid hosts; docker, containerd, cri-o, podman, lxc and kubernetes
 * with either cgroup driver. All texts borrow from the input.
 */
#pragma once

#include "base/str.h"

struct cgroup_names {
	str path;         /* "/" if no line has a longer path */
	str container_id; /* 64 hex digits, or the name of an lxc container; may be empty */
	str unit;         /* as systemd names it, "nginx.service"; empty in a container's scope */
	str domain;       /* who answers for the processes: a login user's slice, else the
			     container; empty: the user of each process */
};

/* `text`: the content of /proc/PID/cgroup. Cannot fail: malformed lines are skipped. */
struct cgroup_names cgroup_names_of(str text);
