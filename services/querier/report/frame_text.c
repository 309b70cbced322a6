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

enum name_reason frame_reason(const struct merge *merge, size_t frame)
{
	const struct frame *at = &merge->set.frames.items[frame];

	if (!at->build_id.len)
		return at->path.len ? NAME_NO_BUILD_ID : NAME_NO_FILE;
	return merge->reasons ? (enum name_reason)merge->reasons[frame] : NAME_KNOWN;
}
