// SPDX-License-Identifier: Apache-2.0
/*
 * process_image - reference-counted objects that processes share: a program in memory, a cgroup.
 *
 * The last release frees the object. Agent thread only.
 */
#pragma once

#include "agent/process/cgroup_internal.h"
#include "agent/process/mappings.h"
#include "agent/process/unwind_fields.h"

/* One program in memory, from exec to exec. Forks share it until one of them maps something. */
struct process_image {
	struct mappings mappings;
	char *exe;               /* path of the program; NULL: not known yet */
	struct unwind_list list; /* of unwind_lists.c */
	uint32_t references;     /* private */
};

/* The texts of one cgroup; shared by a process and its forks. */
struct process_cgroup {
	struct cgroup_names names;
	uint32_t references; /* private */
	char *text;
};

struct process_image *process_image_new(void);
void process_image_release(struct process_image *image);

static inline struct process_image *process_image_reference(struct process_image *image)
{
	if (image)
		image->references++;
	return image;
}

/* Returns *image for writing: copies it first if it is shared, and creates it if it is NULL. */
struct process_image *process_image_own(struct process_image **image);

/* `text`: the content of /proc/PID/cgroup; it is copied. */
struct process_cgroup *process_cgroup_new(str text);
void process_cgroup_release(struct process_cgroup *cgroup);

static inline struct process_cgroup *process_cgroup_reference(struct process_cgroup *cgroup)
{
	if (cgroup)
		cgroup->references++;
	return cgroup;
}
