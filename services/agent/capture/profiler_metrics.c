// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/profiler_metrics.h"

#include "base/clock.h"
#include "server/metrics/metrics.h"

static const char *const shipped_fates[] = { "shipped", "not_shipped" };
static const char *const over_limit_names[] = { "process", "mapping", "kernel_symbol",
						"process_maps" };

/*
 * ROW(variable, kind, name, help, value)
 * BY_LABEL(variable, name, help, label, names of its values, their count, array of their values)
 */
#define PROFILER_METRICS(ROW, BY_LABEL)                                                            \
	ROW(sampled, METRIC_COUNTER, "decima_agent_samples_total",                                 \
	    "Ticks of CPUs that were not idle: samples that were stored or lost.",                 \
	    counts.loss_counters.sampled)                                                          \
	BY_LABEL(lost, "decima_agent_samples_lost_total",                                          \
		 "Samples that were lost before they entered a batch, by reason.", "reason",       \
		 loss_names, LOSS_IN_PROFILER_COUNT, counts.loss_counters.lost)                    \
	BY_LABEL(truncated, "decima_agent_samples_truncated_total",                                \
		 "Samples whose stack is truncated, by reason.", "reason",                         \
		 profiler_truncation_names, TRUNCATED_COUNT, counts.truncated)                     \
	ROW(unmapped, METRIC_COUNTER, "decima_agent_samples_unmapped_total",                       \
	    "Samples whose user leaf address is in no known mapping.", profiler->collect.unmapped) \
	BY_LABEL(other_series, "decima_agent_samples_of_other_series_total",                       \
		 "Samples with labels whose value became other, because the owner of the process " \
		 "has made too many series in this hour, by class of the owner.",                  \
		 "owner", owner_class_names, OWNER_CLASS_COUNT, profiler->collect.of_other_series) \
	ROW(drained, METRIC_GAUGE, "decima_agent_drained_timestamp_seconds",                       \
	    "When the sampling thread last read the samples of the kernel, as Unix time.",         \
	    clock_unix_ns() / NS_PER_SECOND)                                                       \
	ROW(ring_bytes, METRIC_GAUGE, "decima_agent_sample_ring_bytes",                            \
	    "Size of the ring buffer of samples.", profiler->sampler.ring_bytes)                   \
	ROW(events, METRIC_COUNTER, "decima_agent_sideband_records_total",                         \
	    "Perf sideband records that were read.", profiler->sideband.records)                   \
	ROW(events_lost, METRIC_COUNTER, "decima_agent_sideband_lost_total",                       \
	    "Perf sideband records that were lost.",                                               \
	    profiler->sideband.lost + profiler->sideband.skipped +                                 \
		    profiler->timeline.dropped_events)                                             \
	ROW(events_skipped, METRIC_COUNTER, "decima_agent_sideband_skipped_total",                 \
	    "Of the lost perf sideband records, those that were skipped because they were too "    \
	    "many in a second.",                                                                   \
	    profiler->sideband.skipped)                                                            \
	ROW(brief, METRIC_COUNTER, "decima_agent_sideband_brief_total",                            \
	    "Records that were not needed: of processes that started and ended between two reads " \
	    "and have no sample.",                                                                 \
	    profiler->timeline.brief_events)                                                       \
	ROW(muted, METRIC_COUNTER, "decima_agent_sideband_muted_total",                            \
	    "Records of mappings that were dropped because their process makes too many.",         \
	    table->muted_events)                                                                   \
	ROW(muted_processes, METRIC_COUNTER, "decima_agent_processes_muted_total",                 \
	    "Processes that were muted, because they make too many mappings; their mappings are "  \
	    "read from /proc instead.",                                                            \
	    table->muted_processes)                                                                \
	ROW(processes, METRIC_GAUGE, "decima_agent_processes", "Processes in the process table.",  \
	    table->by_pid.len)                                                                     \
	ROW(mappings, METRIC_GAUGE, "decima_agent_mappings",                                       \
	    "Executable mappings of all processes.", process_table_mappings(table))                \
	ROW(scanned, METRIC_COUNTER, "decima_agent_processes_scanned_total",                       \
	    "Processes that were read from /proc.", table->scanned)                                \
	ROW(postponed, METRIC_COUNTER, "decima_agent_process_reads_postponed_total",               \
	    "Readings of processes from /proc that were postponed, because they took their CPU "   \
	    "time already; the process is read when it is sampled again.",                         \
	    table->postponed)                                                                      \
	BY_LABEL(                                                                                  \
		hung, "decima_agent_process_reads_hung_total",                                     \
		"Readings of mappings from /proc that hung, because the process waits for a file " \
		"system while it maps a file, by class of the owner.",                             \
		"owner", owner_class_names, OWNER_CLASS_COUNT, table->reader.hung)                 \
	BY_LABEL(over_limit, "decima_agent_over_limit_total",                                      \
		 "Processes, mappings and kernel symbols that were not kept because "              \
		 "a limit was reached; and maps of processes that were read in part.",             \
		 "what", over_limit_names, ARRAY_LEN(over_limit_names),                            \
		 ((const uint64_t[]){ table->over_limit, table->mappings_over_limit,               \
				      profiler->kernel.over_limit, table->maps_truncated }))       \
	BY_LABEL(executables_refused, "decima_agent_executables_refused_total",                    \
		 "Mapped files that were not kept, because the owner of the process has its "      \
		 "share of the cache, by class of the owner.",                                     \
		 "owner", owner_class_names, OWNER_CLASS_COUNT, table->executables.places.refused) \
	BY_LABEL(requests_refused, "decima_agent_file_requests_refused_total",                     \
		 "Mapped files that were not read yet, because the owner of the process has its "  \
		 "share of the files that wait, by class of the owner.",                           \
		 "owner", owner_class_names, OWNER_CLASS_COUNT,                                    \
		 table->executables.requests.refused)                                              \
	ROW(executables, METRIC_GAUGE, "decima_agent_executables", "Executables in the cache.",    \
	    table->executables.by_id.len)                                                          \
	ROW(opened, METRIC_COUNTER, "decima_agent_executables_opened_total",                       \
	    "Executables that were opened and read.", table->executables.opened)                   \
	ROW(unreadable, METRIC_COUNTER, "decima_agent_executables_unreadable_total",               \
	    "Executables that could not be opened before they were gone.",                         \
	    table->executables.unreadable)                                                         \
	ROW(contradictions, METRIC_COUNTER, "decima_agent_build_id_contradictions_total",          \
	    "Files with the build id of another file of other content: their frames are stored "   \
	    "with a hash of the file.",                                                            \
	    table->executables.contradictions)                                                     \
	ROW(symbols, METRIC_GAUGE, "decima_agent_kernel_symbols",                                  \
	    "Functions in the table of kernel symbols.", profiler->kernel.count)                   \
	ROW(unnamed, METRIC_COUNTER, "decima_agent_kernel_frames_unknown_total",                   \
	    "Kernel frames whose address is in no known function.", profiler->kernel.unknown)      \
	BY_LABEL(shipped, "decima_agent_stacks_unfinished_in_bpf_total",                           \
		 "User stacks that the BPF program could not walk because it does not know their " \
		 "process or code yet: shipped to the agent, which walks them, or not shipped "    \
		 "because of the rate limit.",                                                     \
		 "fate", shipped_fates, ARRAY_LEN(shipped_fates),                                  \
		 ((const uint64_t[]){ counts.stacks_shipped, counts.stacks_not_shipped }))         \
	BY_LABEL(walked_by, "decima_agent_user_stacks_total",                                      \
		 "User stacks that were collected, by the least certain method among their "       \
		 "steps: unwind tables alone, a frame pointer, or a guess.",                       \
		 "by", collect_step_names, COLLECT_STEP_COUNT, profiler->collect.steps)            \
	ROW(deferred, METRIC_GAUGE, "decima_agent_samples_deferred",                               \
	    "Deferred samples: they wait for a file in their stack, or for its unwind table.",     \
	    profiler->deferred.count)                                                              \
	ROW(deferred_bytes, METRIC_GAUGE, "decima_agent_samples_deferred_bytes",                   \
	    "Memory used by deferred samples.", profiler->deferred.bytes)                          \
	ROW(deferred_rejected, METRIC_COUNTER, "decima_agent_samples_not_deferred_total",          \
	    "Samples that were not deferred because there was no room; their stack is walked "     \
	    "with the tables that are loaded.",                                                    \
	    profiler->deferred.rejected)                                                           \
	BY_LABEL(deferred_ended, "decima_agent_samples_deferred_ended_total",                      \
		 "Waits of deferred samples that ended, by reason: the file was read, the table "  \
		 "was loaded, there is no table, the wait timed out, the agent stopped.",          \
		 "end", deferred_end_names, DEFERRED_END_COUNT, profiler->deferred.ends)           \
	BY_LABEL(stack_parts, "decima_agent_stack_parts_dropped_total",                            \
		 "Continuation records of shipped stacks that were dropped, by reason; the stack " \
		 "is walked as far as its bytes reach.",                                           \
		 "reason", timeline_stack_drop_names, STACK_DROP_COUNT,                            \
		 profiler->timeline.dropped_stacks)

