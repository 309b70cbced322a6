// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/profiler.h"

#include "agent/agent_limits.h"
#include "agent/capture/truncation_log_internal.h"
#include "agent/kernel/kernel_check.h"
#include "agent/labels/host.h"
#include "base/clock.h"
#include "base/log.h"

#include <inttypes.h>

enum { SCAN_PROCESSES_PER_ROUND = 32 }; /* of the first scan: a second for 128 processes */

#define TRUNCATED_BY(end) (TRUNCATED_USER + (end)-USER_END_TOO_DEEP)

const char *const profiler_truncation_names[TRUNCATED_COUNT] = {
	[TRUNCATED_KERNEL] = "kernel_too_deep",
	[TRUNCATED_BY(USER_END_TOO_DEEP)] = "user_too_deep",
	[TRUNCATED_BY(USER_END_READ_FAULT)] = "user_read_fault",
	[TRUNCATED_BY(USER_END_NO_ROW)] = "user_no_row",
	[TRUNCATED_BY(USER_END_NO_MAPPING)] = "user_no_mapping",
	[TRUNCATED_BY(USER_END_NO_TABLE)] = "user_no_table",
	[TRUNCATED_BY(USER_END_BAD_FRAME)] = "user_bad_frame",
	[TRUNCATED_BY(USER_END_UNSUPPORTED)] = "user_unsupported",
	[TRUNCATED_BY(USER_END_32BIT)] = "user_32bit",
	[TRUNCATED_BY(USER_END_EXEC)] = "user_exec",
	[TRUNCATED_UNMAPPED] = "user_unmapped",
};

static bool open_unwinder(struct profiler *profiler, const struct profiler_options *options,
			  struct err *err)
{
	struct unwind_loader_options unwind = {
		.max_bytes = options->unwind_max_bytes,
		.builder = options->unwind,
		.segments_fd = sampler_segments_fd(&profiler->sampler),
		.processes_fd = sampler_processes_fd(&profiler->sampler),
		.generation = sampler_generation(&profiler->sampler),
	};

	return unwind_loader_open(&profiler->unwind, &unwind, &profiler->processes, err);
}

static bool open_kernel_side(struct profiler *profiler, const struct profiler_options *options,
			     struct err *err)
{
	if (!host_sees_all_pids())
		return err_set(
			err, ERR_INVALID,
			"the agent is in a pid namespace of its own and cannot identify processes; "
			"start it in the host's (docker run --pid=host, hostPID: true)");
	if (!host_cpus(HOST_CPUS_ONLINE, &profiler->arena, &profiler->cpus, &profiler->cpu_count,
		       err))
		return false;

	struct sampler_options sampler = { .hz = options->hz,
					   .cpu_count = profiler->cpu_count,
					   .counts = options->counts };

	sideband_init(&profiler->sideband);
	return (sampler_open(&profiler->sampler, &sampler, err) &&
		open_unwinder(profiler, options, err) &&
		sideband_follow(&profiler->sideband, profiler->cpus, profiler->cpu_count, err)) ||
	       kernel_check_explain(err);
}

/*
 * Sideband events are recorded before /proc is read, so no process is missed. Sampling does not
 * wait for the names of the kernel's functions nor for /proc: what a sample needs is read when the
 * sample is processed.
 */
bool profiler_open(struct profiler *profiler, const struct profiler_options *options,
		   struct err *err)
{
	*profiler = (struct profiler){ 0 };
	process_table_init(&profiler->processes);
	executable_cache_set_sink(&profiler->processes.executables, EXECUTABLE_SINK_UPLOAD,
				  &options->executables);
	executable_cache_set_source(&profiler->processes.executables, &options->files);
	collect_init(&profiler->collect,
		     &(struct collect_options){ .node = options->node,
						.external = options->external,
						.period_ns = NS_PER_SECOND / options->hz,
						.containers = options->containers });
	if (!kernel_symbols_open(&profiler->kernel, err) ||
	    !open_kernel_side(profiler, options, err)) {
		profiler_close(profiler);
		return false;
	}
	process_table_first_scan(&profiler->processes);
	profiler->round_ns = clock_monotonic_ns();
	profiler->swept_ms = profiler->round_ns / NS_PER_MS;
	profiler_next_interval(profiler);
	if (!sampler_follow(&profiler->sampler, profiler->cpus, profiler->cpu_count, err)) {
		profiler_close(profiler);
		return false;
	}
	return true;
}

