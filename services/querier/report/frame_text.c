// SPDX-License-Identifier: Apache-2.0
#include "querier/report/binary_name.h"
#include "querier/report/frame_text_internal.h"

#include <inttypes.h>

str frame_text(const struct frame *frame, struct arena *arena)
{
	str file = binary_base_name(frame->path);

	if (frame->function.len)
		return frame->function;
	if (file.len == 0)
		file = STR("[unknown]");
	return str_format(arena, STR_FMT "+0x%" PRIx64, STR_ARG(file), frame->address);
}
