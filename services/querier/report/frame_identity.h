// SPDX-License-Identifier: Apache-2.0
/*
 * frame_identity - which frames are one bar of a flame graph and one row of a table: the parameter
 * `merge` of a request.
 *
 * A frame without a function is always an address of one build. Pure; any thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum frame_identity {
	/* By function and binary, whatever the directory, the version and the build of the binary
	 * ("querier/report/binary_name.h"). The source file counts only if a build has several
	 * functions of the name. */
	FRAME_OF_BINARY,
	FRAME_OF_FUNCTION, /* by the name of the function alone */
	FRAME_OF_PATH,     /* as FRAME_OF_BINARY, but by the whole path */
	FRAME_OF_ADDRESS,  /* by path, build and address */
	FRAME_IDENTITY_COUNT
};

/* Finds an identity by its name: binary, function, path or address. An empty name is
 * FRAME_OF_BINARY. ERR_INVALID: there is no such identity; the message lists the names. */
bool frame_identity_find(str name, enum frame_identity *ret_identity, struct err *err) MUST_CHECK;
