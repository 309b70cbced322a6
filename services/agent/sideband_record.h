// SPDX-License-Identifier: Apache-2.0
/*
 * sideband_record - parses one perf sideband record: an event of a process or of the kernel.
 *
 * Pure: bytes of the ring in, a struct out that borrows from them. perf_event_open(2) defines the
 * layout, for events as sideband.c opens them (sample_id_all with TID, TIME and CPU).
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum side_band_type {
	SIDE_BAND_OTHER, /* ignored */
	SIDE_BAND_FORK,  /* of a process; of a thread if pid is parent_pid */
	SIDE_BAND_EXEC,
	SIDE_BAND_EXIT, /* of a thread */
	SIDE_BAND_MAP,  /* of executable memory */
	SIDE_BAND_KSYMBOL,
	SIDE_BAND_LOST,
	SIDE_BAND_TYPE_COUNT,
};

enum { SIDE_BAND_BUILD_ID_MAX = 20 };

struct side_band_record {
	enum side_band_type type;
	uint32_t pid, tid, parent_pid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */

	/* SIDE_BAND_MAP; address and length also of SIDE_BAND_KSYMBOL */
	uint64_t address, length, file_offset;
	/* SIDE_BAND_MAP: the file, in the root directory of its process, or "[vdso]", "//anon".
	 * SIDE_BAND_KSYMBOL: the symbol's name. SIDE_BAND_EXEC: the program; the timeline fills it
	 * in. */
	str path;
	uint8_t build_id[SIDE_BAND_BUILD_ID_MAX];
	uint32_t build_id_len; /* 0: no build id, then the file is identified by: */
	uint32_t device_major, device_minor;
	uint64_t inode, generation;

	bool unregistered; /* SIDE_BAND_KSYMBOL: the symbol is removed */
	uint64_t lost;     /* SIDE_BAND_LOST: number of records */
};

/* The length of the record that begins with these 8 bytes; 0: they are no valid header. */
size_t sideband_record_len(str header);

/* ERR_INVALID: the bytes are not one whole record. */
bool sideband_record_read(str bytes, struct side_band_record *ret_record,
			  struct err *err) MUST_CHECK;
