// SPDX-License-Identifier: Apache-2.0
/*
 * process - who is who: pid to program, mappings, cgroup, as of the moment that is being looked at.
 *
 * The table lives through the side band's events in the order of their times, and samples are asked
 * about in between. So at each sample it says what was true at that tick: fork inherits, exec
 * begins a new image, exit only marks, and a process leaves when no older sample can come. What ran
 * before us, or what lost events hide, is read from /proc. Agent thread only.
 */
#pragma once

#include "base/map.h"
#include "executable.h"
#include "process_image.h"
#include "sample.h"
#include "sideband_record.h"

struct process {
	uint32_t pid, parent_pid;
	struct process_image *image;   /* NULL: a kernel thread, or nothing is known */
	struct process_image *before;  /* the image that its last exec ended; kept for a moment */
	struct process_cgroup *cgroup; /* NULL: not known */
	uint64_t start_ns;             /* CLOCK_BOOTTIME; 0: not told yet */
	uint64_t exec_id;              /* of the kernel */
	bool exec_id_known, exited;
	bool is_restless; /* code has taken the place of other code in it, a moment ago */
	struct unwind_listing listing; /* of unwind_lists.c */

	/* private */
	uint32_t threads;
	uint64_t start_ticks;                     /* of those that were read from /proc */
	uint64_t exited_ns, exec_ns, remapped_ns; /* CLOCK_MONOTONIC */
	uint64_t cgroup_id;                       /* of the sample that the cgroup was read for */
	uint64_t cgroup_read_ms;
	uint64_t scan; /* the last scan of /proc that found it */
	struct process *next;
};

enum { PROCESS_BUCKETS = 4096 };

struct process_table {
	size_t count;
	uint64_t scanned, over_limit, mappings_over_limit, maps_cut, reused; /* cumulative */
	struct executable_cache executables;
	struct unwind_lists *lists; /* told what becomes of processes; NULL: nobody is */
	/* private */
	struct process *buckets[PROCESS_BUCKETS];
	struct arena scratch;
	uint64_t scans;
};

void process_table_init(struct process_table *table);
void process_table_done(struct process_table *table);

/* Read all of /proc: at start, and after events were lost. */
void process_table_scan(struct process_table *table);

/* End what is no process any more, should its end have been miscounted; now and then. */
void process_table_sweep(struct process_table *table);

/* How many mappings all processes have; what forks share counts for each. */
uint64_t process_table_mappings(const struct process_table *table);

/* One event, in the order of time. */
void process_table_apply(struct process_table *table, const struct side_band_record *record);

/*
 * The mappings in which the user side of a sample lies; NULL: none. While exec is at work the new
 * mappings are there already, and the registers are still the old program's.
 */
const struct mappings *process_mappings(const struct process *process, uint64_t address);

/* The process of a sample at its time; NULL only if the table is full. */
struct process *process_of_sample(struct process_table *table, const struct sample_record *record,
				  uint64_t now_ms);

/*
 * The parent in whose memory the process of a sample runs, whose mappings programs do not know;
 * NULL: it is in its own, or we do not know that parent.
 */
struct process *process_owner(struct process_table *table, const struct process *process,
			      const struct sample_record *record);

/* Drop who, and what, ended before a moment: nothing older will be asked about. */
void process_table_retire(struct process_table *table, uint64_t before_ns);
