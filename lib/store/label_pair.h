// SPDX-License-Identifier: Apache-2.0
/*
 * label_pair - the id of a label pair (a label name and a value) in the tables. Any thread.
 *
 * The store reserves two names. The value of "__type__" is the profile type of a series, so that
 * one index finds series by type as well as by label. The values of "__sample__" are the names of
 * the labels that samples of a day have, as distinct from labels of series. Labels whose names
 * begin with two underscores (label_name_is_reserved()) are therefore never stored; the ingester
 * leaves such labels out and counts them.
 */
#pragma once

#include "base/buf.h"
#include "base/hash.h"

#define PAIR_TYPE   STR("__type__")
#define PAIR_SAMPLE STR("__sample__")

/* A hash of name and value. Uses memory of `scratch`. Cannot fail. */
static inline int64_t label_pair_id(str name, str value, struct arena *scratch)
{
	struct buf input = { .arena = scratch };

	buf_str_prefixed(&input, name);
	buf_str_prefixed(&input, value);
	return (int64_t)hash_64(buf_bytes(&input));
}
