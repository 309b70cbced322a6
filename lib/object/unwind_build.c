#include "unwind_build.h"

#include "base/hash.h"
#include "object/elf_sections.h"
#include "unwind_cfi.h"
#include "unwind_writer.h"

#include <elf.h>
#include <errno.h>

const char *const unwind_build_reason_names[UNWIND_BUILD_REASON_COUNT] = {
	[UNWIND_BUILT] = "built",
	[UNWIND_NO_ROWS] = "no_rows",
	[UNWIND_MALFORMED] = "malformed",
	[UNWIND_TOO_LARGE] = "too_large",
	[UNWIND_WRONG_MACHINE] = "wrong_machine",
	[UNWIND_IO] = "io",
};

struct work {
	int fd;
	uint64_t memory_max;
	struct arena *arena;
	struct elf_file elf;
	struct elf_sections sections;
	const struct unwind_machine *machine;
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

/* Addresses count from where the file's code begins; it must be less than 4 GB of it. */
static bool code_find(struct work *work, struct err *err)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < work->elf.segment_count; i++) {
		const struct elf_segment *segment = &work->elf.segments[i];

		if (!segment->executable || segment->size == 0)
			continue;
		if (segment->address < low)
			low = segment->address;
		if (segment->address + segment->size > high)
			high = segment->address + segment->size;
	}
	if (high > low && high - low > UINT32_MAX)
		return err_set(err, ERR_LIMIT, "its code reaches over 4 GB");
	unwind_rows_init(&work->rows, work->arena, high > low ? low : 0);
	return true;
}

static bool eh_frame_read(struct work *work, struct err *err)
{
	const struct elf_section *section = elf_sections_find(&work->sections, STR(".eh_frame"));
	struct unwind_cfi cfi = {
		.machine = work->machine,
		.elf = &work->elf,
		.section = { .is_eh = true, .word_bytes = 8 },
		.memory_max = work->memory_max,
	};

	if (!elf_section_has_bytes(section))
		return true;
	cfi.section.address = section->address;
	return elf_section_read(work->fd, section, UNWIND_SECTION_MAX, work->arena,
				&cfi.section.bytes, err) &&
	       unwind_cfi_rows(&cfi, work->arena, &work->rows, err);
}

static bool rows_find(struct work *work, enum unwind_build_reason *ret_reason, struct err *err)
{
	if (!elf_file_read(&work->elf, work->fd, err) ||
	    !elf_sections_read(work->fd, work->arena, &work->sections, err))
		return false;
	work->machine = machine_of(&work->elf);
	if (!work->machine) {
		*ret_reason = UNWIND_WRONG_MACHINE;
		return err_set(err, ERR_INVALID, "of a machine whose stacks are not walked");
	}
	if (!code_find(work, err) || !eh_frame_read(work, err))
		return false;
	if (work->rows.rows.len == 0) {
		*ret_reason = UNWIND_NO_ROWS;
		return err_set(err, ERR_NOT_FOUND, "it has no unwind rows");
	}
	return true;
}

static bool write_all(int fd, str bytes, struct err *err)
{
	while (bytes.len) {
		ssize_t n = write(fd, bytes.ptr, bytes.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "write the table of unwind rows");
		bytes = str_skip(bytes, (size_t)n);
	}
	return true;
}

static bool file_write(struct work *work, int fd, struct unwind_build_result *result,
		       struct err *err)
{
	struct unwind_file_header header = { .version = UNWIND_FILE_VERSION };
	str pages;

	if (!unwind_pages_write(&work->rows, work->arena, &pages, err))
		return false;
	memcpy(header.magic, UNWIND_FILE_MAGIC, sizeof(header.magic));
	header.page_count = (uint32_t)(pages.len / UNWIND_PAGE_BYTES);
	header.checksum = hash_64(pages);
	result->rows = work->rows.rows.len;
	result->rules = work->rows.rules.len;
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
	struct work *work = arena_new(&arena, struct work);
	struct unwind_build_result result = { .reason = UNWIND_BUILT };

	*work = (struct work){
		.fd = elf_fd,
		.arena = &arena,
		.memory_max = options->memory_max ? options->memory_max : UNWIND_BUILD_MEMORY_MAX,
	};

	bool ok = rows_find(work, &result.reason, err) && file_write(work, out_fd, &result, err);

	if (!ok && result.reason == UNWIND_BUILT)
		result.reason = reason_of(err);
	*ret = result;
	return ok;
}
