// SPDX-License-Identifier: Apache-2.0
/*
 * request_path - the parsed path of a debuginfod request, below /buildid/.
 *
 *     ID/debuginfo    ID/executable    ID/section/NAME    ID/source/ABSOLUTE/PATH
 *
 * Any thread.
 */
#pragma once

#include "elf/build_id.h"

#define REQUEST_KINDS(ROW)                    \
	ROW(REQUEST_DEBUGINFO, "debuginfo")   \
	ROW(REQUEST_EXECUTABLE, "executable") \
	ROW(REQUEST_SECTION, "section")       \
	ROW(REQUEST_SOURCE, "source")

enum request_kind { REQUEST_KINDS(NAMED_CONSTANT) REQUEST_KIND_COUNT };

extern const char *const request_kind_names[REQUEST_KIND_COUNT];

struct request_path {
	struct build_id id;
	enum request_kind kind;
	str name; /* section name, or source path with its leading slash; borrowed; else empty */
};

/* ERR_INVALID: malformed. ERR_NOT_FOUND: the path names no resource of this API. */
bool request_path_parse(str below, struct request_path *ret_path, struct err *err) MUST_CHECK;
