// SPDX-License-Identifier: Apache-2.0
#include "ingester/consume/batch_number_internal.h"
#include "ingester/ingester_limits.h"

static bool read_positive(const char *name, str text, uint64_t *ret_value, struct err *err)
{
	uint64_t value;

	/* Both are stored as bigint, and sequence + 1 as the exclusive end of a range. */
	if (!text.ptr || !str_to_u64(text, &value) || value == 0 || value >= INT64_MAX)
		return err_set(err, ERR_INVALID, "header %s is not a positive decimal number",
			       name);
	*ret_value = value;
	return true;
}

bool batch_number_parse(str key, str epoch, str sequence, struct batch_number *ret_number,
			struct err *err)
{
	struct batch_number number = { .is_present = true, .host = key };

	if (!epoch.ptr && !sequence.ptr) {
		*ret_number = (struct batch_number){ 0 };
		return true;
	}
	if (key.len == 0 || key.len > HOST_ID_MAX || !str_is_utf8(key) ||
	    memchr(key.ptr, 0, key.len))
		return err_set(err, ERR_INVALID,
			       "the message's key is not a host id of 1 to %d bytes", HOST_ID_MAX);
	if (!read_positive("decima-epoch", epoch, &number.epoch, err) ||
	    !read_positive("decima-seq", sequence, &number.sequence, err))
		return false;
	*ret_number = number;
	return true;
}