void profiler_close(struct profiler *profiler)
{
	sampler_stop(&profiler->sampler);
	sideband_close(&profiler->sideband);
	kernel_symbols_close(&profiler->kernel);
	deferred_samples_done(&profiler->deferred);
	process_table_done(&profiler->processes);
	unwind_loader_close(&profiler->unwind);
	sampler_close(&profiler->sampler);
	collect_done(&profiler->collect);
	timeline_done(&profiler->timeline);
	arena_free(&profiler->arena);
	*profiler = (struct profiler){ 0 };
}

static void queue_event(void *self, const struct sideband_record *record)
{
	struct profiler *profiler = self;

	if (process_table_takes(&profiler->processes, record))
		timeline_add_event(&profiler->timeline, record);
}

static void queue_sample(void *self, const struct sample_record *record, size_t bytes)
{
	struct profiler *profiler = self;

	process_table_expect(&profiler->processes, record);
	if (record->flags & SAMPLE_CONTINUES)
		timeline_add_stack(&profiler->timeline, record);
	else
		timeline_add_sample(&profiler->timeline, record, bytes);
}

static void apply_event(void *self, const struct sideband_record *record)
{
	struct profiler *profiler = self;

	if (record->type == SIDEBAND_KSYMBOL)
		kernel_symbols_apply(&profiler->kernel, record);
	else
		process_table_apply(&profiler->processes, record);
}

/* Walks a shipped stack with the mappings of its process at the tick. Returns `record` if there is
 * no shipped stack or no process. */
static const struct sample_record *walk_again(struct profiler *profiler,
					      const struct sample_record *record,
					      const struct process *process)
{
	struct stack_walk_list list;

	if (!record->stack_bytes || !process ||
	    !unwind_loader_list(&profiler->unwind, process, sample_registers(record)->pc,
				&list.place, &list.count))
		return record;
	return stack_walk_again(&profiler->stack_walk, record, list,
				unwind_loader_space(&profiler->unwind));
}

/* Defers the sample if the walk just done needs a table that is being built. False: not deferred.
 */
static bool defer(struct profiler *profiler, const struct sample_record *record,
		  const struct process *process, uint64_t since_ns)
{
	uint64_t missing = profiler->stack_walk.missing;

	if (!missing || profiler->is_ending ||
	    deferred_sample_is_overdue(since_ns, profiler->round_ns))
		return false;

	const struct executable *executable = unwind_loader_pending_executable(
		&profiler->unwind, process, sample_registers(record)->pc, missing,
		profiler->round_ns);

	return executable &&
	       deferred_samples_add(&profiler->deferred, record, process, executable, since_ns);
}

static void locate_file(struct profiler *profiler, const struct process *process,
			const struct mapping *mapping)
{
	char build_id[BUILD_ID_BYTES_MAX];
	struct executable_claim claim = executable_claim_of(mapping->executable, build_id);

	claim.pid = process->pid;
	claim.parent_pid = process->parent_pid;
	claim.start = mapping->start;
	claim.end = mapping->end;
	if (mapping->executable->is_unconfirmed)
		(void)executable_cache_request(&profiler->processes.executables,
					       mapping->executable, &claim);
}

/* A file in the stack that is being read: without it the frame has neither a build id nor the
 * address in the file. NULL: there is none. */
static const struct executable *pending_file(struct profiler *profiler,
					     const struct sample_record *record,
					     const struct process *process)
{
	const uint64_t *user = record->frames + record->kernel_frames;
	const struct executable_cache *cache = &profiler->processes.executables;

	if ((!cache->requests.held && !cache->unconfirmed) || !process || !record->user_frames)
		return NULL;

	const struct mappings *mappings = process_mappings(process, user[0]);

	for (size_t i = 0; mappings && i < record->user_frames; i++) {
		const struct mapping *mapping = mappings_find(mappings, user[i] - (i > 0));

		if (mapping && mapping->executable && executable_is_pending(mapping->executable)) {
			locate_file(profiler, process, mapping);
			return mapping->executable;
		}
	}
	return NULL;
}

