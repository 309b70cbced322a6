// SPDX-License-Identifier: Apache-2.0
/*
 * process_image - reference-counted objects that processes share: a program in memory, a cgroup.
 *
 * Each _new() and _reference() is paired with a _release(); the last release frees the object. NULL
 * is accepted by _reference() and _release(). No function fails. Agent thread only.
 */
#pragma once

#include "agent/process/cgroup_internal.h"
#include "agent/process/mappings.h"
#include "agent/process/unwind_fields.h"

/* One program in memory, from exec to exec. Forks share it until one of them maps something. */
struct process_image {
	struct mappings mappings;
	char *exe;               /* path of the program; NULL: not known yet */
	struct unwind_list list; /* written by unwind_lists.c */
	uint64_t counted;        /* written by process.c */
	uint32_t references;     /* private */
};

/* The texts of one cgroup; shared by a process and its forks. */
struct process_cgroup {
	struct cgroup_names names;
	uint32_t references; /* private */
	char *text;          /* private: the memory that `names` borrows from */
};

/* An empty image with one reference, the caller's. */
struct process_image *process_image_new(void);
void process_image_release(struct process_image *image);

static inline struct process_image *process_image_reference(struct process_image *image)
{
	if (image)
		image->references++;
	return image;
}

/*
 * Returns *image for writing. If *image is NULL or shared, it is first replaced by a new image or
 * by a copy that only the caller references; the caller's reference to the shared image is
 * released.
 */
struct process_image *process_image_own(struct process_image **image);

/*
 * A cgroup with one reference, the caller's. `text`: the content of /proc/PID/cgroup; it is copied.
 */
struct process_cgroup *process_cgroup_new(str text);
void process_cgroup_release(struct process_cgroup *cgroup);

static inline struct process_cgroup *process_cgroup_reference(struct process_cgroup *cgroup)
{
	if (cgroup)
		cgroup->references++;
	return cgroup;
}
