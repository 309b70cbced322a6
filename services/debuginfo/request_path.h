// SPDX-License-Identifier: Apache-2.0
/*
 * question - what a debuginfod client asks for: the path below /buildid/, taken apart.
 *
 *     ID/debuginfo    ID/executable    ID/section/NAME    ID/source/ABSOLUTE/PATH
 */
#pragma once

#include "object/build_id.h"

enum request_kind {
	REQUEST_DEBUGINFO,
	REQUEST_EXECUTABLE,
	REQUEST_SECTION,
	REQUEST_SOURCE,
	REQUEST_KIND_COUNT
};

extern const char *const request_kind_names[REQUEST_KIND_COUNT];

struct request_path {
	struct build_id id;
	enum request_kind kind;
	str name; /* a section's name, or a source's path with its first slash; borrowed */
};

/* ERR_INVALID: malformed; ERR_NOT_FOUND: nothing of that kind is ever here. */
bool request_path_parse(str below, struct request_path *ret_path, struct err *err) MUST_CHECK;
