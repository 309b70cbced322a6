// SPDX-License-Identifier: Apache-2.0
/*
 * proc_reader - reads /proc/PID/maps in a thread, with a deadline.
 *
 * Reading the mappings of a process waits for a lock of its memory. A process holds that lock while
 * it maps a file, and then may wait for the file's server: a network that is down, or a FUSE server
 * of the same user. So the sampling thread waits at most PROC_READ_MS for the thread that reads,
 * for all pieces of the file together. A thread that does not respond is left behind, until the
 * process releases the lock, and another one is started.
 *
 *     if (!proc_reader_may_read(&reader, pid, owner, now_ms))
 *             return false;
 *     proc_reader_open(&reader, path, pid, owner);
 *     while (proc_reader_next(&reader, &bytes, now_ms) && bytes.len)
 *             ...
 *
 * A process whose reading hung is not read for PROC_HUNG_PAUSE_MS, and longer while it hangs. The
 * same holds for all processes of its owner, unless that is root, so that no user can let the
 * sampling thread wait again and again. At most PROC_HUNG_MAX readings are remembered. A zeroed
 * struct is valid. Sampling thread only.
 */
#pragma once

#include "agent/agent_limits.h"
#include "agent/process/owner.h"
#include "base/str.h"

struct proc_worker;

/* A reading that hung. */
struct proc_hung {
	struct proc_worker *worker; /* NULL: it has ended */
	struct share_owner owner;
	uint32_t pid;
	uint64_t until_ms; /* not read before, CLOCK_MONOTONIC */
};

struct proc_reader {
	uint64_t hung[OWNER_CLASS_COUNT]; /* cumulative: readings, by class of the owner */
	uint64_t cpu_ns;                  /* cumulative: of the thread, for readings that ended */
	/* private */
	struct proc_worker *worker;
	struct proc_hung pauses[PROC_HUNG_MAX];
	struct share_owner owner; /* of what is being read */
	uint32_t pid;
	uint64_t deadline_ns; /* until when it must be read */
};

/* False: a reading of the process, or of one of its owner's, hung lately; or too many hang. */
bool proc_reader_may_read(struct proc_reader *reader, uint32_t pid, struct share_owner owner,
			  uint64_t now_ms);

/* Begins to read a file, after the one before. */
void proc_reader_open(struct proc_reader *reader, const char *path, uint32_t pid,
		      struct share_owner owner);

/* The next bytes of the file, at most PROC_READ_BYTES; empty at its end, and if it cannot be read.
 * They are valid until the next call. False: the deadline is over, which
 * was counted; or the thread cannot be started. */
bool proc_reader_next(struct proc_reader *reader, str *ret_bytes, uint64_t now_ms);

/* Ends the thread, and those left behind that have ended; others end with the agent. */
void proc_reader_done(struct proc_reader *reader);
