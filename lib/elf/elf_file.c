// SPDX-License-Identifier: Apache-2.0
/*
 * libelf reads the headers. Notes are parsed by base/reader.h, because an attacker controls their
 * layout most freely. Every note segment is read: executables of Debian have the build id in the
 * second one.
 */
#include "elf/elf_file.h"

#include "base/reader.h"

#include <gelf.h>
#include <libelf.h>

/* The kernel maps whole pages, so a mapped segment includes all of its first and last page. */
enum { PAGE_BYTES = 4096 };

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

static void set_build_id(struct elf_file *elf, str id)
{
	if (id.len == 0 || id.len > sizeof(elf->build_id))
		return;
	memcpy(elf->build_id, id.ptr, id.len);
	elf->build_id_len = id.len;
}

/* Notes are padded to 4 bytes, and to 8 in segments that are aligned to 8 (GNU property notes). */
static void read_notes(struct elf_file *elf, str notes, uint64_t align)
{
	struct reader r = reader_of(notes);

	while (!elf->build_id_len && reader_left(&r) >= 12) {
		uint32_t name_len = reader_u32(&r);
		uint32_t desc_len = reader_u32(&r);
		uint32_t type = reader_u32(&r);
		str name = reader_bytes(&r, name_len);
		uint64_t name_pad = align_up(12 + (uint64_t)name_len, align) - 12 - name_len;

		reader_bytes(&r, (size_t)name_pad);

		str desc = reader_bytes(&r, desc_len);

		if (r.failed)
			return;
		if (type == NT_GNU_BUILD_ID && str_eq(name, ((str){ "GNU", 4 })))
			set_build_id(elf, desc);

		/* The last note need not be padded. */
		uint64_t pad = align_up(desc_len, align) - desc_len;

		reader_bytes(&r, pad < reader_left(&r) ? (size_t)pad : reader_left(&r));
	}
}

static void read_notes_at(struct elf_file *elf, Elf *handle, uint64_t offset, uint64_t size,
			  uint64_t align)
{
	if (offset > INT64_MAX || size == 0)
		return;
	if (size > ELF_NOTE_BYTES_MAX)
		size = ELF_NOTE_BYTES_MAX;

	Elf_Data *data = elf_getdata_rawchunk(handle, (int64_t)offset, size, ELF_T_BYTE);

	if (data && data->d_buf)
		read_notes(elf, (str){ data->d_buf, data->d_size }, align == 8 ? 8 : 4);
}

static struct elf_segment segment_of(const GElf_Phdr *header)
{
	return (struct elf_segment){ .offset = header->p_offset,
				     .size = header->p_filesz,
				     .address = header->p_vaddr,
				     .executable = header->p_flags & PF_X };
}

static bool add_segment(struct elf_file *elf, const GElf_Phdr *header, struct err *err)
{
	uint64_t end;

	if (elf->segment_count == ELF_SEGMENTS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d loaded segments", ELF_SEGMENTS_MAX);
	if (__builtin_add_overflow(header->p_offset, header->p_filesz, &end) ||
	    __builtin_add_overflow(header->p_vaddr, header->p_filesz, &end))
		return err_set(err, ERR_INVALID, "a segment ends past the last address");
	elf->segments[elf->segment_count++] = segment_of(header);
	return true;
}

static bool read_segments(struct elf_file *elf, Elf *handle, struct err *err)
{
	size_t count;

	if (elf_getphdrnum(handle, &count) != 0)
		return err_set(err, ERR_INVALID, "program headers: %s", elf_errmsg(-1));
	for (size_t i = 0; i < count && i < ELF_HEADERS_MAX; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(handle, (int)i, &header))
			return err_set(err, ERR_INVALID, "program header %zu: %s", i,
				       elf_errmsg(-1));
		if (header.p_type == PT_LOAD && !add_segment(elf, &header, err))
			return false;
		if (header.p_type == PT_INTERP)
			elf->has_interpreter = true;
		if (header.p_type == PT_GNU_EH_FRAME)
			elf->unwind_header = segment_of(&header);
		if (header.p_type == PT_NOTE && !elf->build_id_len)
			read_notes_at(elf, handle, header.p_offset, header.p_filesz,
				      header.p_align);
	}
	return true;
}

/* Object files and the modules of some kernels have note sections, but no note segment. */
static void read_note_sections(struct elf_file *elf, Elf *handle)
{
	Elf_Scn *section = NULL;
	size_t seen = 0;

	while (!elf->build_id_len && seen++ < ELF_HEADERS_MAX &&
	       (section = elf_nextscn(handle, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE)
			read_notes_at(elf, handle, header.sh_offset, header.sh_size,
				      header.sh_addralign);
	}
}

static bool read_handle(struct elf_file *ret_elf, Elf *handle, struct err *err)
{
	struct elf_file elf = { 0 };
	GElf_Ehdr header;

	if (!handle)
		return err_set(err, ERR_INVALID, "%s", elf_errmsg(-1));
	if (elf_kind(handle) != ELF_K_ELF || !gelf_getehdr(handle, &header))
		return err_set(err, ERR_INVALID, "not an ELF file");
	if (header.e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(err, ERR_INVALID, "big-endian ELF files are not supported");
	elf.machine = header.e_machine;
	elf.entry = header.e_entry;
	elf.is_wide = header.e_ident[EI_CLASS] == ELFCLASS64;
	if (!read_segments(&elf, handle, err))
		return false;
	read_note_sections(&elf, handle);
	*ret_elf = elf;
	return true;
}

bool elf_file_read(struct elf_file *ret_elf, int fd, struct err *err)
{
	elf_version(EV_CURRENT);

	/* Read, not mapped: if the file shrinks meanwhile, a mapping would raise SIGBUS. */
	Elf *handle = elf_begin(fd, ELF_C_READ, NULL);
	bool ok = read_handle(ret_elf, handle, err);

	elf_end(handle);
	return ok;
}

bool elf_file_read_image(struct elf_file *ret_elf, str image, struct err *err)
{
	elf_version(EV_CURRENT);

	/* elf_memory() takes a non-const pointer, but read calls do not write. */
	Elf *handle = elf_memory((char *)(uintptr_t)image.ptr, image.len);
	bool ok = read_handle(ret_elf, handle, err);

	elf_end(handle);
	return ok;
}

static bool segment_holds(const struct elf_segment *segment, uint64_t offset, uint64_t slack)
{
	uint64_t first = segment->offset & ~(slack - 1);
	uint64_t last = segment->offset + segment->size;

	return offset >= first && offset < align_up(last, slack);
}

bool elf_file_address(const struct elf_segment *segments, size_t count, uint64_t offset,
		      uint64_t *ret_address)
{
	/* First by the exact range, then by pages; executable segments first. */
	for (uint64_t slack = 1; slack <= PAGE_BYTES; slack *= PAGE_BYTES)
		for (int want = 1; want >= 0; want--)
			for (size_t i = 0; i < count; i++) {
				if (segments[i].executable != (bool)want ||
				    !segment_holds(&segments[i], offset, slack))
					continue;
				*ret_address = segments[i].address + (offset - segments[i].offset);
				return true;
			}
	return false;
}

bool elf_file_offset(const struct elf_file *elf, uint64_t address, uint64_t *ret_offset,
		     uint64_t *ret_left)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (address < segment->address || address - segment->address >= segment->size)
			continue;
		*ret_offset = segment->offset + (address - segment->address);
		*ret_left = segment->size - (address - segment->address);
		return true;
	}
	return false;
}
