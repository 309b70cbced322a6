// SPDX-License-Identifier: Apache-2.0
#include "elf/debug_link.h"

#include "base/reader.h"

#include <errno.h>
#include <zlib.h>

enum { CRC_ALIGNMENT = 4, CRC_ROOM = 16 << 10 };

/* Splits *bytes at the first NUL: *ret_name is before it, *bytes becomes the bytes after it. */
static bool name_parse(str *bytes, str *ret_name)
{
	const char *end = bytes->len ? memchr(bytes->ptr, 0, bytes->len) : NULL;

	if (!end || end == bytes->ptr)
		return false;
	*ret_name = (str){ bytes->ptr, (size_t)(end - bytes->ptr) };
	*bytes = str_skip(*bytes, ret_name->len + 1);
	return true;
}

bool debug_link_parse(str bytes, struct debug_link *ret_link)
{
	struct debug_link link;
	str rest = bytes;

	if (!name_parse(&rest, &link.name) || link.name.len > DEBUG_LINK_NAME_MAX ||
	    memchr(link.name.ptr, '/', link.name.len) || str_eq(link.name, STR(".")) ||
	    str_eq(link.name, STR("..")))
		return false;

	size_t past = (bytes.len - rest.len) % CRC_ALIGNMENT;
	struct reader r = reader_of(rest);

	reader_bytes(&r, past ? CRC_ALIGNMENT - past : 0);
	link.crc = reader_u32(&r);
	if (r.failed)
		return false;
	*ret_link = link;
	return true;
}

bool debug_altlink_parse(str bytes, struct debug_altlink *ret_link)
{
	struct debug_altlink link;

	if (!name_parse(&bytes, &link.path) || link.path.len > DEBUG_LINK_PATH_MAX ||
	    bytes.len < BUILD_ID_BYTES_MIN || bytes.len > BUILD_ID_BYTES_MAX)
		return false;
	link.build_id = bytes;
	*ret_link = link;
	return true;
}

bool debug_link_crc(int fd, uint32_t *ret_crc, struct err *err)
{
	unsigned char room[CRC_ROOM];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, room, sizeof(room), at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "read the debug file");
		crc = crc32(crc, room, (uInt)n);
		at += n;
	}
	*ret_crc = (uint32_t)crc;
	return true;
}
