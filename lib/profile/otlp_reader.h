// SPDX-License-Identifier: Apache-2.0
/*
 * otlp - OTLP profiles, the one wire format: bytes to a sample_set and back.
 *
 * The reader is a bounded streaming walk over bytes that a stranger wrote: it checks every index,
 * length and depth before it allocates, skips fields it does not know, and refuses layouts of older
 * versions of the format by name. The writer uses protobuf-c. Labels cross by the table of
 * profile/labels.h. Source: opentelemetry.proto.profiles.v1development, spec 1.11.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"

/* Why a message, or something in it, was not taken as it is. Names are labels of metrics. */
enum otlp_reason {
	OTLP_TRUNCATED,       /* message: ends inside a field */
	OTLP_MALFORMED,       /* message: wire type, varint or length that cannot be */
	OTLP_INDEX,           /* message: an index outside its table */
	OTLP_LIMIT,           /* message: more of something than limits.h allows */
	OTLP_OLD_LAYOUT,      /* message: tables where older versions had them */
	OTLP_TEXT,            /* message: text that is not UTF-8 or holds NUL */
	OTLP_SHAPE,           /* message: values and timestamps that do not fit each other */
	OTLP_TOO_OLD,         /* sample: before the oldest time that is stored */
	OTLP_TOO_FAR_AHEAD,   /* sample: after the latest */
	OTLP_LABEL_DROPPED,   /* label: name too long or empty */
	OTLP_LABEL_RESERVED,  /* label: a name that label_name_is_reserved() */
	OTLP_LABEL_TRUNCATED, /* label: value too long */
	OTLP_STACK_TRUNCATED, /* stack: deeper than STACK_DEPTH_MAX */
	OTLP_NAME_TRUNCATED,  /* name of a function or file: too long */
	OTLP_REASON_COUNT,
	OTLP_PARTIAL_REASON = OTLP_TOO_OLD, /* the reasons before it refuse the whole message */
};
extern const char *const otlp_reason_names[OTLP_REASON_COUNT];

struct otlp_options {
	uint64_t min_time_ms, max_time_ms; /* samples outside are left out and counted */
};

struct otlp_result {
	uint64_t samples;                   /* told in the message (timestamps, or values) */
	uint64_t counts[OTLP_REASON_COUNT]; /* what was not taken as it is */
	enum otlp_reason rejected;          /* where otlp_read() failed: why */
};

/*
 * Decode one ProfilesData into `set` (initialised, usually empty), which borrows from `bytes`.
 * Series get their service_name (labels_with_service_name()). False: the message is refused as a
 * whole, `ret_result->rejected` says why, the set holds rubbish and must be thrown away.
 */
bool otlp_read(str bytes, const struct otlp_options *options, struct sample_set *set,
	       struct otlp_result *ret_result, struct err *err) MUST_CHECK;
