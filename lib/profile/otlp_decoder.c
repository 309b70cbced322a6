// SPDX-License-Identifier: Apache-2.0
#include "profile/otlp_decoder.h"

#include "profile/limits.h"

#include <stdarg.h>
#include <stdio.h>

const char *const otlp_reason_names[OTLP_REASON_COUNT] = {
	[OTLP_TRUNCATED] = "truncated",
	[OTLP_MALFORMED] = "malformed",
	[OTLP_INDEX] = "index",
	[OTLP_LIMIT] = "limit",
	[OTLP_OLD_LAYOUT] = "old_layout",
	[OTLP_TEXT] = "text",
	[OTLP_SHAPE] = "shape",
	[OTLP_TOO_OLD] = "too_old",
	[OTLP_TOO_FAR_AHEAD] = "too_far_ahead",
	[OTLP_LABEL_DROPPED] = "label_dropped",
	[OTLP_LABEL_RESERVED] = "label_reserved",
	[OTLP_LABEL_CUT] = "label_cut",
	[OTLP_STACK_CUT] = "stack_cut",
	[OTLP_NAME_CUT] = "name_cut",
};

/* In parentheses: the function, not what the analyzer sees in its place. */
bool(otlp_reject)(struct otlp_decoder *decoder, enum otlp_reason reason, const char *fmt, ...)
{
	char why[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	decoder->result->rejected = reason;
	return err_set(decoder->err, reason == OTLP_LIMIT ? ERR_LIMIT : ERR_INVALID,
		       "profiles refused (%s): %s", otlp_reason_names[reason], why);
}

bool otlp_ended(struct otlp_decoder *decoder, const struct reader *r, const struct field *field)
{
	if (!r->failed)
		return true;
	if (field->is_malformed)
		return otlp_reject(decoder, OTLP_MALFORMED, "bytes that are no protobuf");
	return otlp_reject(decoder, OTLP_TRUNCATED, "the message ends inside a field");
}

bool otlp_memory_check(struct otlp_decoder *decoder)
{
	size_t held = decoder->scratch.held + decoder->set->arena->held - decoder->held_before;

	/* GCOVR_EXCL_START: half a gigabyte is too much for a unit test */
	if (held > MESSAGE_MEMORY_MAX)
		return otlp_reject(decoder, OTLP_LIMIT, "decoding takes more than %d bytes",
				   MESSAGE_MEMORY_MAX);
	/* GCOVR_EXCL_STOP */
	return true;
}
