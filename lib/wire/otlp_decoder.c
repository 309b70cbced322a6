// SPDX-License-Identifier: Apache-2.0
#include "profile/limits.h"
#include "wire/otlp_decoder_internal.h"

#include <stdarg.h>
#include <stdio.h>

/* The parentheses prevent the expansion of the analyzer's macro of the same name. */
bool(otlp_reject)(struct otlp_decoder *decoder, enum otlp_reason reason, const char *fmt, ...)
{
	char why[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	decoder->result->rejected = reason;
	return err_set(decoder->err, reason == OTLP_LIMIT ? ERR_LIMIT : ERR_INVALID,
		       "profiles rejected (%s): %s", otlp_reason_names[reason], why);
}

bool otlp_end_check(struct otlp_decoder *decoder, const struct reader *r, const struct field *field)
{
	if (!r->failed)
		return true;
	if (field->is_malformed)
		return otlp_reject(decoder, OTLP_MALFORMED, "the bytes are not protobuf");
	return otlp_reject(decoder, OTLP_TRUNCATED, "the message ends inside a field");
}

bool otlp_memory_check(struct otlp_decoder *decoder)
{
	size_t memory = decoder->scratch.size + decoder->set->arena->size - decoder->memory_before;

	/* GCOVR_EXCL_START: half a gigabyte is too much for a unit test */
	if (memory > MESSAGE_MEMORY_MAX)
		return otlp_reject(decoder, OTLP_LIMIT,
				   "decoding needs more than %d bytes of memory",
				   MESSAGE_MEMORY_MAX);
	/* GCOVR_EXCL_STOP */
	return true;
}

void otlp_packed_add(struct otlp_packed *packed, const struct field *field)
{
	if (field->wire == WIRE_LEN && !packed->bytes.len) {
		packed->bytes = field->bytes;
		return;
	}
	if (packed->more.len == 0)
		buf_str(&packed->more, packed->bytes);
	if (field->wire == WIRE_LEN)
		buf_str(&packed->more, field->bytes);
	else if (field->wire == WIRE_FIXED64)
		buf_u64(&packed->more, field->value);
	else
		buf_varint(&packed->more, field->value);
	packed->bytes = buf_bytes(&packed->more);
}
