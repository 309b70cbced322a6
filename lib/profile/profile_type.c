// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"

#include "base/buf.h"
#include "profile/limits.h"

enum { PARTS = 5 };

/* The types that Parca, pprof's tools and OpenTelemetry send. */
const struct profile_type profile_types[] = {
	{ PROFILE_TYPE_CPU, "process_cpu:cpu:nanoseconds", TEMPORALITY_DELTA, "CPU time." },
	{ "process_cpu:samples:count:cpu:nanoseconds", "process_cpu:samples:count",
	  TEMPORALITY_DELTA, "CPU samples, if a profiler sends them in addition to CPU time." },
	{ "off_cpu:off_cpu:nanoseconds:cpu:nanoseconds", "off_cpu:off_cpu:nanoseconds",
	  TEMPORALITY_DELTA, "Time spent waiting." },
	{ "wall:wall:nanoseconds:wall:nanoseconds", "wall:wall:nanoseconds", TEMPORALITY_DELTA,
	  "Elapsed time, running or waiting." },
	{ "memory:alloc_objects:count:space:bytes", "memory:alloc_objects:count", TEMPORALITY_DELTA,
	  "Objects allocated." },
	{ "memory:alloc_space:bytes:space:bytes", "memory:alloc_space:bytes", TEMPORALITY_DELTA,
	  "Bytes allocated." },
	{ "memory:inuse_objects:count:space:bytes", "memory:inuse_objects:count", TEMPORALITY_GAUGE,
	  "Objects in use." },
	{ "memory:inuse_space:bytes:space:bytes", "memory:inuse_space:bytes", TEMPORALITY_GAUGE,
	  "Bytes in use." },
	{ "goroutine:goroutine:count:goroutine:count", "goroutine:goroutine:count",
	  TEMPORALITY_GAUGE, "Number of goroutines." },
	{ "threadcreate:threadcreate:count:threadcreate:count", "threadcreate:threadcreate:count",
	  TEMPORALITY_GAUGE, "Number of threads, by the place of their creation." },
	{ "block:contentions:count:contentions:count", "block:contentions:count", TEMPORALITY_DELTA,
	  "Waits on channels and locks." },
	{ "block:delay:nanoseconds:contentions:count", "block:delay:nanoseconds", TEMPORALITY_DELTA,
	  "Time spent in waits on channels and locks." },
	{ "mutex:contentions:count:contentions:count", "mutex:contentions:count", TEMPORALITY_DELTA,
	  "Contended locks." },
	{ "mutex:delay:nanoseconds:contentions:count", "mutex:delay:nanoseconds", TEMPORALITY_DELTA,
	  "Time spent waiting for contended locks." },
};
const size_t profile_type_count = ARRAY_LEN(profile_types);

static bool is_part_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '/' || c == '-';
}

/* The number of parts; 0: the id has an invalid character. */
static size_t parts_count(str id)
{
	size_t parts = 1;

	for (size_t i = 0; i < id.len; i++) {
		if (id.ptr[i] == ':')
			parts++;
		else if (!is_part_char(id.ptr[i]))
			return 0;
	}
	return parts;
}

bool profile_type_parse(str text, str *ret_id, struct err *err)
{
	for (size_t i = 0; i < profile_type_count; i++) {
		const struct profile_type *type = &profile_types[i];

		if (str_eq(text, str_from(type->id)) || str_eq(text, str_from(type->alias))) {
			*ret_id = str_from(type->id);
			return true;
		}
	}
	/* Parca marks delta types with this suffix; here the table has the temporality. */
	if (str_ends_with(text, STR(":delta")) && parts_count(text) == PARTS + 1)
		text.len -= STR(":delta").len;
	if (text.len > TYPE_MAX || parts_count(text) != PARTS ||
	    profile_type_part(text, 0).len == 0)
		return err_set(err, ERR_INVALID,
			       "\"%.*s\" is not a profile type: expected five parts, "
			       "name:sample_type:sample_unit:period_type:period_unit",
			       (int)(text.len < 80 ? text.len : 80), text.ptr);
	*ret_id = text;
	return true;
}

str profile_type_part(str id, unsigned int part)
{
	str rest = id, head = str_cut(&rest, ':');

	while (part-- > 0)
		head = str_cut(&rest, ':');
	return head;
}

str profile_type_unit(str id)
{
	return profile_type_part(id, 2);
}

enum temporality profile_type_temporality(str id)
{
	for (size_t i = 0; i < profile_type_count; i++)
		if (str_eq(id, str_from(profile_types[i].id)))
			return profile_types[i].temporality;
	return TEMPORALITY_DELTA;
}

/* The only listed type with these parts; NULL: none, or more than one. */
static const char *listed_find(const str parts[static PARTS])
{
	const char *found = NULL;

	/* Without the period of CPU time, samples can be of any type. */
	if (str_eq(parts[1], STR("samples")))
		return NULL;
	for (size_t i = 0; i < profile_type_count; i++) {
		str id = str_from(profile_types[i].id);
		bool same = str_eq(profile_type_part(id, 1), parts[1]) &&
			    str_eq(profile_type_part(id, 2), parts[2]);

		/* Many producers send no period: then the sample's type alone must be unique. */
		if (same && (parts[3].len || parts[4].len))
			same = str_eq(profile_type_part(id, 3), parts[3]) &&
			       str_eq(profile_type_part(id, 4), parts[4]);
		if (same && found)
			return NULL;
		if (same)
			found = profile_types[i].id;
	}
	return found;
}

str profile_type_of_otlp(str type, str unit, str period_type, str period_unit, bool *ret_multiply,
			 struct arena *arena)
{
	const str parts[PARTS] = { STR("otlp"), type, unit, period_type, period_unit };
	struct buf id = { .arena = arena };

	*ret_multiply = str_eq(type, STR("samples")) && str_eq(unit, STR("count")) &&
			str_eq(period_type, STR("cpu")) && str_eq(period_unit, STR("nanoseconds"));
	if (*ret_multiply)
		return STR(PROFILE_TYPE_CPU);
	if (str_eq(type, STR("cpu")) && str_eq(unit, STR("nanoseconds")))
		return STR(PROFILE_TYPE_CPU);

	const char *listed = listed_find(parts);

	if (listed)
		return str_from(listed);
	for (size_t i = 0; i < PARTS; i++) {
		if (i)
			buf_u8(&id, ':');
		for (size_t c = 0; c < parts[i].len; c++)
			buf_u8(&id,
			       (uint8_t)(is_part_char(parts[i].ptr[c]) ? parts[i].ptr[c] : '_'));
	}
	return buf_bytes(&id);
}
