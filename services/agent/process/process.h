// SPDX-License-Identifier: Apache-2.0
/*
 * process - the process table: program, mappings and cgroup of each pid, as of a sample's tick.
 *
 * The caller applies sideband events and resolves samples together in order of time. So at each
 * sample the table holds the state at that tick: fork inherits, exec begins a new image, exit only
 * marks the process, and process_table_retire() removes it when no older sample can arrive.
 * Processes that ran before the agent, and changes whose events were lost, are read from /proc:
 * each process when it is sampled, within a budget of CPU time (read_budget_internal.h). A process
 * that makes mappings by the thousand is muted: its map events are dropped, and it is read from
 * /proc instead. The table owns its processes; a pointer to a process is valid until
 * process_table_retire(). Agent thread only.
 */
#pragma once

#include "agent/process/executable.h"
#include "agent/process/proc_reader_internal.h"
#include "agent/process/process_image.h"
#include "agent/process/read_budget_internal.h"
#include "agent/process/sideband_record.h"
#include "base/map.h"
#include "bpf/sample.h"

#include <dirent.h>

struct process {
	uint32_t pid, parent_pid;
	struct process_image *image;   /* NULL: a kernel thread, or unknown */
	struct process_image *before;  /* the image before the last exec; kept for a short time */
	struct process_cgroup *cgroup; /* NULL: unknown */
	uint64_t start_ns;             /* CLOCK_BOOTTIME; 0: unknown until the first sample */
	char comm[COMM_SIZE];     /* as of exec, or of the first sample; empty: no sample yet */
	struct share_owner owner; /* of a sampled process; .id 0: a kernel thread, or unknown */
	uint64_t exec_id;         /* the kernel's counter of execs */
	bool exec_id_known, exited;
	bool is_recently_remapped;     /* it mapped code over other code in the last REMAPPED_MS */
	struct unwind_listing listing; /* written by unwind_lists.c */

	/* private */
	bool is_owner_current; /* else to be determined again, see owner.h */
	uint32_t threads;
	uint64_t start_ticks;            /* if read from /proc, else 0 */
	uint64_t exited_ns, remapped_ns; /* CLOCK_MONOTONIC */
	uint64_t exec_ns;                /* likewise; of the fork if there was no exec */
	uint64_t cgroup_id;              /* of the sample that the cgroup was read for */
	uint64_t cgroup_read_ms;
	uint64_t read_ms, sampled_ms; /* last reading of /proc, last sample; 0: none */
	uint64_t losses_seen;         /* less than the table's: to be read when sampled */
	uint64_t maps_since_ns;       /* begin of the second in which map_bytes are counted */
	uint64_t muted_until_ns;      /* CLOCK_MONOTONIC; of map events */
	uint64_t map_bytes;           /* of records of mappings */
	bool lacks_files; /* some of its mappings have no executable: its owner had its share */
	bool is_large;    /* its /proc/PID/maps was longer than PROC_MAPS_SMALL_BYTES */
	bool has_generated_code; /* an executable mapping without a file, which it may move */
};

struct process_table {
	INDEX(struct process *) by_pid; /* read only its len */
	/* cumulative: */
	uint64_t scanned, over_limit, mappings_over_limit, maps_truncated, reused;
	uint64_t postponed; /* readings of /proc: the budget was used up */
	uint64_t muted_processes, muted_events;
	struct executable_cache executables;
	struct unwind_lists *lists; /* notified of changes of processes; NULL: unused */
	/* private */
	struct arena scratch;
	struct read_budget budget;
	struct proc_reader reader; /* read only `hung` */
	uint64_t losses;           /* how often events were lost; from 1 on */
	uint64_t muted_until_ns;   /* no process is muted longer */
	uint64_t muting_logged_ms;
	uint64_t mappings; /* of all images, at most: without what was released since it was
			      counted */
	uint64_t counts;   /* how often they were counted */
	uint64_t refused;  /* executables, when places were released last */
	uint64_t released_ms, retried_ms;
	DIR *first_scan; /* NULL: complete */
};

/* An empty table; initialises `executables` as well. Cannot fail. The caller sets `lists`
 * afterwards. */
void process_table_init(struct process_table *table);

/* Frees all processes and executables; calls unwind_lists_forget() for each process. Accepts a
 * zeroed struct. */
void process_table_done(struct process_table *table);

/*
 * The processes that run at the start, without a pause for all of them: the caller calls
 * process_table_first_scan() once, when sideband events are recorded, and process_table_scan_more()
 * again and again. Meanwhile a process is read when its first sample or event comes, and a parent
 * before its child inherits from it.
 */
void process_table_first_scan(struct process_table *table);

/* Reads up to `count` further processes of the first scan; nothing if it is complete. */
void process_table_scan_more(struct process_table *table, size_t count);

/* A sample of the process waits to be processed. Until the first scan is complete, the process is
 * read at once: it may end soon, and only its changes are known. */
void process_table_expect(struct process_table *table, const struct sample_record *record);

/* Begins a round at now_ns (CLOCK_MONOTONIC): adds to the budget of readings, and drops the
 * mappings of processes that are seldom sampled if all mappings, or their files, are too many. */
void process_table_begin_round(struct process_table *table, uint64_t now_ns);

/*
 * Events were lost, of processes that are not known: each process is read from /proc when it is
 * sampled. The caller calls it again after the next round, for events that were waiting to be
 * applied.
 */
void process_table_lost(struct process_table *table);

/* False: a map event of a muted process, which is counted here and need not be applied. */
bool process_table_takes(struct process_table *table, const struct sideband_record *record);

/*
 * Marks processes that do not exist any more as exited, in case the exits of their threads were
 * miscounted. While the table is nearly full, also those that were neither sampled nor started
 * lately, which are added again when they are sampled. Called every few minutes; more often while
 * process_table_is_crowded().
 */
void process_table_sweep(struct process_table *table);

/* True while more than three quarters of PROCESSES_MAX are used. */
bool process_table_is_crowded(const struct process_table *table);

/* The number of mappings of all processes; mappings shared after a fork count for each process. */
uint64_t process_table_mappings(const struct process_table *table);

/*
 * Applies one event; copies what it keeps. Events must come in order of time. Events of the kernel
 * (SIDEBAND_KSYMBOL, SIDEBAND_LOST) are ignored. Beyond PROCESSES_MAX a new process is not kept and
 * is counted.
 */
void process_table_apply(struct process_table *table, const struct sideband_record *record);

/*
 * The mappings for a sample whose user leaf is `address`, borrowed until the next change of the
 * process. NULL: unknown. During exec the new mappings exist while the registers are still those of
 * the old program: if only the old mappings contain `address`, these are returned.
 */
const struct mappings *process_mappings(const struct process *process, uint64_t address);

/* The process of a sample at its tick. Adds the process if it is not in the table, and reads /proc
 * if events were lost, as the budget allows. now_ms: CLOCK_MONOTONIC. NULL: the table is full. */
struct process *process_of_sample(struct process_table *table, const struct sample_record *record,
				  uint64_t now_ms);

/*
 * The parent in whose memory the process of a sample runs, if the BPF program does not know the
 * parent's mappings (owner_start_ns). NULL: it runs in its own memory, or the parent is unknown.
 */
struct process *process_owner(struct process_table *table, const struct process *process,
			      const struct sample_record *record);

/* Removes processes that exited, and images that ended by exec, before before_ns (CLOCK_MONOTONIC).
 * The caller must not resolve older samples afterwards. */
void process_table_retire(struct process_table *table, uint64_t before_ns);
