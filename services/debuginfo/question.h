// SPDX-License-Identifier: Apache-2.0
/*
 * question - what a debuginfod client asks for: the path below /buildid/, taken apart.
 *
 *     ID/debuginfo    ID/executable    ID/section/NAME    ID/source/ABSOLUTE/PATH
 */
#pragma once

#include "object/build_id.h"

enum question_kind { ASK_DEBUGINFO, ASK_EXECUTABLE, ASK_SECTION, ASK_SOURCE, ASK_KIND_COUNT };

extern const char *const question_names[ASK_KIND_COUNT];

struct question {
	struct build_id id;
	enum question_kind kind;
	str rest; /* a section's name, or a source's path with its first slash; borrowed */
};

/* ERR_INVALID: malformed; ERR_NOT_FOUND: nothing of that kind is ever here. */
bool question_parse(str below, struct question *ret_question, struct err *err) MUST_CHECK;
