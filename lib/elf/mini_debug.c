// SPDX-License-Identifier: Apache-2.0
#include "elf/mini_debug.h"

#include <lzma.h>
#include <sys/mman.h>

enum { PIECE = 64 << 10, WORK_MEMORY = 128 << 20 };

/* Decompresses into the file, a block at a time. */
static bool unpack(lzma_stream *stream, int fd, struct err *err)
{
	uint8_t piece[PIECE];
	uint64_t len = 0;

	for (;;) {
		stream->next_out = piece;
		stream->avail_out = sizeof(piece);

		lzma_ret state = lzma_code(stream, LZMA_FINISH);
		size_t made = sizeof(piece) - stream->avail_out;

		len += made;
		/* GCOVR_EXCL_START: 256 MiB are too much for a unit test */
		if (len > MINI_DEBUG_MAX)
			return err_set(err, ERR_LIMIT, ".gnu_debugdata holds more than %d bytes",
				       MINI_DEBUG_MAX);
		ssize_t written = write(fd, piece, made);

		if (written < 0)
			return err_errno(err, "write the contents of .gnu_debugdata");
		if ((size_t)written != made)
			return err_set(err, ERR_IO, ".gnu_debugdata could be written in part only");
		/* GCOVR_EXCL_STOP */
		if (state == LZMA_STREAM_END)
			return true;
		if (state != LZMA_OK)
			return err_set(err, ERR_INVALID, ".gnu_debugdata cannot be decompressed");
	}
}

bool mini_debug_open(int fd, const struct elf_sections *sections, int *ret_fd, struct err *err)
{
	const struct elf_section *section = elf_sections_find(sections, STR(".gnu_debugdata"));
	AUTO_ARENA arena = { 0 };
	lzma_stream stream = LZMA_STREAM_INIT;
	str packed;

	*ret_fd = -1;
	if (!elf_section_read(fd, section, MINI_DEBUG_MAX, &arena, &packed, err))
		return false;
	if (!packed.len)
		return true;

	AUTO_FD inside = memfd_create("mini_debug", MFD_CLOEXEC);

	if (inside < 0) /* GCOVR_EXCL_START: memory is there */
		return err_errno(err, "create a memfd for .gnu_debugdata");
	if (lzma_stream_decoder(&stream, WORK_MEMORY, 0) != LZMA_OK)
		return err_set(err, ERR_INVALID, ".gnu_debugdata cannot be decompressed");
	/* GCOVR_EXCL_STOP */
	stream.next_in = (const uint8_t *)packed.ptr;
	stream.avail_in = packed.len;

	bool done = unpack(&stream, inside, err);

	lzma_end(&stream);
	if (done)
		*ret_fd = fd_take(&inside);
	return done;
}
