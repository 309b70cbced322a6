// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/local_store.h"

#include "agent/spool/disk_file_internal.h"
#include "base/directory.h"
#include "profile/profile_type.h"
#include "wire/pprof.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

enum { FILE_NAME_MAX = 40 };

#define LOCAL_STORE_METRICS(ROW)                                                         \
	ROW(samples_lost, METRIC_COUNTER, "decima_agent_local_store_lost_samples_total", \
	    "Samples lost because a file of the local store could not be written.")

METRICS(local_store_metrics, LOCAL_STORE_METRICS);

bool local_store_open(struct local_store *store, const char *directory, struct err *err)
{
	*store = (struct local_store){ .fd = -1 };
	if (!directory_open(directory, &store->fd, err))
		return err_wrap(err, "local store");
	store->is_open = true;
	return true;
}

void local_store_close(struct local_store *store)
{
	if (store->is_open)
		close(store->fd);
	*store = (struct local_store){ .fd = -1 };
}

static uint64_t period_of(const struct sample_set *set)
{
	for (size_t i = 0; i < set->series.len; i++)
		if (str_eq(set->series.items[i].type, STR(PROFILE_TYPE_CPU)))
			return set->series.items[i].period;
	return 0;
}

bool local_store_write(struct local_store *store, const struct sample_set *set, uint64_t start_ms,
		       uint64_t end_ms, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct pprof_options options = { .type = STR(PROFILE_TYPE_CPU),
					 .start_ms = start_ms,
					 .end_ms = end_ms,
					 .period = period_of(set),
					 .series_labels = true,
					 .sample_labels = true };
	char name[FILE_NAME_MAX];

	if (!set->samples.len)
		return true;
	snprintf(name, sizeof(name), "%" PRIu64 ".pb.gz", start_ms);
	if (!disk_file_write(store->fd, name, pprof_write(set, &options, &arena), err)) {
		metric_add(&samples_lost, set->samples.len);
		return err_wrap(err, "local store");
	}
	store->files++;
	return true;
}
