// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/executable_file.h"
#include "agent/unwind/unwind_files_internal.h"
#include "base/heap.h"

void executable_set_add(struct executable_set *set, struct executable *executable)
{
	if (set->len == set->cap) {
		set->cap = set->cap ? set->cap * 2 : 32;
		set->items = heap_resize(set->items, set->cap, sizeof(struct executable *));
	}
	set->items[set->len++] = executable;
}

void executable_set_remove(struct executable_set *set, const struct executable *executable)
{
	for (size_t i = 0; i < set->len; i++)
		if (set->items[i] == executable) {
			set->items[i] = set->items[--set->len];
			return;
		}
}

int unwind_files_remove(struct unwind_files *files, struct executable *executable)
{
	if (!executable->unwind.has_file)
		return -1;
	executable->unwind.has_file = false;
	executable_set_remove(&files->open, executable);
	return executable->unwind.fd;
}

void unwind_files_close(struct unwind_files *files, struct executable *executable)
{
	int fd = unwind_files_remove(files, executable);

	if (fd >= 0)
		close(fd);
}

static void evict(struct unwind_files *files, struct executable *executable)
{
	unwind_files_close(files, executable);
	executable_offer_again(executable, EXECUTABLE_SINK_UNWIND);
}

static void evict_oldest(struct unwind_files *files)
{
	struct executable *oldest = files->open.items[0];

	for (size_t i = 1; i < files->open.len; i++)
		if (files->open.items[i]->unwind.opened < oldest->unwind.opened)
			oldest = files->open.items[i];
	evict(files, oldest);
}

void unwind_files_add(struct unwind_files *files, struct executable *executable, int fd)
{
	if (files->open.len >= UNWIND_FILES_OPEN_MAX)
		evict_oldest(files);
	executable->unwind.fd = fd;
	executable->unwind.has_file = true;
	executable->unwind.opened = ++files->opened;
	executable_set_add(&files->open, executable);
}

void unwind_files_open_vdso(struct unwind_files *files, struct executable *executable)
{
	int fd = executable_file_copy_vdso();

	if (fd >= 0)
		unwind_files_add(files, executable, fd);
}

void unwind_files_close_unmapped(struct unwind_files *files)
{
	for (size_t i = files->open.len; i > 0; i--) {
		struct executable *executable = files->open.items[i - 1];

		if (!executable->references && executable->unwind.state == UNWIND_TABLE_NONE)
			evict(files, executable);
	}
}

void unwind_files_done(struct unwind_files *files)
{
	while (files->open.len)
		unwind_files_close(files, files->open.items[0]);
	free(files->open.items);
	*files = (struct unwind_files){ 0 };
}
