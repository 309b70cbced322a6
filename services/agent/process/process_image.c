// SPDX-License-Identifier: Apache-2.0
#include "agent/process/process_image.h"

#include "base/heap.h"

struct process_image *process_image_new(void)
{
	struct process_image *image = heap_new(struct process_image);

	image->references = 1;
	return image;
}

void process_image_release(struct process_image *image)
{
	if (!image || --image->references)
		return;
	mappings_done(&image->mappings);
	free(image->exe);
	free(image);
}

struct process_image *process_image_own(struct process_image **image)
{
	struct process_image *shared = *image;

	if (shared && shared->references == 1)
		return shared;
	*image = process_image_new();
	if (shared) {
		mappings_copy(&(*image)->mappings, &shared->mappings);
		(*image)->exe = shared->exe ? heap_str(str_from(shared->exe)) : NULL;
		process_image_release(shared);
	}
	return *image;
}

struct process_cgroup *process_cgroup_new(str text)
{
	struct process_cgroup *cgroup = heap_new(struct process_cgroup);

	cgroup->references = 1;
	cgroup->text = heap_str(text);
	cgroup->names = cgroup_names_of(str_from(cgroup->text));
	return cgroup;
}

void process_cgroup_release(struct process_cgroup *cgroup)
{
	if (!cgroup || --cgroup->references)
		return;
	free(cgroup->text);
	free(cgroup);
}
