// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_compression.h"

#include "base/reader.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_MAX = 24 };

bool elf_compression_read(const struct elf_section *section, bool is_wide, str *bytes,
			  struct elf_compression *ret_compression)
{
	struct reader r = reader_of(*bytes);

	if (section->flags & SHF_COMPRESSED) {
		ret_compression->type = reader_u32(&r);
		if (is_wide)
			reader_u32(&r); /* reserved */
		ret_compression->len = is_wide ? reader_u64(&r) : reader_u32(&r);
		reader_bytes(&r, is_wide ? 8 : 4); /* alignment */
	} else if (str_starts_with(section->name, STR(".zdebug_"))) {
		reader_bytes(&r, 4); /* "ZLIB" */
		ret_compression->type = ELFCOMPRESS_ZLIB;
		ret_compression->len = __builtin_bswap64(reader_u64(&r));
	} else {
		return false;
	}
	if (r.failed)
		ret_compression->type = 0;
	*bytes = r.rest;
	return true;
}

static bool is_compressed(const struct elf_section *section)
{
	return elf_section_has_bytes(section) && ((section->flags & SHF_COMPRESSED) ||
						  str_starts_with(section->name, STR(".zdebug_")));
}

/* Add what the section claims to unpack to; a header that is malformed claims nothing, since it
 * will not be unpacked. */
static bool claim_add(int fd, const struct elf_section *section, bool is_wide, uint64_t *sum,
		      struct err *err)
{
	struct elf_compression compression = { 0 };
	char room[HEADER_MAX];
	size_t len = section->size < sizeof(room) ? (size_t)section->size : sizeof(room);
	ssize_t n = pread(fd, room, len, (off_t)section->offset);
	str bytes = { room, n > 0 ? (size_t)n : 0 };

	if (n < 0)
		return err_errno(err, "read a compressed section");
	if (elf_compression_read(section, is_wide, &bytes, &compression) && compression.type &&
	    __builtin_add_overflow(*sum, compression.len, sum))
		*sum = UINT64_MAX;
	return true;
}

bool elf_compression_check(int fd, const struct elf_sections *sections, struct err *err)
{
	uint64_t sum = 0;
	struct stat stat;

	if (fstat(fd, &stat))
		return err_errno(err, "stat a file with compressed sections");
	for (size_t i = 0; i < sections->len && sum != UINT64_MAX; i++)
		if (is_compressed(&sections->items[i]) &&
		    !claim_add(fd, &sections->items[i], sections->is_wide, &sum, err))
			return false;
	return sum <= UNPACK_FREE_BYTES || sum / UNPACK_RATIO_MAX < (uint64_t)stat.st_size ||
	       err_set(err, ERR_LIMIT, "the sections of a file of %ju bytes unpack to %ju bytes",
		       (uintmax_t)stat.st_size, (uintmax_t)sum);
}
