// SPDX-License-Identifier: Apache-2.0
#include "agent/process/executable_file.h"

#include "base/heap.h"
#include "elf/htlhash.h"

#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>

enum { VDSO_BYTES_MAX = 1 << 16 };

static void copy_from_elf(struct executable *executable, const struct elf_file *elf)
{
	static const char digits[] = "0123456789abcdef";
	size_t bytes = elf->segment_count * sizeof(struct elf_segment);
	struct elf_segment *segments = heap_zeroed(bytes + 1, 1);

	memcpy(segments, elf->segments, bytes);
	executable->segments = segments;
	executable->segment_count = elf->segment_count;
	for (size_t i = 0; i < elf->build_id_len; i++) {
		executable->build_id[2 * i] = digits[elf->build_id[i] >> 4];
		executable->build_id[2 * i + 1] = digits[elf->build_id[i] & 15];
	}
	executable->build_id[2 * elf->build_id_len] = 0;
}

static void set_hash(struct executable *executable, const htlhash *hash)
{
	snprintf(executable->build_id, sizeof(executable->build_id), "htlhash:%.*s",
		 HTLHASH_HEX_LEN, hash->hex);
}

bool executable_file_read(struct executable *executable, int fd, struct err *err)
{
	struct elf_file elf = { 0 };
	htlhash hash;

	if (!elf_file_read(&elf, fd, err) || !htlhash_of_fd(fd, &hash, err))
		return false;
	copy_from_elf(executable, &elf);
	memcpy(executable->hash, hash.hex, sizeof(executable->hash));
	if (!elf.build_id_len)
		set_hash(executable, &hash);
	return true;
}

/* The readable length of the vdso: its mapping in /proc/self/maps. */
static size_t vdso_len(uintptr_t start)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	size_t len = 0;

	while (maps && !len && fgets(line, sizeof(line), maps)) {
		str rest = str_from(line);
		str from = str_cut(&rest, '-'), to = str_cut(&rest, ' ');
		uint64_t first, last;

		if (str_hex_to_u64(from, &first) && str_hex_to_u64(to, &last) && first == start)
			len = (size_t)(last - first);
	}
	if (maps)
		fclose(maps);
	return len < VDSO_BYTES_MAX ? len : VDSO_BYTES_MAX;
}

bool executable_file_read_vdso(struct executable *executable, struct err *err)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	size_t len = start ? vdso_len(start) : 0;
	struct elf_file elf = { 0 };

	if (!len)
		return err_set(err, ERR_NOT_FOUND, "this kernel provides no vdso");
	if (!elf_file_read_image(&elf, (str){ (const char *)start, len }, err))
		return false;
	copy_from_elf(executable, &elf);
	return true;
}

int executable_file_copy_vdso(void)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	size_t len = start ? vdso_len(start) : 0;
	AUTO_FD fd = memfd_create("vdso", MFD_CLOEXEC);

	if (!len || fd < 0 || write(fd, (const char *)start, len) != (ssize_t)len)
		return -1;
	return fd_take(&fd);
}