#define VARIABLE(variable, kind, name, help, value) \
	METRIC_STATIC_VARIABLE(variable, kind, name, help)
#define VARIABLE_BY_LABEL(variable, name, help, label, names, count, values) \
	METRIC_STATIC_VARIABLE(variable, METRIC_COUNTER, name, help,         \
			       METRIC_LABEL(label, names, count))
#define ROWS(ROW)                              PROFILER_METRICS(ROW, ROW)
#define SET(variable, kind, name, help, value) metric_set(&(variable), (int64_t)(value));
#define SET_BY_LABEL(variable, name, help, label, names, count, values) \
	for (size_t i = 0; i < (count); i++)                            \
		metric_set_at(&(variable), i, (int64_t)(values)[i]);

PROFILER_METRICS(VARIABLE, VARIABLE_BY_LABEL)
METRICS_TABLE(profiler_metrics, ROWS);

void profiler_metrics_count(struct profiler *profiler)
{
	struct profiler_counts counts = profiler_counts_get(profiler);

	metric_set(&drained, (int64_t)(clock_unix_ns() / NS_PER_SECOND));
	metric_set(&sampled, (int64_t)counts.loss_counters.sampled);
	for (size_t i = 0; i < LOSS_IN_PROFILER_COUNT; i++)
		metric_set_at(&lost, i, (int64_t)counts.loss_counters.lost[i]);
}

void profiler_metrics_update(struct profiler *profiler)
{
	const struct process_table *table = &profiler->processes;
	struct profiler_counts counts = profiler_counts_get(profiler);

	unwind_loader_measure(&profiler->unwind);
	PROFILER_METRICS(SET, SET_BY_LABEL)
}
