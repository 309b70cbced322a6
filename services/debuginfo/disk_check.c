// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/disk_check.h"

#include "base/clock.h"
#include "debuginfo/debuginfo_limits.h"

#include <inttypes.h>

void disk_check_init(struct disk_check *check, const struct files *files)
{
	*check = (struct disk_check){ .files = files };
	pthread_mutex_init(&check->lock, NULL);
}

void disk_check_done(struct disk_check *check)
{
	if (check->files)
		pthread_mutex_destroy(&check->lock);
	check->files = NULL;
}

void disk_check_run(struct disk_check *check)
{
	struct err err = { 0 };

	pthread_mutex_lock(&check->lock);
	check->began_ns = clock_monotonic_ns();
	pthread_mutex_unlock(&check->lock);

	bool good = files_is_writable(check->files, &err);

	pthread_mutex_lock(&check->lock);
	check->began_ns = 0;
	check->err = good ? (struct err){ 0 } : err;
	pthread_mutex_unlock(&check->lock);
}

bool disk_check_result(struct disk_check *check, struct err *why)
{
	uint64_t began_ns, now_ns;
	struct err err;

	pthread_mutex_lock(&check->lock);
	began_ns = check->began_ns;
	err = check->err;
	pthread_mutex_unlock(&check->lock);
	now_ns = clock_monotonic_ns();
	if (began_ns && now_ns - began_ns > DISK_CHECK_LATE_MS * NS_PER_MS)
		return err_set(why, ERR_TIMEOUT,
			       "the disk of the store has not responded for %" PRIu64 " s",
			       (now_ns - began_ns) / NS_PER_SECOND);
	if (err.code)
		*why = err;
	return !err.code;
}
