// SPDX-License-Identifier: Apache-2.0
/*
 * file_reader - finds, opens and reads the files that processes map, without ever waiting for them.
 *
 * Two threads, each with two child processes: decima-agent-opener finds and opens a file,
 * decima-agent-reader parses it in a sandbox. The first thread handles files of local file systems.
 * It passes on all others to the second one, where a file that hangs delays only files of its kind:
 * its opener is killed after FILE_REMOTE_MS, left behind if it does not end, and the file system is
 * not tried again for some time. The functions of file_reader_source() never wait.
 */
#pragma once

#include "agent/process/executable.h"
#include "base/cancel.h"
#include "base/queue.h"
#include "sandbox/sandbox.h"

enum file_lane_of { FILE_LANE_LOCAL, FILE_LANE_REMOTE, FILE_LANE_COUNT };
enum { FILE_MUTED_MAX = 64 };

/* A file system, or a process whose paths hang, that is not tried before a time. */
struct file_muted {
	bool is_process;
	uint64_t id; /* device number, or pid */
	uint64_t until_ns;
	uint32_t misses;
};

struct file_lane {
	/* private; owned by the thread */
	struct file_reader *reader;
	struct queue requests;
	pthread_t thread;
	bool running;
	/* The second parser is for trusted files: a process that another file has taken over reads
	 * none of them. */
	struct sandbox opener, parser, trusted_parser;
	bool is_missing; /* a program of ours; logged once */
	uint64_t used_ns;
	struct file_muted muted[FILE_MUTED_MAX];
};

struct file_reader {
	/* private */
	struct file_lane lanes[FILE_LANE_COUNT];
	struct queue responses;
	struct cancel cancel;
	char sandbox_uid[24]; /* an argument of decima-agent-reader */
};

/*
 * Starts the threads. The struct must not move until file_reader_stop(). ERR_IO: a thread cannot be
 * started; there is nothing to stop. A missing program is no error: it is logged.
 */
bool file_reader_start(struct file_reader *reader, uint64_t sandbox_uid,
		       struct err *err) MUST_CHECK;

/* Ends both threads and their processes. Requests without a response are dropped. Accepts a struct
 * that is not running. */
void file_reader_stop(struct file_reader *reader);

/* The source for executable_cache_set_source(). Valid until file_reader_stop(). */
struct executable_source file_reader_source(struct file_reader *reader);

extern struct metric *const file_reader_metrics[];
