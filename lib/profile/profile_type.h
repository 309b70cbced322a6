// SPDX-License-Identifier: Apache-2.0
/*
 * profile_type - the type of a profile: five-part ids, their aliases and temporality.
 *
 * An id is name:sample_type:sample_unit:period_type:period_unit, as in Parca. The table lists the
 * types with a known meaning; any other well-formed id can be stored and queried too.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#define PROFILE_TYPE_CPU "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

/* DELTA: values add up over time. GAUGE: each value is a state, and values are averaged. */
enum temporality { TEMPORALITY_DELTA, TEMPORALITY_GAUGE };

struct profile_type {
	const char *id;
	const char *alias; /* a three-part id, name:sample_type:sample_unit, or NULL */
	enum temporality temporality;
	const char *help;
};

extern const struct profile_type profile_types[];
extern const size_t profile_type_count;

/* The full id of an id or alias; a suffix ":delta" is removed. *ret_id borrows from `text` or the
 * table. ERR_INVALID, the only failure: neither listed nor of five valid parts, or longer than
 * TYPE_MAX. */
bool profile_type_parse(str text, str *ret_id, struct err *err) MUST_CHECK;

/*
 * The id of an OTLP profile, made of its sample type and unit and its period type and unit. If
 * `*ret_multiply` is set, the values count ticks and must be multiplied by the period
 * (samples/count with the period cpu/nanoseconds is CPU time). The name part is that of the listed
 * type
 * (`process_cpu`, `memory`, ...), else `otlp`.
 */
str profile_type_of_otlp(str type, str unit, str period_type, str period_unit, bool *ret_multiply,
			 struct arena *arena);

enum temporality profile_type_temporality(str id);

/* The unit of the values: the third part of the id. */
str profile_type_unit(str id);
/* A part of the id, 0 to 4. */
str profile_type_part(str id, unsigned int part);
