// SPDX-License-Identifier: Apache-2.0
#include "querier/report/frame_identity.h"

static const char *const identity_names[FRAME_IDENTITY_COUNT] = {
	[FRAME_OF_BINARY] = "binary",
	[FRAME_OF_FUNCTION] = "function",
	[FRAME_OF_PATH] = "path",
	[FRAME_OF_ADDRESS] = "address",
};

bool frame_identity_find(str name, enum frame_identity *ret_identity, struct err *err)
{
	enum frame_identity identity = FRAME_OF_BINARY;

	while (name.len && identity < FRAME_IDENTITY_COUNT &&
	       !str_eq(str_from(identity_names[identity]), name))
		identity++;
	if (identity == FRAME_IDENTITY_COUNT)
		return err_set(err, ERR_INVALID,
			       "merge: \"" STR_FMT "\" is none of binary, function, path, address",
			       (int)(name.len < 64 ? name.len : 64), name.ptr);
	*ret_identity = identity;
	return true;
}
