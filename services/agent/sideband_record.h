// SPDX-License-Identifier: Apache-2.0
/*
 * side_band_record - one record of perf's side band: what happened to a process or to the kernel.
 *
 * Pure: bytes of the ring in, a struct out that borrows from them. The layout is that of
 * perf_event_open(2) for events opened by side_band.c (sample_id_all with TID, TIME and CPU).
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum side_band_type {
	SIDE_BAND_OTHER, /* of no use to us */
	SIDE_BAND_FORK,  /* a process, or a thread where pid is parent_pid */
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
	/* Of the file in its process' own root, "[vdso]", "//anon"; a symbol's name; of
	 * SIDE_BAND_EXEC the program, once the timeline has found it. */
	str path;
	uint8_t build_id[SIDE_BAND_BUILD_ID_MAX];
	uint32_t build_id_len; /* 0: not told, then the file is: */
	uint32_t device_major, device_minor;
	uint64_t inode, generation;

	bool unregistered; /* SIDE_BAND_KSYMBOL: gone */
	uint64_t lost;     /* SIDE_BAND_LOST: how many records */
};

/* The length of the record that begins with these 8 bytes; 0: cannot be. */
size_t sideband_record_len(str header);

bool sideband_record_read(str bytes, struct side_band_record *ret_record,
			  struct err *err) MUST_CHECK;
