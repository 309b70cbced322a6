// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/failpoints.h"

struct failpoint failpoint_after_spool_file = {
	.name = "after-spool-file",
	.where = "A batch's file is on disk; its sequence number is not in the spool's meta file "
		 "yet."
};
struct failpoint failpoint_after_spool_fsync = {
	.name = "after-spool-fsync",
	.where = "A batch and its sequence number are on disk; the publisher does not know of it "
		 "yet."
};
struct failpoint failpoint_after_produce = {
	.name = "after-produce",
	.where = "A batch was passed to the Kafka client, which may or may not have sent it."
};
struct failpoint failpoint_at_report = {
	.name = "at-report", .where = "Kafka has acknowledged a batch; it is still in the spool."
};

static struct failpoint *const points[] = { &failpoint_after_spool_file,
					    &failpoint_after_spool_fsync, &failpoint_after_produce,
					    &failpoint_at_report };

const struct failpoint_table agent_failpoints = { "agent", points, ARRAY_LEN(points) };
