// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_reader - decodes an OTLP profiles message into a sample_set.
 *
 * A streaming decoder with bounds, for untrusted input. It checks every index, length and nesting
 * depth before it allocates memory, skips unknown fields, and rejects the layouts of older versions
 * of the format with a reason of their own. Attributes become labels by the table of
 * profile/labels.h. Source: opentelemetry.proto.profiles.v1development, spec 1.11.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"

/*
 * Why a message was rejected, or something in it was skipped or truncated. The names are labels of
 * metrics.
 */
enum otlp_reason {
	OTLP_TRUNCATED,       /* message: ends inside a field */
	OTLP_MALFORMED,       /* message: an invalid wire type, varint or length */
	OTLP_INDEX,           /* message: an index outside its table */
	OTLP_LIMIT,           /* message: exceeds a bound of limits.h */
	OTLP_OLD_LAYOUT,      /* message: tables where older versions of the format had them */
	OTLP_TEXT,            /* message: text that is not UTF-8 or holds NUL */
	OTLP_SHAPE,           /* message: the numbers of values and timestamps do not match */
	OTLP_TOO_OLD,         /* sample: skipped, before the oldest time that is stored */
	OTLP_TOO_FAR_AHEAD,   /* sample: skipped, after the latest time */
	OTLP_LABEL_DROPPED,   /* label: name too long or empty, or value nested too deep */
	OTLP_LABEL_RESERVED,  /* label: dropped, its name is reserved (label_name_is_reserved()) */
	OTLP_LABEL_TRUNCATED, /* label: value too long */
	OTLP_STACK_TRUNCATED, /* stack: deeper than STACK_DEPTH_MAX */
	OTLP_NAME_TRUNCATED,  /* name of a function or file: too long */
	OTLP_REASON_COUNT,
	OTLP_PARTIAL_REASON = OTLP_TOO_OLD, /* the reasons before this one reject the message */
};
extern const char *const otlp_reason_names[OTLP_REASON_COUNT];

struct otlp_options {
	uint64_t min_time_ms, max_time_ms; /* samples outside are skipped and counted */
};

struct otlp_result {
	uint64_t samples;                   /* in the message: timestamps, or values without one */
	uint64_t counts[OTLP_REASON_COUNT]; /* what was skipped or truncated */
	enum otlp_reason rejected;          /* if otlp_read() failed: the reason */
};

/*
 * Decode one ProfilesData into `set`, which must be initialised, usually is empty, and borrows from
 * `bytes`. Each series gets a service_name (labels_with_service_name()). False: the whole message
 * is rejected, `ret_result->rejected` is the reason (ERR_LIMIT or ERR_INVALID), and the contents of
 * `set` are undefined: throw it away.
 */
bool otlp_read(str bytes, const struct otlp_options *options, struct sample_set *set,
	       struct otlp_result *ret_result, struct err *err) MUST_CHECK;
