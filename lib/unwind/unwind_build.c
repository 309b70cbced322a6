// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_build.h"

#include "base/hash.h"
#include "elf/elf_sections.h"
#include "unwind/unwind_call_internal.h"
#include "unwind/unwind_cfi_internal.h"
#include "unwind/unwind_fixed_internal.h"
#include "unwind/unwind_follow_internal.h"
#include "unwind/unwind_go_internal.h"
#include "unwind/unwind_writer_internal.h"

#include <elf.h>
#include <errno.h>

const char *const unwind_build_reason_names[UNWIND_BUILD_REASON_COUNT] = {
	UNWIND_BUILD_REASON_NAMES
};

struct table_build {
	int fd;
	uint64_t memory_max;
	struct arena *arena;
	struct elf_file elf;
	struct elf_sections sections;
	const struct unwind_machine *machine;
	struct elf_code *code;
	struct unwind_ranges ranges;
	struct unwind_rows rows;
};

static const struct unwind_machine *machine_of(const struct elf_file *elf)
{
	static const struct unwind_machine x86_64 = { 6, 7, 16, false };
	static const struct unwind_machine arm64 = { 29, 31, 30, true };

	if (!elf->is_wide)
		return NULL;
	if (elf->machine == EM_X86_64)
		return &x86_64;
	return elf->machine == EM_AARCH64 ? &arm64 : NULL;
}

/* Go code without rows keeps the frame pointer. */
static void go_fill(struct table_build *build)
{
	const struct elf_section *text = elf_sections_find(&build->sections, STR(".text"));

	if (elf_section_has_bytes(text))
		unwind_ranges_add(&build->ranges, text->address, text->size,
				  unwind_fixed(UNWIND_SOURCE_FIXED, UNWIND_FIXED_FRAME_POINTER));
}

/* Adds the ranges of all sources. */
static bool ranges_list(struct table_build *build, bool *ret_is_go, struct err *err)
{
	struct elf_code *code = build->code;
	struct unwind_cfi_file cfi_file = {
		.fd = build->fd,
		.elf = &build->elf,
		.sections = &build->sections,
		.machine = build->machine,
	};
	struct unwind_go go = {
		.sections = &build->sections,
		.machine = build->machine,
		.code = code,
	};

	if (!unwind_ranges_init(&build->ranges, &build->elf, build->memory_max, build->arena, err))
		return false;
	unwind_fixed_init(&build->ranges, build->machine);
	if (!unwind_go_list(&go, &build->ranges, ret_is_go, err) ||
	    !unwind_cfi_file_list(&cfi_file, &build->ranges, err))
		return false;

	size_t described_count = unwind_ranges_count(&build->ranges);
	/* A C library, or a static program with one, has no unwind information at all if it does
	 * not even describe the return from signals. */
	bool is_bare = build->elf.entry && !cfi_file.has_signal && !*ret_is_go &&
		       !build->elf.has_interpreter;
	struct unwind_fixed_search search = {
		.sections = &build->sections,
		.machine = build->machine,
		.code = code,
		.wants_signal = is_bare,
	};
	struct unwind_follow follow = { .fd = build->fd, .sections = &build->sections };

	unwind_fixed_list(&search, &build->ranges);
	if (*ret_is_go && described_count == 0)
		go_fill(build);
	return !is_bare || build->machine->has_link_register ||
	       unwind_follow_list(&follow, &build->ranges, err);
}

static bool rows_find(struct table_build *build, enum unwind_build_reason *ret_reason,
		      struct err *err)
{
	bool is_go;

	if (!elf_file_read(&build->elf, build->fd, err) ||
	    !elf_sections_read(build->fd, build->arena, &build->sections, err))
		return false;
	build->machine = machine_of(&build->elf);
	if (!build->machine) {
		*ret_reason = UNWIND_WRONG_MACHINE;
		return err_set(err, ERR_INVALID, "unsupported machine: neither x86-64 nor arm64");
	}
	build->code = arena_new(build->arena, struct elf_code);
	build->code->fd = build->fd;
	build->code->elf = &build->elf;
	if (!ranges_list(build, &is_go, err) ||
	    !unwind_ranges_rows(&build->ranges, &build->rows, err))
		return false;
	unwind_calls_add(&(struct unwind_calls){ build->machine, build->code }, &build->ranges,
			 &build->rows);
	if (build->rows.rows.len == 0) {
		*ret_reason = UNWIND_NO_ROWS;
		return err_set(err, ERR_NOT_FOUND, "the file has no unwind information");
	}
	build->rows.flags = is_go ? UNWIND_TABLE_GO : 0;
	return true;
}

static bool write_all(int fd, str bytes, struct err *err)
{
	while (bytes.len) {
		ssize_t n = write(fd, bytes.ptr, bytes.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "write the unwind table");
		bytes = str_skip(bytes, (size_t)n);
	}
	return true;
}

static bool file_write(struct table_build *build, int fd, struct unwind_build_result *result,
		       struct err *err)
{
	struct unwind_file_header header = { .version = UNWIND_FILE_VERSION };
	str pages;

	if (!unwind_pages_write(&build->rows, build->arena, &pages, err))
		return false;
	memcpy(header.magic, UNWIND_FILE_MAGIC, sizeof(header.magic));
	header.page_count = (uint32_t)(pages.len / UNWIND_PAGE_BYTES);
	header.checksum = hash_64(pages);
	result->rows = build->rows.rows.len;
	result->rules = build->rows.rules.len;
	result->bytes = sizeof(header) + pages.len;
	return write_all(fd, (str){ (const char *)&header, sizeof(header) }, err) &&
	       write_all(fd, pages, err);
}

static enum unwind_build_reason reason_of(const struct err *err)
{
	if (err->code == ERR_INVALID)
		return UNWIND_MALFORMED;
	return err->code == ERR_LIMIT ? UNWIND_TOO_LARGE : UNWIND_IO;
}

bool unwind_build(const struct unwind_build_options *options, int elf_fd, int out_fd,
		  struct unwind_build_result *ret, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct table_build *build = arena_new(&arena, struct table_build);
	struct unwind_build_result result = { .reason = UNWIND_BUILT };

	*build = (struct table_build){
		.fd = elf_fd,
		.arena = &arena,
		.memory_max = options->memory_max ? options->memory_max : UNWIND_BUILD_MEMORY_MAX,
	};

	bool ok = rows_find(build, &result.reason, err) && file_write(build, out_fd, &result, err);

	if (!ok && result.reason == UNWIND_BUILT)
		result.reason = reason_of(err);
	*ret = result;
	return ok;
}
