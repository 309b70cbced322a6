/*
 * json_read - what strangers send as JSON, read by jansson and copied into an arena at once.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * The texts of a list that is a member of an object: {"member": ["a", "b"]}. Other members are not
 * looked at. ERR_INVALID: not that; ERR_LIMIT: more than max of them. The tree that the library
 * makes takes up to 100 times the text's length until this returns: bound the text, and who asks at
 * once.
 */
bool json_read_texts(str text, const char *member, size_t max, struct arena *arena, str **ret_texts,
		     size_t *ret_count, struct err *err) MUST_CHECK;
