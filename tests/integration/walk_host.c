// SPDX-License-Identifier: Apache-2.0
#include "walk_host.h"

#include "bpf/unwind.h"

#include <string.h>
#include <unistd.h>

static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from)
{
	struct walk_host *host = walk->self;
	uint64_t at = from - host->from;

	if (at <= host->bytes && host->bytes - at >= bytes) {
		memcpy(to, host->stack + at, bytes);
		return true;
	}
	/* A word read as code; it is never in the stack's own mapping. */
	if (bytes == sizeof(uint64_t) && walk->is_tried && at > host->bytes)
		return pread(host->memory_fd, to, bytes, (off_t)from) == (ssize_t)bytes;
	host->ran_out = true;
	return false;
}

static const uint8_t *unwind_page(struct unwind *walk, uint64_t number)
{
	const struct walk_host *host = walk->self;

	return host->page(host->self, number);
}

static bool has_same_frames(const struct sample_record *record, const struct walk_twin *twin)
{
	const uint64_t *frames = record->frames + record->kernel_frames;

	return record->user_frames >= twin->count &&
	       memcmp(frames, twin->frames, twin->count * sizeof(*frames)) == 0;
}

enum walk_same walk_host_compare(struct walk_host *host, const struct sample_record *record,
				 const struct unwind_process *process, struct walk_twin *ret_twin)
{
	const struct sample_registers *registers = sample_registers(record);
	struct unwind walk = { .now = *registers, .self = host };
	const uint32_t flags = SAMPLE_FRAME_POINTERS | SAMPLE_GUESSED;

	host->stack = (const uint8_t *)(registers + 1);
	host->from = unwind_stack_from(record);
	host->bytes = record->stack_bytes;
	host->ran_out = false;
	*ret_twin = (struct walk_twin){ 0 };
	unwind_begin(&walk, process);
	while (walk.end == USER_END_NONE && ret_twin->count < record->user_frames + 1U &&
	       ret_twin->count < USER_FRAMES_MAX) {
		unwind_step(&walk);
		ret_twin->frames[ret_twin->count++] = walk.shown;
	}
	ret_twin->end = (enum user_end)walk.end;
	ret_twin->flags = walk.flags & flags;
	if (!has_same_frames(record, ret_twin))
		return WALK_DIFFERS;
	if (ret_twin->count == record->user_frames && ret_twin->end == record->user_end &&
	    ret_twin->flags == (record->flags & flags))
		return WALK_SAME;
	return host->ran_out ? WALK_SAME_SO_FAR : WALK_DIFFERS;
}
