// SPDX-License-Identifier: Apache-2.0
/*
 * batch_number - the key and the headers of a message: any bytes are a number, no number or refused, and
 * a number fits the columns it is stored in.
 */
#include "../../services/ingester/ingester_limits.h"
#include "../../services/ingester/batch_number.h"
#include "base/reader.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HAS_EPOCH = 1, HAS_SEQUENCE = 2 };

/* A text that is there, or a NULL ptr: not the same as an empty one. */
static str take(struct reader *r, bool is_there)
{
	str text = reader_str_prefixed(r);

	return is_there ? (str){ text.ptr ? text.ptr : "", text.len } : (str){ 0 };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader r = reader_of((str){ (const char *)data, size });
	uint8_t flags = reader_u8(&r);
	str key = reader_str_prefixed(&r);
	str epoch = take(&r, flags & HAS_EPOCH), sequence = take(&r, flags & HAS_SEQUENCE);
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