static bool wait_for_file(struct profiler *profiler, const struct sample_record *record,
			  const struct sample_record *walked, const struct process *process,
			  uint64_t since_ns)
{
	const struct executable *executable = pending_file(profiler, walked, process);

	return executable && !profiler->is_ending &&
	       !deferred_sample_is_overdue(since_ns, profiler->round_ns) &&
	       deferred_samples_add(&profiler->deferred, record, process, executable, since_ns);
}

static void walk_and_collect(struct profiler *profiler, const struct sample_record *record,
			     const struct process *process, uint64_t since_ns)
{
	const struct sample_record *walked;

	profiler->stack_walk.missing = 0;
	walked = walk_again(profiler, record, process);
	if (defer(profiler, record, process, since_ns) ||
	    wait_for_file(profiler, record, walked, process, since_ns))
		return;
	truncation_log(walked, process);
	collect_sample(&profiler->collect, walked, process, &profiler->kernel);
}

static void resolve_sample(void *self, const struct sample_record *record)
{
	struct profiler *profiler = self;
	struct process *process =
		process_of_sample(&profiler->processes, record, profiler->round_ns / NS_PER_MS);

	struct process *owner =
		process ? process_owner(&profiler->processes, process, record) : NULL;

	unwind_loader_sampled(&profiler->unwind, process, record);
	if (owner)
		unwind_loader_sampled(&profiler->unwind, owner, record);
	walk_and_collect(profiler, record, process, profiler->round_ns);
}

static void resolve_deferred(void *self, const struct sample_record *record,
			     const struct process *process, uint64_t since_ns)
{
	walk_and_collect(self, record, process, since_ns);
}

/* If sideband records were lost: the processes are read from /proc when they are sampled. Events
 * that wait in the timeline are older than the loss, so it is said again after the next round. */
static void note_losses(struct profiler *profiler)
{
	uint64_t lost = profiler->sideband.lost + profiler->sideband.skipped +
			profiler->timeline.dropped_events;

	if (lost != profiler->lost_seen) {
		profiler->lost_seen = lost;
		profiler->has_lost = true;
		profiler->rounds_after_loss = 2;
	}
	if (profiler->rounds_after_loss) {
		profiler->rounds_after_loss--;
		process_table_lost(&profiler->processes);
	}
}

/* The rings that a muted process fills are not read more often for it. */
static void drain_sideband(struct profiler *profiler)
{
	uint64_t records = profiler->sideband.records, muted = profiler->processes.muted_events;

	sideband_drain(&profiler->sideband, queue_event, profiler);
	records = profiler->sideband.records - records;
	muted = profiler->processes.muted_events - muted;
	profiler->is_pressed = profiler->sideband.is_pressed && muted <= records / 2;
}

static void drain(struct profiler *profiler, uint64_t until_ns)
{
	struct timeline_sink sink = { .event = apply_event,
				      .sample = resolve_sample,
				      .self = profiler };
	struct deferred_sink deferred = { .sample = resolve_deferred, .self = profiler };

	drain_sideband(profiler);
	sampler_drain(&profiler->sampler, queue_sample, profiler);
	deferred_samples_run(&profiler->deferred, profiler->round_ns, &deferred);
	timeline_run(&profiler->timeline, until_ns, &sink);
}

/* If exits were lost, processes that are gone fill the table. */
static uint64_t sweep_pause_ms(const struct profiler *profiler)
{
	if (process_table_is_crowded(&profiler->processes))
		return SWEEP_FULL_MS;
	if (!profiler->has_lost)
		return SWEEP_INTERVAL_MS;
	return profiler->processes.by_pid.len > PROCESSES_MAX / 2 ? SWEEP_FULL_MS : SWEEP_LOSS_MS;
}

static void sweep(struct profiler *profiler)
{
	uint64_t now_ms = profiler->round_ns / NS_PER_MS;

	if (now_ms - profiler->swept_ms < sweep_pause_ms(profiler))
		return;
	if (profiler->has_lost)
		log_warn("sideband records were lost", "records=%" PRIu64, profiler->lost_seen);
	profiler->has_lost = false;
	profiler->swept_ms = now_ms;
	process_table_sweep(&profiler->processes);
}

