// SPDX-License-Identifier: Apache-2.0
/*
 * batch_number - the key and headers of a message: any input is a number, no number or an error,
 * and a number fits the columns it is stored in.
 */
#include "base/reader.h"
#include "ingester/consume/batch_number_internal.h"
#include "ingester/ingester_limits.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HAS_EPOCH = 1, HAS_SEQUENCE = 2 };

/* A text, or a NULL ptr if it is absent, which differs from an empty text. */
static str read_text(struct reader *r, bool is_present)
{
	str text = reader_str_prefixed(r);

	return is_present ? (str){ text.ptr ? text.ptr : "", text.len } : (str){ 0 };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader r = reader_of((str){ (const char *)data, size });
	uint8_t flags = reader_u8(&r);
	str key = reader_str_prefixed(&r);
	str epoch = read_text(&r, flags & HAS_EPOCH),
	    sequence = read_text(&r, flags & HAS_SEQUENCE);
	struct batch_number number;
	struct err err = { 0 };

	if (!batch_number_parse(key, epoch, sequence, &number, &err)) {
		assert(err.code == ERR_INVALID && err.msg[0]);
		return 0;
	}
	assert(number.is_present == (epoch.ptr || sequence.ptr));
	if (!number.is_present)
		return 0;
	assert(str_eq(number.host, key) && key.len > 0 && key.len <= HOST_ID_MAX);
	assert(number.epoch > 0 && number.epoch < INT64_MAX);
	assert(number.sequence > 0 && number.sequence < INT64_MAX);
	return 0;
}
