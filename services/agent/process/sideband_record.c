// SPDX-License-Identifier: Apache-2.0
#include "agent/process/sideband_record.h"

#include "base/reader.h"

#include <linux/perf_event.h>

enum {
	HEADER_BYTES = 8,
	TRAILER_BYTES = 24, /* pid, tid; time; cpu, reserved */
};

size_t sideband_record_len(str header)
{
	struct reader r = reader_of(header);

	reader_u32(&r);
	reader_u16(&r);

	size_t len = reader_u16(&r);

	return r.failed || len < HEADER_BYTES ? 0 : len;
}

/* Text that is padded with NULs to a multiple of 8. */
static str read_text(struct reader *r)
{
	str text = reader_bytes(r, reader_left(r));

	return (str){ text.ptr, text.len ? strnlen(text.ptr, text.len) : 0 };
}

static void read_fork_or_exit(struct reader *r, struct sideband_record *record)
{
	record->pid = reader_u32(r);
	record->parent_pid = reader_u32(r);
	record->tid = reader_u32(r);
	reader_u32(r); /* parent's tid */
	reader_u64(r); /* time, also in the trailer */
}

static void read_comm(struct reader *r, struct sideband_record *record, uint16_t misc)
{
	/* A later name is that of a thread, which each sample holds. */
	record->type = misc & PERF_RECORD_MISC_COMM_EXEC ? SIDEBAND_EXEC : SIDEBAND_OTHER;
	record->pid = reader_u32(r);
	record->tid = reader_u32(r);

	str comm = read_text(r);

	if (comm.len)
		memcpy(record->comm, comm.ptr, comm.len < COMM_SIZE ? comm.len : COMM_SIZE - 1);
}

static void read_build_id(struct reader *r, struct sideband_record *record)
{
	uint8_t len = reader_u8(r);

	reader_bytes(r, 3);

	str id = reader_bytes(r, SIDEBAND_BUILD_ID_MAX);

	if (len > SIDEBAND_BUILD_ID_MAX)
		reader_fail(r);
	if (r->failed)
		return;
	memcpy(record->build_id, id.ptr, len);
	record->build_id_len = len;
}

static void read_map(struct reader *r, struct sideband_record *record, uint16_t misc)
{
	record->pid = reader_u32(r);
	record->tid = reader_u32(r);
	record->address = reader_u64(r);
	record->length = reader_u64(r);
	record->file_offset = reader_u64(r);
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		read_build_id(r, record);
	} else {
		record->device_major = reader_u32(r);
		record->device_minor = reader_u32(r);
		record->inode = reader_u64(r);
		record->generation = reader_u64(r);
	}
	reader_u64(r); /* protection, flags */
	record->path = read_text(r);
}

static void read_ksymbol(struct reader *r, struct sideband_record *record)
{
	record->address = reader_u64(r);
	record->length = reader_u32(r);
	reader_u16(r); /* BPF or other */
	record->unregistered = reader_u16(r) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	record->path = read_text(r);
}

static void read_lost(struct reader *r, struct sideband_record *record)
{
	reader_u64(r); /* event id */
	record->lost = reader_u64(r);
}

static void read_body(struct reader *r, struct sideband_record *record, uint32_t type,
		      uint16_t misc)
{
	switch (type) {
	case PERF_RECORD_FORK:
		record->type = SIDEBAND_FORK;
		read_fork_or_exit(r, record);
		break;
	case PERF_RECORD_EXIT:
		record->type = SIDEBAND_EXIT;
		read_fork_or_exit(r, record);
		break;
	case PERF_RECORD_COMM:
		read_comm(r, record, misc);
		break;
	case PERF_RECORD_MMAP2:
		record->type = SIDEBAND_MAP;
		read_map(r, record, misc);
		break;
	case PERF_RECORD_KSYMBOL:
		record->type = SIDEBAND_KSYMBOL;
		read_ksymbol(r, record);
		break;
	case PERF_RECORD_LOST:
		record->type = SIDEBAND_LOST;
		read_lost(r, record);
		break;
	}
}

bool sideband_record_read(str bytes, struct sideband_record *ret_record, struct err *err)
{
	struct sideband_record record = { .type = SIDEBAND_OTHER };
	struct reader r = reader_of(bytes);
	uint32_t type = reader_u32(&r);
	uint16_t misc = reader_u16(&r);

	if (sideband_record_len(bytes) != bytes.len || bytes.len < HEADER_BYTES + TRAILER_BYTES)
		return err_set(err, ERR_INVALID, "sideband record of %zu bytes", bytes.len);

	struct reader trailer = reader_of(str_skip(bytes, bytes.len - TRAILER_BYTES));

	reader_u64(&trailer); /* pid and tid of the thread that caused the event */
	record.time_ns = reader_u64(&trailer);

	r = reader_of((str){ bytes.ptr + HEADER_BYTES, bytes.len - HEADER_BYTES - TRAILER_BYTES });
	read_body(&r, &record, type, misc);
	if (r.failed)
		return err_set(err, ERR_INVALID, "sideband record of type %u is too short", type);
	*ret_record = record;
	return true;
}
