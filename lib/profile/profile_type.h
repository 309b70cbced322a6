// SPDX-License-Identifier: Apache-2.0
/*
 * profile_type - what a profile counts: the five-part ids, their aliases and temporality.
 *
 * An id is name:sample_type:sample_unit:period_type:period_unit, as Parca writes it. One table
 * lists those with a meaning to us; any other well-formed id is stored and answered too.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#define PROFILE_TYPE_CPU "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

/* Whether values add up over time, or each tells a state and must be averaged. */
enum temporality { TEMPORALITY_DELTA, TEMPORALITY_GAUGE };

struct profile_type {
	const char *id;
	const char *alias; /* a three-part id, name:sample_type:sample_unit, or NULL */
	enum temporality temporality;
	const char *help;
};

extern const struct profile_type profile_types[];
extern const size_t profile_type_count;

/* The full id of an id or alias; ERR_INVALID when it is neither listed nor of five parts. */
bool profile_type_parse(str text, str *ret_id, struct err *err) MUST_CHECK;

/*
 * The id of an OTLP profile: sample type and unit, period type and unit. `*ret_multiply` is set
 * where values are counts of ticks and must be multiplied by the period (samples/count with period
 * cpu/nanoseconds is CPU time). The name part is `process_cpu` for CPU time, `memory` and so on for
 * listed ones, else `otlp`.
 */
str profile_type_of_otlp(str type, str unit, str period_type, str period_unit, bool *ret_multiply,
			 struct arena *arena);

enum temporality profile_type_temporality(str id);

/* The third part of the id: the unit of its values. */
str profile_type_unit(str id);
/* Parts 0 to 4. */
str profile_type_part(str id, unsigned int part);
