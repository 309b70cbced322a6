// SPDX-License-Identifier: Apache-2.0
/*
 * debug_extract - for any file: the extract is not longer than the file and its headers, can be
 * read to its end, has the same sections in the same order, and has the same rank. With the file as
 * its own package, it has its sections first and its .debug_ sections again.
 */
#include "elf/debug_extract.h"
#include "elf/debug_rank.h"

#include <assert.h>
#include <sys/mman.h>

enum { ROOM = 4096, HEADERS_MAX = 64 + DEBUG_SEGMENTS_MAX * 64, PADDING_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void extract_write(const struct debug_extract *extract, int to, struct arena *arena,
			  struct elf_sections *ret_sections)
{
	char room[ROOM];
	struct err err;
	size_t n;

	for (uint64_t at = 0; at < extract->size; at += n) {
		assert(debug_extract_read(extract, at, room, sizeof(room), &n, &err));
		assert(n > 0 && write(to, room, n) == (ssize_t)n);
	}
	assert(elf_sections_read(to, arena, ret_sections, &err));
}

static void check_extract(int fd, const struct elf_sections *sections,
			  const struct debug_extract *extract)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD to = memfd_create("extract", MFD_CLOEXEC);
	struct elf_sections kept;

	extract_write(extract, to, &arena, &kept);
	assert(kept.len == sections->len);
	for (size_t i = 0; i < kept.len; i++)
		assert(kept.items[i].address == sections->items[i].address &&
		       kept.items[i].size == sections->items[i].size);
	assert(debug_contents_of(to, &kept).rank == debug_contents_of(fd, sections).rank);
}

static void check_package(int fd, const struct elf_sections *sections)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD to = memfd_create("extract", MFD_CLOEXEC);
	const struct debug_package package = { .fd = fd, .sections = *sections };
	struct debug_extract extract;
	struct elf_sections kept;
	struct err err;

	if (!debug_extract_plan(&extract, fd, sections, &package, &arena, &err))
		return;
	extract_write(&extract, to, &arena, &kept);
	assert(kept.len >= sections->len);
	for (size_t i = sections->len; i < kept.len; i++) {
		const struct elf_section *own = elf_sections_find(sections, kept.items[i].name);

		assert(own && str_starts_with(own->name, STR(".debug_")));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = memfd_create("elf", MFD_CLOEXEC);
	struct elf_sections sections;
	struct debug_extract extract;
	struct err err;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    !elf_sections_read(fd, &arena, &sections, &err) ||
	    !debug_extract_plan(&extract, fd, &sections, NULL, &arena, &err))
		return 0;
	assert(extract.size <= size + HEADERS_MAX + sections.len * (PADDING_MAX + PADDING_MAX));
	check_extract(fd, &sections, &extract);
	check_package(fd, &sections);
	return 0;
}
