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

/* Why a message was rejected. The names are labels of metrics. */
#define OTLP_REJECT_REASONS(ROW)                                                        \
	ROW(OTLP_TRUNCATED, "truncated")   /* ends inside a field */                    \
	ROW(OTLP_MALFORMED, "malformed")   /* an invalid wire type, varint or length */ \
	ROW(OTLP_INDEX, "index")           /* an index outside its table */             \
	ROW(OTLP_LIMIT, "limit")           /* exceeds a bound of limits.h */            \
	ROW(OTLP_OLD_LAYOUT, "old_layout") /* tables where older versions had them */   \
	ROW(OTLP_TEXT, "text")             /* text that is not UTF-8 or holds NUL */    \
	ROW(OTLP_SHAPE, "shape")           /* the numbers of values and timestamps do not match */

/* Why something in a message was skipped or truncated. */
#define OTLP_PARTIAL_REASONS(ROW)                                                                 \
	ROW(OTLP_TOO_OLD, "too_old") /* sample: before the oldest time that is stored */          \
	ROW(OTLP_TOO_FAR_AHEAD, "too_far_ahead")     /* sample: after the latest time */          \
	ROW(OTLP_LABEL_DROPPED, "label_dropped")     /* name too long or empty, value too deep */ \
	ROW(OTLP_LABEL_RESERVED, "label_reserved")   /* label_name_is_reserved() */               \
	ROW(OTLP_LABEL_TRUNCATED, "label_truncated") /* value too long */                         \
	ROW(OTLP_STACK_TRUNCATED, "stack_truncated") /* deeper than STACK_DEPTH_MAX */            \
	ROW(OTLP_NAME_TRUNCATED, "name_truncated")   /* of a function or file: too long */

enum otlp_reason {
	OTLP_REJECT_REASONS(NAMED_CONSTANT) OTLP_PARTIAL_REASONS(NAMED_CONSTANT) OTLP_REASON_COUNT,
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
