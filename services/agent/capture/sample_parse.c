// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/sample_parse_internal.h"

/* A continuation record must have stack bytes and no frames. */
static bool is_valid_continuation(const struct sample_record *record)
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
	    len != sample_bytes(record) || !is_valid_continuation(record))
		return NULL;
	return record;
}
