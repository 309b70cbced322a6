// SPDX-License-Identifier: Apache-2.0
/*
 * disk_check - whether the disk of the store responds, and can be written to.
 *
 * A disk or a network file system that hangs would hang the thread that asks it. So one thread, the
 * main thread, asks it regularly: it writes one byte and waits for the disk. /ready uses what it
 * found, and /healthy notices that it hangs (base/liveness.h). Any thread.
 */
#pragma once

#include "debuginfo/files.h"

struct disk_check {
	/* private */
	const struct files *files;
	pthread_mutex_t lock;
	uint64_t began_ns; /* of the check that is running; 0: none is */
	struct err err;    /* of the last check; ERR_NONE: the store can be written to */
};

/* Borrows `files`, which is open, until disk_check_done(). */
void disk_check_init(struct disk_check *check, const struct files *files);
void disk_check_done(struct disk_check *check);

/* Checks the disk; hangs if it does. */
void disk_check_run(struct disk_check *check);

/* The result; does not touch the disk. False, with the reason: the store cannot be written to
 * (ERR_IO), or the check has not ended within DISK_CHECK_LATE_MS (ERR_TIMEOUT). */
bool disk_check_result(struct disk_check *check, struct err *why);
