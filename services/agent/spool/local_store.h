// SPDX-License-Identifier: Apache-2.0
/*
 * local_store - writes profiles to local files without any server: one gzipped pprof file per
 * interval.
 *
 *     DIR/1790000000000.pb.gz     named after the start of its interval, Unix time in ms
 *
 * Series labels and sample labels become pprof labels; `go tool pprof FILE` reads the file. A file
 * appears under its name only when it is complete. Files are never removed: the user removes them.
 * One thread.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"
#include "server/metrics/metrics.h"

struct local_store {
	uint64_t files; /* written since it was opened */
	/* private */
	int fd;
	bool is_open;
};

/* Opens the directory, and creates it (not its parents) if it is missing. `directory` is borrowed.
 * ERR_IO, ERR_NOT_FOUND: there is nothing to close. */
bool local_store_open(struct local_store *store, const char *directory, struct err *err) MUST_CHECK;

/* Closes the directory; the files stay. Accepts a zeroed struct. */
void local_store_close(struct local_store *store);

/*
 * Writes the CPU samples of [start_ms, end_ms), Unix ms, to a file. An empty set writes no file.
 * Borrows the set. ERR_IO: the samples are lost, and counted in local_store_metrics; later calls
 * may succeed.
 */
bool local_store_write(struct local_store *store, const struct sample_set *set, uint64_t start_ms,
		       uint64_t end_ms, struct err *err) MUST_CHECK;

extern struct metric *const local_store_metrics[];
