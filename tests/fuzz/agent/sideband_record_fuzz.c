// SPDX-License-Identifier: Apache-2.0
/*
 * sideband_record - any bytes are parsed or rejected. The input is also tried with the correct
 * length in its header; else each input that the fuzzer has resized would be rejected at once.
 */
#include "agent/process/sideband_record.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LENGTH_AT = 6, HEADER_BYTES = 8 }; /* type, misc, length: perf_event_header */

static void try(str bytes)
{
	struct sideband_record record;
	struct err err = { 0 };

	if (!sideband_record_read(bytes, &record, &err)) {
		assert(err.code == ERR_INVALID && err.msg[0]);
		return;
	}
	assert(sideband_record_len(bytes) == bytes.len);
	assert(record.type < SIDEBAND_TYPE_COUNT);
	assert(record.build_id_len <= SIDEBAND_BUILD_ID_MAX && record.path.len < bytes.len);
	assert(record.path.len == 0 || !memchr(record.path.ptr, 0, record.path.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	str bytes = { (const char *)data, size };
	char *copy = arena_array(&arena, char, size + 1);
	uint16_t length = (uint16_t)size;

	try(bytes);
	if (size < HEADER_BYTES || size > UINT16_MAX)
		return 0;
	memcpy(copy, data, size);
	memcpy(copy + LENGTH_AT, &length, sizeof(length));
	try((str){ copy, size });
	return 0;
}
