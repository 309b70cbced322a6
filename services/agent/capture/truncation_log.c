// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/truncation_log_internal.h"
#include "base/log.h"

#include <inttypes.h>

/* An address as file and offset. Without a file: "unmapped" or "anonymous" and the address itself.
 */
struct code_location {
	const char *path;
	uint64_t offset;
};

static struct code_location locate(const struct mappings *mappings, uint64_t address)
{
	const struct mapping *mapping = mappings ? mappings_find(mappings, address) : NULL;

	if (!mapping)
		return (struct code_location){ "unmapped", address };
	if (!mapping->executable)
		return (struct code_location){ "anonymous", address };
	return (struct code_location){ executable_of(mapping->executable)->path,
				       address - mapping->start + mapping->file_offset };
}

void truncation_log(const struct sample_record *record, const struct process *process)
{
	const uint64_t *user = record->frames + record->kernel_frames;
	size_t count = record->user_frames;

	if (record->user_end <= USER_END_COMPLETE || !count)
		return;

	const struct mappings *mappings = process ? process_mappings(process, user[0]) : NULL;
	struct code_location leaf = locate(mappings, user[0]);
	struct code_location last = locate(mappings, user[count - 1] - (count > 1));

	log_debug("stack truncated",
		  "pid=%" PRIu32 " comm=\"%.*s\" end=%s frames=%zu kernel=%d shipped=%d "
		  "flags=%" PRIu32 " leaf=\"%s+0x%" PRIx64 "\" last=\"%s+0x%" PRIx64 "\"",
		  record->tgid, COMM_SIZE, record->comm, user_end_names[record->user_end], count,
		  record->kernel_frames > 0, record->stack_bytes > 0, record->flags, leaf.path,
		  leaf.offset, last.path, last.offset);
}
