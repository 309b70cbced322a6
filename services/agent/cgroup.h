// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup - what /proc/PID/cgroup says: path, container, systemd unit. Pure.
 *
 * Knows cgroup v1, v2 and hybrid hosts; docker, containerd, cri-o, podman, lxc and kubernetes with
 * either cgroup driver. All texts borrow from the input.
 */
#pragma once

#include "base/str.h"

struct cgroup_names {
	str path;         /* "/" where nothing says more */
	str container_id; /* 64 hex digits, or the name of an lxc container; may be empty */
	str unit;         /* as systemd names it, "nginx.service"; empty in a container's scope */
};

struct cgroup_names cgroup_names_of(str text);
