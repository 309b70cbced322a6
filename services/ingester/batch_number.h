// SPDX-License-Identifier: Apache-2.0
/*
 * number - the number of a batch, out of a message's headers.
 *
 * Our agents say who they are (the key), which spool (decima-epoch) and the how-manieth batch of it
 * (decima-seq). Others' producers say none of it: their messages are stored once per offset. Saying
 * only part of it, or something that is no number, is an error. Pure.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct batch_number {
	bool is_present;
	str host;
	uint64_t epoch, sequence;
};

/* The three texts as they came; a NULL ptr is an absent header. */
bool batch_number_parse(str key, str epoch, str sequence, struct batch_number *ret_number,
			struct err *err) MUST_CHECK;
