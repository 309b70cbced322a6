// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include "base/reader.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
	HEADER_BYTES = 104,
	PERF_REGISTERS = 64,
	PERF_PC = 8,
	ABI_64 = 2,
	/* required fields of a sample, and supported fields */
	SAMPLE_NEEDS =
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	SAMPLE_KNOWN = SAMPLE_NEEDS | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
		       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
		       PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_DATA_SRC,
};

struct file_parser {
	struct capture *capture;
	struct arena *arena;
	uint64_t sample_type, register_mask;
};

/* The DWARF number of perf's register of x86-64, or -1. */
static int dwarf_number(unsigned int perf)
{
	static const int8_t numbers[] = { 0,  3,  2,  1,  4, 5, 6,  7,  -1, -1, -1, -1,
					  -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15 };

	return perf < ARRAY_LEN(numbers) ? numbers[perf] : -1;
}

static bool read_registers(struct reader *r, uint64_t mask, struct sample_registers *to)
{
	if (reader_u64(r) != ABI_64)
		return false;
	for (unsigned int i = 0; i < PERF_REGISTERS; i++) {
		if (!(mask >> i & 1))
			continue;

		uint64_t value = reader_u64(r);

		if (i == PERF_PC)
			to->pc = value;
		else if (dwarf_number(i) >= 0)
			to->general[dwarf_number(i)] = value;
	}
	return !r->failed;
}

static void skip_words(struct reader *r, uint64_t type, uint64_t bits)
{
	for (uint64_t bit = 1; bit; bit <<= 1)
		if (type & bits & bit)
			reader_u64(r);
}

/* The layout of PERF_RECORD_SAMPLE in perf_event_open(2). */
static void read_sample(struct file_parser *parser, struct reader r)
{
	struct capture_event event = { .kind = CAPTURE_SAMPLE };
	uint64_t type = parser->sample_type;

	skip_words(&r, type, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP);
	event.pid = reader_u32(&r);
	event.tid = reader_u32(&r);
	event.time = reader_u64(&r);
	skip_words(&r, type,
		   PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD);
	if (type & PERF_SAMPLE_CALLCHAIN)
		reader_bytes(&r, reader_u64(&r) * sizeof(uint64_t));
	if (!read_registers(&r, parser->register_mask, &event.registers)) {
		parser->capture->without_stack++;
		return;
	}

	str stack = reader_bytes(&r, reader_u64(&r));
	uint64_t filled = stack.len ? reader_u64(&r) : 0;

	if (r.failed || filled == 0) {
		parser->capture->without_stack++;
		return;
	}
	event.stack = (str){ stack.ptr, filled };
	*vec_push(parser->arena, &parser->capture->events) = event;
}

/* Every other record ends with sample_id: pid, tid, time, id, cpu, identifier. */
static uint64_t time_of(const struct file_parser *parser, str record)
{
	size_t behind = 0;

	for (uint64_t bits = parser->sample_type & (PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
						    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME);
	     bits; bits &= bits - 1)
		behind += sizeof(uint64_t);
	if (record.len < behind)
		return 0;

	struct reader r = reader_of((str){ record.ptr + record.len - behind, behind });

	return reader_u64(&r);
}

static void read_mapping(struct file_parser *parser, str record)
{
	struct reader r = reader_of(record);
	struct capture_event event = { .kind = CAPTURE_MAPPING, .time = time_of(parser, record) };

	event.pid = reader_u32(&r);
	event.tid = reader_u32(&r);
	event.start = reader_u64(&r);
	event.len = reader_u64(&r);
	event.file_offset = reader_u64(&r);
	reader_bytes(&r, 24); /* device, inode; or a build id */

	bool is_code = reader_u32(&r) & PROT_EXEC;

	reader_u32(&r); /* flags */
	event.path = str_z(parser->arena, (str){ r.rest.ptr, strnlen(r.rest.ptr, r.rest.len) });
	if (!r.failed && is_code)
		*vec_push(parser->arena, &parser->capture->events) = event;
}

static void read_task(struct file_parser *parser, str record, enum capture_kind kind)
{
	struct reader r = reader_of(record);
	struct capture_event event = { .kind = kind, .time = time_of(parser, record) };

	event.pid = reader_u32(&r);
	event.parent_pid = reader_u32(&r);
	event.tid = kind == CAPTURE_FORK ? reader_u32(&r) : event.parent_pid;
	if (kind == CAPTURE_FORK && event.pid == event.parent_pid)
		return; /* a thread */
	*vec_push(parser->arena, &parser->capture->events) = event;
}

static void read_record(struct file_parser *parser, uint32_t type, uint16_t misc, str record)
{
	switch (type) {
	case PERF_RECORD_MMAP2:
		return read_mapping(parser, record);
	case PERF_RECORD_FORK:
		return read_task(parser, record, CAPTURE_FORK);
	case PERF_RECORD_COMM:
		if (misc & PERF_RECORD_MISC_COMM_EXEC)
			read_task(parser, record, CAPTURE_EXEC);
		return;
	case PERF_RECORD_SAMPLE:
		return read_sample(parser, reader_of(record));
	default:
		return;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct capture_event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static bool read_records(struct file_parser *parser, struct reader r, struct err *err)
{
	while (reader_left(&r)) {
		uint32_t type = reader_u32(&r);
		uint16_t misc = reader_u16(&r), size = reader_u16(&r);
		str record = reader_bytes(&r, size < 8 ? SIZE_MAX : size - 8U);

		if (r.failed)
			return err_set(err, ERR_INVALID, "a truncated record in the perf file");
		read_record(parser, type, misc, record);
	}
	return true;
}

/* All events have the same attributes, because perf samples one event. */
static bool read_attributes(struct file_parser *parser, str file, struct reader *header,
			    struct err *err)
{
	uint64_t size = reader_u64(header), at = reader_u64(header), len = reader_u64(header);

	if (header->failed || size < sizeof(struct perf_event_attr) / 2 || at > file.len ||
	    len > file.len - at || len < size)
		return err_set(err, ERR_INVALID, "no attributes");

	struct perf_event_attr attribute = { 0 };

	memcpy(&attribute, file.ptr + at, size < sizeof(attribute) ? size : sizeof(attribute));
	parser->sample_type = attribute.sample_type;
	parser->register_mask = attribute.sample_regs_user;
	if ((parser->sample_type & SAMPLE_NEEDS) != SAMPLE_NEEDS ||
	    parser->sample_type & ~(uint64_t)SAMPLE_KNOWN)
		return err_set(err, ERR_INVALID, "samples of type %#llx",
			       (unsigned long long)parser->sample_type);
	return true;
}

bool capture_read(struct capture *capture, str file, struct arena *arena, struct err *err)
{
	struct file_parser parser = { .capture = capture, .arena = arena };
	struct reader header = reader_of(file);

	if (!str_eq(reader_bytes(&header, 8), STR("PERFILE2")) ||
	    reader_u64(&header) < HEADER_BYTES)
		return err_set(err, ERR_INVALID, "not a perf file");
	if (!read_attributes(&parser, file, &header, err))
		return false;

	uint64_t at = reader_u64(&header), len = reader_u64(&header);

	if (header.failed || at > file.len || len > file.len - at)
		return err_set(err, ERR_INVALID, "no records");
	if (!read_records(&parser, reader_of((str){ file.ptr + at, len }), err))
		return false;
	for (size_t i = 0; i < capture->events.len; i++)
		capture->events.items[i].order = i;
	qsort(capture->events.items, capture->events.len, sizeof(*capture->events.items), by_time);
	return true;
}
