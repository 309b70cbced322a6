// SPDX-License-Identifier: Apache-2.0
#include "ingester/failpoints.h"

#include "client/postgres.h"
#include "store/failpoints.h"

struct failpoint failpoint_in_revoke = {
	.name = "in-revoke",
	.where = "Kafka revokes the partitions; the messages read from them are not dropped yet."
};

/* In the order in which they are met. */
static struct failpoint *const points[] = {
	&failpoint_in_revoke,         &failpoint_after_series,  &failpoint_in_copy,
	&failpoint_after_copy,        &failpoint_after_fence,   &failpoint_after_commit,
	&failpoint_before_compaction, &failpoint_in_compaction, &failpoint_in_rollup,
	&failpoint_after_compaction
};

const struct failpoint_table ingester_failpoints = { "ingester", points, ARRAY_LEN(points) };
