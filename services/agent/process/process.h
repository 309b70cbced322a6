// SPDX-License-Identifier: Apache-2.0
/*
 * process - the process table: program, mappings and cgroup of each pid, as of a sample's tick.
 *
 * The caller applies sideband events and resolves samples in one order of time. So at each sample
 * the table holds the state at that tick: fork inherits, exec begins a new image, exit only marks
 * the process, and process_table_retire() removes it when no older sample can arrive. Processes
 * that ran before the agent, and changes whose events were lost, are read from /proc. The table
 * owns its processes. Agent thread only.
 */
#pragma once

#include "agent/process/executable.h"
#include "agent/process/process_image.h"
#include "agent/process/sideband_record.h"
#include "base/map.h"
#include "bpf/sample.h"

struct process {
	uint32_t pid, parent_pid;
	struct process_image *image;   /* NULL: a kernel thread, or unknown */
	struct process_image *before;  /* the image before the last exec; kept for a short time */
	struct process_cgroup *cgroup; /* NULL: unknown */
	uint64_t start_ns;             /* CLOCK_BOOTTIME; 0: unknown until the first sample */
	uint64_t exec_id;              /* the kernel's counter of execs */
	bool exec_id_known, exited;
	bool is_recently_remapped; /* it has mapped code over other code in the last REMAPPED_MS */
	struct unwind_listing listing; /* of unwind_lists.c */

	/* private */
	uint32_t threads;
	uint64_t start_ticks;                     /* if read from /proc, else 0 */
	uint64_t exited_ns, exec_ns, remapped_ns; /* CLOCK_MONOTONIC */
	uint64_t cgroup_id;                       /* of the sample that the cgroup was read for */
	uint64_t cgroup_read_ms;
	uint64_t scan; /* number of the last scan of /proc that found it */
	struct process *next;
};

enum { PROCESS_BUCKETS = 4096 };

struct process_table {
	size_t count;
	uint64_t scanned, over_limit, mappings_over_limit, maps_truncated, reused; /* cumulative */
	struct executable_cache executables;
	struct unwind_lists *lists; /* notified of changes of processes; NULL: unused */
	/* private */
	struct process *buckets[PROCESS_BUCKETS];
	struct arena scratch;
	uint64_t scans;
};

void process_table_init(struct process_table *table);
void process_table_done(struct process_table *table);

/* Reads all processes from /proc: at start, and after events were lost. */
void process_table_scan(struct process_table *table);

/* Marks processes that do not exist any more as exited, in case their exits were miscounted. To be
 * called every few minutes. */
void process_table_sweep(struct process_table *table);

/* The number of mappings of all processes; mappings shared after a fork count for each process. */
uint64_t process_table_mappings(const struct process_table *table);

/* Applies one event. Events must come in order of time. */
void process_table_apply(struct process_table *table, const struct sideband_record *record);

/*
 * The mappings for a sample whose user leaf is `address`; NULL: unknown. During exec the new
 * mappings exist already while the registers are still the old program's: then these are the old
 * mappings.
 */
const struct mappings *process_mappings(const struct process *process, uint64_t address);

/* The process of a sample at its tick. Adds it if it is not in the table, and reads /proc if events
 * were lost. NULL only if the table is full. */
struct process *process_of_sample(struct process_table *table, const struct sample_record *record,
				  uint64_t now_ms);

/*
 * The parent in whose memory the process of a sample runs, if the BPF program does not know the
 * parent's mappings (owner_start_ns). NULL: it runs in its own memory, or the parent is unknown.
 */
struct process *process_owner(struct process_table *table, const struct process *process,
			      const struct sample_record *record);

/* Removes processes that exited, and images that ended, before a moment. No older sample may
 * follow.
 */
void process_table_retire(struct process_table *table, uint64_t before_ns);
