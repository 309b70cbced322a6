// SPDX-License-Identifier: Apache-2.0
/*
 * local_store - profiles as files: one gzip'd pprof file per interval, and no server at all.
 *
 *     DIR/1790000000000.pb.gz     its name is the start of its interval, Unix ms
 *
 * Labels of the series and of the sample are labels of pprof; `go tool pprof FILE` reads it. A file
 * appears under its name when it is whole. Nothing is ever removed: whoever asks for the files
 * takes them away. One thread.
 */
#pragma once

#include "base/err.h"
#include "chassis/metrics.h"
#include "profile/sample_set.h"

struct local_store {
	uint64_t files; /* written since it was opened */
	/* private */
	int fd;
	bool is_open;
};

/* Makes the directory (not its parents) if it is not there. */
bool local_store_open(struct local_store *store, const char *directory, struct err *err) MUST_CHECK;
void local_store_close(struct local_store *store);

/* The CPU samples of [start_ms, end_ms). An empty set writes no file. False: they are lost. */
bool local_store_write(struct local_store *store, const struct sample_set *set, uint64_t start_ms,
		       uint64_t end_ms, struct err *err) MUST_CHECK;

extern struct metric *const local_store_metrics[];
extern const size_t local_store_metric_count;
