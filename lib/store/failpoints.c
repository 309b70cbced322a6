// SPDX-License-Identifier: Apache-2.0
#include "store/failpoints.h"

struct failpoint failpoint_after_series = {
	.name = "after-series",
	.where = "New series are committed; the write of their samples has not begun."
};
struct failpoint failpoint_after_copy = {
	.name = "after-copy",
	.where = "PostgreSQL has the sample rows; the received sequence numbers and the offsets "
		 "are not written."
};
struct failpoint failpoint_after_fence = {
	.name = "after-fence",
	.where = "All rows are written and the offsets are locked; COMMIT is not sent."
};
struct failpoint failpoint_after_commit = {
	.name = "after-commit",
	.where = "PostgreSQL has committed; the ingester has not recorded it."
};
struct failpoint failpoint_before_compaction = {
	.name = "before-compaction",
	.where = "The rows to compact or roll up are locked and read; nothing is written."
};
struct failpoint failpoint_in_compaction = {
	.name = "in-compaction",
	.where = "Rows are marked as compacted and the compacted chunks are written; COMMIT is not "
		 "sent."
};
struct failpoint failpoint_in_rollup = {
	.name = "in-rollup",
	.where = "Chunks are marked as rolled up and the rollups are written; COMMIT is not sent."
};
struct failpoint failpoint_after_compaction = {
	.name = "after-compaction",
	.where =
		"PostgreSQL has committed a compaction or rollup; the ingester has not recorded it."
};
