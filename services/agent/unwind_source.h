// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_source - where tables come from: a file in the cache, or one built now (unwind_builder.c);
 * or a test. Neither call waits.
 */
#pragma once

#include "executable.h"
#include "unwind_outcome.h"

struct unwind_answer {
	char build_id[BUILD_ID_TEXT_MAX];
	uint32_t outcome; /* UNWIND_BUILT, or why there is none */
	int fd;           /* the table's file, verified and the receiver's; -1: there is none */
	uint32_t pages;
};

struct unwind_source {
	/* False: not now. The descriptor is the source's from then on; -1: only if it is cached. */
	bool (*ask)(void *self, const char *build_id, int fd);
	/* False: there is none now. */
	bool (*answer)(void *self, struct unwind_answer *ret_answer);
	void *self;
};
