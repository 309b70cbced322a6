// SPDX-License-Identifier: Apache-2.0
#include "places.h"

#include "unwind/unwind_build.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

enum { VDSO_BYTES_MAX = 4 * 4096 };

void places_init(struct places *places, struct arena *arena)
{
	*places = (struct places){ .arena = arena };
	*vec_push(arena, &places->pages) = NULL;
}

struct process_places *places_process(struct places *places, uint32_t pid)
{
	for (size_t i = places->processes.len; i > 0; i--)
		if (places->processes.items[i - 1]->pid == pid)
			return places->processes.items[i - 1];

	struct process_places *process = arena_new(places->arena, struct process_places);

	process->pid = pid;
	process->changed = 1;
	*vec_push(places->arena, &places->processes) = process;
	return process;
}

/* Every process on this kernel has the same vdso as this one. */
static int vdso_open(void)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	for (size_t bytes = VDSO_BYTES_MAX; fd >= 0 && image && bytes; bytes -= 4096)
		if (write(fd, image, bytes) == (ssize_t)bytes)
			break;
	return fd;
}

static void module_build_table(struct places *places, struct module *module)
{
	AUTO_FD out = memfd_create("table", MFD_CLOEXEC);
	struct unwind_build_result result = { 0 };
	struct unwind_build_options options = { 0 };
	struct err err = { 0 };

	if (!unwind_build(&options, module->fd, out, &result, &err) ||
	    !unwind_file_open(&module->file, out, &err)) {
		module->why_no_table = unwind_build_reason_names[result.reason];
		return;
	}
	module->table = places->pages.len;
	for (uint32_t i = 0; i < module->file.page_count; i++)
		*vec_push(places->arena, &places->pages) =
			module->file.pages + (size_t)i * UNWIND_PAGE_BYTES;
}

static struct module *places_module(struct places *places, const char *path)
{
	struct err err;

	for (size_t i = 0; i < places->modules.len; i++)
		if (strcmp(places->modules.items[i]->path, path) == 0)
			return places->modules.items[i];

	struct module *module = arena_new(places->arena, struct module);

	module->path = path;
	module->fd = strcmp(path, "[vdso]") == 0 ? vdso_open() : open(path, O_RDONLY | O_CLOEXEC);
	if (module->fd >= 0 && !elf_file_read(&module->elf, module->fd, &err)) {
		close(module->fd);
		module->fd = -1;
	}
	if (module->fd >= 0)
		module_build_table(places, module);
	*vec_push(places->arena, &places->modules) = module;
	return module;
}

static void process_add(struct places *places, struct process_places *process, struct place added)
{
	VEC(struct place) kept = { 0 };
	bool is_in = false;

	for (size_t i = 0; i < process->places.len; i++) {
		struct place old = process->places.items[i], behind = old;

		if (!is_in && old.start >= added.start) {
			*vec_push(places->arena, &kept) = added;
			is_in = true;
		}
		if (old.end <= added.start || old.start >= added.end) {
			*vec_push(places->arena, &kept) = old;
			continue;
		}
		if (old.start < added.start) {
			old.end = added.start;
			*vec_push(places->arena, &kept) = old;
		}
		if (behind.end > added.end) {
			if (!is_in)
				*vec_push(places->arena, &kept) = added;
			is_in = true;
			behind.file_offset += added.end - behind.start;
			behind.start = added.end;
			*vec_push(places->arena, &kept) = behind;
		}
	}
	if (!is_in)
		*vec_push(places->arena, &kept) = added;
	memcpy(&process->places, &kept, sizeof(kept));
	process->changed++;
}

/*
 * The address in the file at which a mapping of code begins. The first page may contain the end of
 * the previous segment as well.
 */
static bool code_address(const struct elf_file *elf, uint64_t offset, uint64_t *ret_address)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (segment->executable && (segment->offset & ~4095ULL) <= offset &&
		    offset < segment->offset + segment->size) {
			*ret_address = segment->address + offset - segment->offset;
			return true;
		}
	}
	return false;
}

static void process_map(struct places *places, const struct capture_event *event)
{
	struct process_places *process = places_process(places, event->pid);
	struct module *module = places_module(places, event->path);
	struct place place = { .start = event->start,
			       .end = event->start + event->len,
			       .file_offset = event->file_offset,
			       .module = module };
	uint64_t address = 0;

	if (module->fd >= 0 && code_address(&module->elf, event->file_offset, &address))
		place.bias = event->start - address;
	process_add(places, process, place);
}

static void process_copy(struct places *places, const struct capture_event *event)
{
	struct process_places *parent = places_process(places, event->parent_pid);
	struct process_places *child = places_process(places, event->pid);

	child->places.len = child->places.cap = 0;
	for (size_t i = 0; i < parent->places.len; i++)
		*vec_push(places->arena, &child->places) = parent->places.items[i];
	child->changed++;
}

void places_apply(struct places *places, const struct capture_event *event)
{
	struct process_places *process;

	switch (event->kind) {
	case CAPTURE_MAPPING:
		process_map(places, event);
		break;
	case CAPTURE_FORK:
		process_copy(places, event);
		break;
	case CAPTURE_EXEC:
		process = places_process(places, event->pid);
		process->places.len = process->places.cap = 0;
		process->changed++;
		break;
	case CAPTURE_SAMPLE:
		break;
	}
}

const struct unwind_process *places_list(struct places *places, struct process_places *process)
{
	size_t count = process->places.len;

	if (process->listed == process->changed)
		return &process->list;

	size_t each = UNWIND_PAGE_BYTES / sizeof(struct unwind_mapping);
	size_t page_count = (count + each - 1) / each;
	struct unwind_mapping *list =
		arena_array(places->arena, struct unwind_mapping, page_count * each);

	process->list = (struct unwind_process){ .place = places->pages.len * UNWIND_PAGE_BYTES,
						 .count = (uint32_t)count };
	for (size_t i = 0; i < count; i++) {
		const struct place *place = &process->places.items[i];
		bool is_file = place->module->fd >= 0;

		list[i] = (struct unwind_mapping){
			.start = place->start,
			.end = place->end,
			.bias = place->bias,
			.table = (uint32_t)place->module->table,
			.flags = is_file ? 0 : UNWIND_MAPPING_ANONYMOUS,
		};
	}
	for (size_t i = 0; i < page_count; i++)
		*vec_push(places->arena, &places->pages) = (const uint8_t *)(list + i * each);
	process->listed = process->changed;
	return &process->list;
}

const struct place *places_find(const struct process_places *process, uint64_t address)
{
	for (size_t i = 0; i < process->places.len; i++) {
		const struct place *place = &process->places.items[i];

		if (address >= place->start && address < place->end)
			return place;
	}
	return NULL;
}
