// SPDX-License-Identifier: Apache-2.0
/*
 * symbolize - encodes and decodes the request and the response of POST /symbolize, between querier
 * and symbolizer (proto/symbolize.proto).
 *
 * Both sides use plain structs; what is decoded is in the arena. The decoders bound their memory
 * before each allocation, and every count, by limits.h, so the bytes may be untrusted.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "profile/limits.h"

/* Why an address has no name. The numbers are on the wire: add new ones at the end. */
#define NAME_REASONS(ROW)                                                                         \
	ROW(NAME_KNOWN, "known")                                                                  \
	ROW(NAME_NO_DEBUG_INFO, "no_debug_info") /* no file with this build id is known */        \
	ROW(NAME_NO_SYMBOL, "no_symbol")         /* the file has no symbol for this address */    \
	ROW(NAME_UNAVAILABLE, "unavailable")     /* the source of the files is unavailable now */ \
	ROW(NAME_MALFORMED, "malformed")         /* the file cannot be parsed */                  \
	ROW(NAME_TOO_LARGE, "too_large") /* the file, or the work to read it, exceeds a limit */  \
	ROW(NAME_PENDING, "pending")     /* the file is being fetched or read: retry */           \
	ROW(NAME_BAD_BUILD_ID, "bad_build_id") /* not a valid build id */                         \
	ROW(NAME_NO_RESPONSE, "no_response")   /* set by the client: no response came */          \
	ROW(NAME_NO_FILE, "no_file")           /* set by the client: the address is in no file */ \
	ROW(NAME_NO_BUILD_ID, "no_build_id")   /* set by the client: of the address' file */

enum name_reason { NAME_REASONS(NAMED_CONSTANT) NAME_REASON_COUNT };

/* For each reason a word for programs and a sentence for users. */
extern const char *const name_reason_names[NAME_REASON_COUNT];
extern const char *const name_reason_text[NAME_REASON_COUNT];

struct symbolize_binary {
	str build_id; /* as in struct frame */
	const uint64_t *addresses;
	size_t address_count; /* 0: request only the generation */
};

struct symbolize_request {
	const struct symbolize_binary *binaries;
	size_t binary_count;
};

struct symbolized_line {
	str function;              /* full and demangled */
	str system_name;           /* as the linker knows it */
	str file;                  /* may be empty */
	uint32_t line, start_line; /* 0: unknown */
};

struct symbolized_location {
	const struct symbolized_line *lines; /* innermost first */
	size_t line_count;
	enum name_reason reason; /* NAME_KNOWN if and only if there are lines */
};

struct symbolized_binary {
	uint64_t generation;
	enum name_reason reason; /* of the whole binary; NAME_KNOWN: see each location */
	const struct symbolized_location *locations; /* one for each address */
	size_t location_count;
};

struct symbolize_response {
	const struct symbolized_binary *binaries; /* one for each binary of the request */
	size_t binary_count;
};

str symbolize_request_write(const struct symbolize_request *request, struct arena *arena);
str symbolize_response_write(const struct symbolize_response *response, struct arena *arena);

/* ERR_INVALID: not such a message. ERR_LIMIT: a count or the memory exceeds its bound in limits.h.
 */
bool symbolize_request_read(str bytes, struct symbolize_request *ret_request, struct arena *arena,
			    struct err *err) MUST_CHECK;
bool symbolize_response_read(str bytes, struct symbolize_response *ret_response,
			     struct arena *arena, struct err *err) MUST_CHECK;
