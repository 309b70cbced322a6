// SPDX-License-Identifier: Apache-2.0
/*
 * symbolize - the question for names and its answer, as they go between querier and symbolizer
 * (proto/symbolize.proto).
 *
 * Both sides use plain structs; texts that are read borrow from the bytes. A reader bounds what it
 * makes of them before it makes it (limits.h), so they may come from anybody.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "profile/limits.h"

/* Why an address has no name. The numbers are on the wire: add at the end. */
enum name_reason {
	NAME_KNOWN,
	NAME_NO_DEBUG_INFO, /* nobody has a file of that build id */
	NAME_NO_SYMBOL,     /* the file says nothing of that address */
	NAME_UNAVAILABLE,   /* who has the files could not be asked now */
	NAME_MALFORMED,     /* the file cannot be read */
	NAME_TOO_LARGE,     /* the file, or the work, is beyond a limit */
	NAME_PENDING,       /* it is being fetched or read: ask again */
	NAME_BAD_BUILD_ID,  /* nothing is kept under such an id */
	NAME_NOT_ASKED,     /* said by who asks: the symbolizer did not answer */
	NAME_REASON_COUNT,
};

/* A word that programs may compare, and a sentence for people. */
extern const char *const name_reason_names[NAME_REASON_COUNT];
extern const char *const name_reason_text[NAME_REASON_COUNT];

struct symbolize_binary {
	str build_id; /* text, as frames have it */
	const uint64_t *addresses;
	size_t address_count; /* 0: only the generation is asked for */
};

struct symbolize_request {
	const struct symbolize_binary *binaries;
	size_t binary_count;
};

struct symbolized_line {
	str function;              /* full, demangled */
	str system_name;           /* as the linker knows it */
	str file;                  /* may be empty */
	uint32_t line, start_line; /* 0: not known */
};

struct symbolized_location {
	const struct symbolized_line *lines; /* innermost first */
	size_t line_count;
	enum name_reason reason; /* NAME_KNOWN if and only if there are lines */
};

struct symbolized_binary {
	uint64_t generation;
	enum name_reason reason; /* why nothing of it is known; NAME_KNOWN: ask the locations */
	const struct symbolized_location *locations; /* one for each address */
	size_t location_count;
};

struct symbolize_response {
	const struct symbolized_binary *binaries; /* one for each of the request's */
	size_t binary_count;
};

str symbolize_request_write(const struct symbolize_request *request, struct arena *arena);
str symbolize_response_write(const struct symbolize_response *response, struct arena *arena);

/* ERR_INVALID: no such message; ERR_LIMIT: more of something than the limits allow. */
bool symbolize_request_read(str bytes, struct symbolize_request *ret_request, struct arena *arena,
			    struct err *err) MUST_CHECK;
bool symbolize_response_read(str bytes, struct symbolize_response *ret_response,
			     struct arena *arena, struct err *err) MUST_CHECK;
