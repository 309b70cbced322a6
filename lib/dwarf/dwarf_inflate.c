// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_inflate.h"

#include "elf/elf_compression.h"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

static bool zlib_inflate(str bytes, char *room, size_t len)
{
	z_stream stream = { 0 };
	size_t have = 0;
	int state = inflateInit(&stream);

	/* zlib counts in 32 bits, so larger data is passed in chunks. */
	while (state == Z_OK && have < len) {
		size_t in = bytes.len < 1 << 30 ? bytes.len : 1 << 30;
		size_t out = len - have < 1 << 30 ? len - have : 1 << 30;

		stream.next_in = (unsigned char *)(uintptr_t)bytes.ptr;
		stream.avail_in = (uInt)in;
		stream.next_out = (unsigned char *)room + have;
		stream.avail_out = (uInt)out;
		state = inflate(&stream, Z_NO_FLUSH);
		bytes = str_skip(bytes, in - stream.avail_in);
		have += out - stream.avail_out;
	}
	inflateEnd(&stream);
	return have == len && (state == Z_OK || state == Z_STREAM_END);
}

static bool zstd_inflate(str bytes, char *room, size_t len)
{
	return ZSTD_decompress(room, len, bytes.ptr, bytes.len) == len;
}

bool dwarf_inflate(const struct elf_section *section, bool is_wide, str bytes, uint64_t max,
		   struct arena *arena, str *ret_contents, struct err *err)
{
	struct elf_compression compression;

	*ret_contents = bytes;
	if (!elf_compression_read(section, is_wide, &bytes, &compression))
		return true;

	uint32_t type = compression.type;
	uint64_t len = compression.len;

	if (type != ELFCOMPRESS_ZLIB && type != ELF_COMPRESSION_ZSTD)
		return err_set(err, ERR_INVALID, STR_FMT " has an unknown compression",
			       STR_ARG(section->name));
	if (len > max)
		return err_set(err, ERR_LIMIT, STR_FMT " holds %ju bytes, limit %ju",
			       STR_ARG(section->name), (uintmax_t)len, (uintmax_t)max);

	char *room = arena_array(arena, char, len);

	if (!(type == ELF_COMPRESSION_ZSTD ? zstd_inflate : zlib_inflate)(bytes, room, (size_t)len))
		return err_set(err, ERR_INVALID, STR_FMT " cannot be decompressed",
			       STR_ARG(section->name));
	*ret_contents = (str){ room, len };
	return true;
}
