// SPDX-License-Identifier: Apache-2.0
/*
 * label_pair - the id under which a name and its value are stored.
 *
 * Two names are the store's own: a series' profile type is its pair "__type__", so that one index
 * finds by type as by label; "__sample__" lists the names of labels that samples of a day have.
 * Names that begin with two underscores (label_name_is_reserved()) are therefore never stored as
 * labels; whoever takes labels in leaves them out and counts them.
 */
#pragma once

#include "base/buf.h"
#include "base/hash.h"

#define PAIR_TYPE   STR("__type__")
#define PAIR_SAMPLE STR("__sample__")

static inline int64_t label_pair_id(str name, str value, struct arena *scratch)
{
	struct buf input = { .arena = scratch };

	buf_str_prefixed(&input, name);
	buf_str_prefixed(&input, value);
	return (int64_t)hash_64(buf_bytes(&input));
}
