// SPDX-License-Identifier: Apache-2.0
#include "sample_parse.h"

static bool is_continued_well(const struct sample_record *record)
{
	return !(record->flags & SAMPLE_CONTINUES) ||
	       (record->stack_bytes && !record->kernel_frames && !record->user_frames);
}

const struct sample_record *sample_parse(const void *bytes, size_t len)
{
	const struct sample_record *record = bytes;

	if (len < offsetof(struct sample_record, frames) ||
	    record->kernel_frames > KERNEL_FRAMES_MAX || record->user_frames > USER_FRAMES_MAX ||
	    record->user_end >= USER_END_COUNT || record->stack_bytes > SAMPLE_STACK_BYTES_MAX ||
	    len != sample_bytes(record) || !is_continued_well(record))
		return NULL;
	return record;
}
