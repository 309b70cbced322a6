// SPDX-License-Identifier: Apache-2.0
/*
 * process_image - what processes share: a program in memory, a cgroup. Counted references.
 */
#pragma once

#include "cgroup.h"
#include "mappings.h"
#include "unwind_list.h"

/* One program in memory, from exec to exec. Shared by forks until one of them maps something. */
struct process_image {
	struct mappings mappings;
	char *exe;               /* NULL: not known (yet) */
	struct unwind_list list; /* of unwind_lists.c */
	uint32_t references;     /* private */
};

/* Texts of one cgroup; shared by the processes in it. */
struct process_cgroup {
	struct cgroup_names names;
	uint32_t references; /* private */
	char *text;
};

struct process_image *process_image_new(void);
void process_image_give(struct process_image *image);

static inline struct process_image *process_image_share(struct process_image *image)
{
	if (image)
		image->references++;
	return image;
}

/* For writing: what is shared since a fork is copied first. NULL becomes an empty one. */
struct process_image *process_image_own(struct process_image **image);

/* `text` is that of /proc/PID/cgroup. */
struct process_cgroup *process_cgroup_new(str text);
void process_cgroup_release(struct process_cgroup *cgroup);

static inline struct process_cgroup *process_cgroup_share(struct process_cgroup *cgroup)
{
	if (cgroup)
		cgroup->references++;
	return cgroup;
}
