// SPDX-License-Identifier: Apache-2.0
/*
 * sideband_record - parses one perf sideband record: an event of a process or of the kernel.
 *
 * Pure: the record's path borrows from the bytes of the ring. Any thread. perf_event_open(2)
 * defines the layout, for events as sideband.c opens them (sample_id_all with TID, TIME and CPU).
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "bpf/sample.h"

enum sideband_type {
	SIDEBAND_OTHER, /* ignored */
	SIDEBAND_FORK,  /* of a process; of a thread if pid is parent_pid */
	SIDEBAND_EXEC,
	SIDEBAND_EXIT, /* of a thread */
	SIDEBAND_MAP,  /* of executable memory */
	SIDEBAND_KSYMBOL,
	SIDEBAND_LOST,
	SIDEBAND_TYPE_COUNT,
};

enum { SIDEBAND_BUILD_ID_MAX = 20 };

struct sideband_record {
	enum sideband_type type;
	uint32_t pid, tid, parent_pid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */

	/* SIDEBAND_MAP; address and length also of SIDEBAND_KSYMBOL */
	uint64_t address, length, file_offset;
	/* SIDEBAND_MAP: the file, in the root directory of its process, or "[vdso]", "//anon".
	 * SIDEBAND_KSYMBOL: the symbol's name. SIDEBAND_EXEC: the program; the timeline fills it
	 * in. */
	str path;
	uint8_t build_id[SIDEBAND_BUILD_ID_MAX];
	uint32_t build_id_len; /* 0: no build id, then the file is identified by: */
	uint32_t device_major, device_minor;
	uint64_t inode, generation;

	char comm[COMM_SIZE]; /* SIDEBAND_EXEC */

	bool unregistered; /* SIDEBAND_KSYMBOL: the symbol is removed */
	uint64_t lost;     /* SIDEBAND_LOST: number of records */
};

/*
 * The length of the record that begins with `header`, at least 8 bytes. 0: the header is malformed.
 */
size_t sideband_record_len(str header);

/* `bytes`: one whole record. ERR_INVALID: the length differs from the header's, or a field is
 * missing; *ret_record is unchanged. A record of an unknown type is SIDEBAND_OTHER. */
bool sideband_record_read(str bytes, struct sideband_record *ret_record,
			  struct err *err) MUST_CHECK;
