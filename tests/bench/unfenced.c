// SPDX-License-Identifier: Apache-2.0
/*
 * unfenced - replaces lib/store/write/writer_fence.c in tests/ingester_unfenced, for measurements
 * only: it writes no fence and no received sequence numbers, so a restart stores data twice.
 */
#include "store/write/writer_fence_internal.h"

bool writer_fence_put_hosts(struct flush *flush, bool *ret_lost, struct err *err)
{
	(void)flush;
	(void)err;
	*ret_lost = false;
	return true;
}

bool writer_fence_put_offsets(struct flush *flush, bool *ret_lost, struct err *err)
{
	(void)flush;
	(void)err;
	*ret_lost = false;
	return true;
}