void profiler_drain(struct profiler *profiler)
{
	uint64_t began_ns = clock_monotonic_ns();

	process_table_begin_round(&profiler->processes, began_ns);
	drain(profiler, profiler->round_ns);
	profiler->round_ns = began_ns;
	process_table_retire(&profiler->processes, began_ns - EXITED_KEPT_MS * NS_PER_MS);
	process_table_scan_more(&profiler->processes, SCAN_PROCESSES_PER_ROUND);
	note_losses(profiler);
	sweep(profiler);
	unwind_loader_round(&profiler->unwind);
}

uint64_t profiler_pause_ms(const struct profiler *profiler)
{
	return profiler->is_pressed ? DRAIN_PRESSED_MS : DRAIN_INTERVAL_MS;
}

/* Sampling stops before the last drain: a later tick would be counted but not stored. */
void profiler_finish(struct profiler *profiler)
{
	struct deferred_sink sink = { .sample = resolve_deferred, .self = profiler };

	sampler_stop(&profiler->sampler);
	profiler->is_ending = true;
	unwind_loader_round(&profiler->unwind); /* load the tables that are built by now */
	deferred_samples_stop(&profiler->deferred, &sink);
	drain(profiler, UINT64_MAX);
}

/* Follows CPUs that come or go. A process may have started on a CPU before its sideband ring was
 * open. */
static void follow_cpus(struct profiler *profiler)
{
	struct arena arena = { 0 };
	struct err err;
	uint32_t *cpus;
	size_t count;

	if (!host_cpus(HOST_CPUS_ONLINE, &arena, &cpus, &count, &err) ||
	    (count == profiler->cpu_count &&
	     memcmp(cpus, profiler->cpus, count * sizeof(*cpus)) == 0)) {
		arena_free(&arena);
		return;
	}
	log_info("CPUs came or went", "before=%zu now=%zu", profiler->cpu_count, count);
	arena_free(&profiler->arena);
	profiler->arena = arena;
	profiler->cpus = cpus;
	profiler->cpu_count = count;
	if (!sideband_follow(&profiler->sideband, cpus, count, &err) ||
	    !sampler_follow(&profiler->sampler, cpus, count, &err)) {
		log_warn("some CPUs are not sampled", "error=\"%s\"", err.msg);
		profiler->cpu_count = 0; /* retry at the next interval */
	}
	process_table_lost(&profiler->processes);
}

/* A long-running process maps its files once: if it were not read again, they would never be
 * offered again to a sink that had no room. */
static void offer_again(struct profiler *profiler)
{
	if (executable_cache_left_out(&profiler->processes.executables))
		process_table_lost(&profiler->processes);
}

void profiler_next_interval(struct profiler *profiler)
{
	follow_cpus(profiler);
	offer_again(profiler);
	unwind_loader_close_unmapped(&profiler->unwind);
	kernel_symbols_refresh(&profiler->kernel);
	collect_begin(&profiler->collect, (int64_t)(clock_unix_ns() - clock_monotonic_ns()));
}

struct profiler_counts profiler_counts_get(struct profiler *profiler)
{
	const uint64_t *kernel = sampler_counts(&profiler->sampler);
	struct profiler_counts counts = {
		.loss_counters = { .sampled = kernel[TICK_SENT] + kernel[TICK_RING_FULL],
				   .lost = { [LOSS_RING_FULL] = kernel[TICK_RING_FULL],
					     [LOSS_TIMELINE_FULL] =
						     profiler->timeline.dropped_samples,
					     [LOSS_MALFORMED] = profiler->sampler.malformed } },
		.truncated = { [TRUNCATED_KERNEL] = kernel[TRUNCATED_KERNEL_TOO_DEEP],
			       [TRUNCATED_UNMAPPED] = profiler->collect.truncated_unmapped },
		.stacks_shipped = kernel[STACK_SHIPPED],
		.stacks_not_shipped = kernel[STACK_NOT_SHIPPED],
	};

	/* Walks that ended in BPF, and walks of shipped stacks that ended in the agent. */
	for (uint32_t end = USER_END_TOO_DEEP; end < USER_END_COUNT; end++)
		counts.truncated[TRUNCATED_BY(end)] =
			kernel[TRUNCATED_USER_TOO_DEEP + end - USER_END_TOO_DEEP] +
			profiler->collect.ends_of_shipped[end];
	return counts;
}
