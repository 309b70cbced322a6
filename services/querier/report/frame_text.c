// SPDX-License-Identifier: Apache-2.0
#include "querier/report/frame_text_internal.h"

#include <inttypes.h>

static str base_name(str path)
{
	const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;

	return slash ? str_skip(path, (size_t)(slash - path.ptr) + 1) : path;
}

str frame_text(const struct frame *frame, struct arena *arena)
{
	str file = base_name(frame->path);

	if (frame->function.len)
		return frame->function;
	if (file.len == 0)
		file = STR("[unknown]");
	return str_format(arena, STR_FMT "+0x%" PRIx64, STR_ARG(file), frame->address);
}
