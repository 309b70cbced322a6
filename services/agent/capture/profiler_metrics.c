// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/profiler_metrics.h"

#include "server/metrics/metrics.h"

static struct metric sampled = {
	.name = "decima_agent_samples_total",
	.kind = METRIC_COUNTER,
	.help = "Ticks of CPUs that were not idle: samples that were stored or "
		"lost."
};
static struct metric lost = {
	.name = "decima_agent_samples_lost_total",
	.kind = METRIC_COUNTER,
	.help = "Samples that were lost before they entered a batch, by reason.",
	.label = "reason",
	.values = loss_names,
	.value_count = LOSS_IN_PROFILER_COUNT
};
static struct metric truncated = { .name = "decima_agent_samples_truncated_total",
				   .kind = METRIC_COUNTER,
				   .help = "Samples whose stack is truncated, by reason.",
				   .label = "reason",
				   .values = profiler_truncation_names,
				   .value_count = TRUNCATED_COUNT };
static struct metric unmapped = {
	.name = "decima_agent_samples_unmapped_total",
	.kind = METRIC_COUNTER,
	.help = "Samples whose user leaf address is in no known mapping."
};
static struct metric ring_bytes = { .name = "decima_agent_sample_ring_bytes",
				    .kind = METRIC_GAUGE,
				    .help = "Size of the ring buffer of samples." };
static struct metric events = { .name = "decima_agent_sideband_records_total",
				.kind = METRIC_COUNTER,
				.help = "Perf sideband records that were read." };
static struct metric events_lost = { .name = "decima_agent_sideband_lost_total",
				     .kind = METRIC_COUNTER,
				     .help = "Perf sideband records that were lost." };
static struct metric processes = { .name = "decima_agent_processes",
				   .kind = METRIC_GAUGE,
				   .help = "Processes in the process table." };
static struct metric mappings = { .name = "decima_agent_mappings",
				  .kind = METRIC_GAUGE,
				  .help = "Executable mappings of all processes." };
static struct metric scanned = { .name = "decima_agent_processes_scanned_total",
				 .kind = METRIC_COUNTER,
				 .help = "Processes that were read from /proc." };
static struct metric over_limit = {
	.name = "decima_agent_over_limit_total",
	.kind = METRIC_COUNTER,
	.help = "Processes, mappings, executables and kernel symbols that "
		"were not kept because a limit was reached; and maps of "
		"processes that were read in part.",
	.label = "what",
	.values = (const char *const[]){ "process", "mapping", "executable", "kernel_symbol",
					 "process_maps" },
	.value_count = 5
};
static struct metric executables = { .name = "decima_agent_executables",
				     .kind = METRIC_GAUGE,
				     .help = "Executables in the cache." };
static struct metric opened = { .name = "decima_agent_executables_opened_total",
				.kind = METRIC_COUNTER,
				.help = "Executables that were opened and read." };
static const char *const shipped_fates[] = { "shipped", "not_shipped" };
static struct metric shipped = {
	.name = "decima_agent_stacks_unfinished_in_bpf_total",
	.kind = METRIC_COUNTER,
	.help = "User stacks that the BPF program could not walk because it does not know their "
		"process or code yet: shipped to the agent, which walks them, or not shipped "
		"because "
		"of the rate limit.",
	.label = "fate",
	.values = shipped_fates,
	.value_count = ARRAY_LEN(shipped_fates),
};
static struct metric stack_parts = {
	.name = "decima_agent_stack_parts_dropped_total",
	.kind = METRIC_COUNTER,
	.help = "Continuation records of shipped stacks that were dropped, by reason; the stack is "
		"walked as far as its bytes reach.",
	.label = "reason",
	.values = timeline_stack_drop_names,
	.value_count = STACK_DROP_COUNT,
};
static struct metric walked_by = {
	.name = "decima_agent_user_stacks_total",
	.kind = METRIC_COUNTER,
	.help = "User stacks that were collected, by the least certain method among their steps: "
		"unwind tables alone, a frame pointer, or a guess.",
	.label = "by",
	.values = collect_step_names,
	.value_count = COLLECT_STEP_COUNT,
};
static struct metric deferred = {
	.name = "decima_agent_samples_deferred",
	.kind = METRIC_GAUGE,
	.help = "Deferred samples: they wait for the unwind table of a file in their stack."
};
static struct metric deferred_bytes = { .name = "decima_agent_samples_deferred_bytes",
					.kind = METRIC_GAUGE,
					.help = "Memory used by deferred samples." };
static struct metric deferred_rejected = {
	.name = "decima_agent_samples_not_deferred_total",
	.kind = METRIC_COUNTER,
	.help = "Samples that were not deferred because there was no room; their stack is walked "
		"with the tables that are loaded."
};
static struct metric deferred_ended = {
	.name = "decima_agent_samples_deferred_ended_total",
	.kind = METRIC_COUNTER,
	.help = "Waits of deferred samples that ended, by reason: the table was loaded, there is "
		"no table, the wait timed out, the agent stopped.",
	.label = "end",
	.values = deferred_end_names,
	.value_count = DEFERRED_END_COUNT,
};
static struct metric unreadable = {
	.name = "decima_agent_executables_unreadable_total",
	.kind = METRIC_COUNTER,
	.help = "Executables that could not be opened before they were gone."
};
static struct metric symbols = { .name = "decima_agent_kernel_symbols",
				 .kind = METRIC_GAUGE,
				 .help = "Functions in the table of kernel symbols." };
static struct metric unnamed = { .name = "decima_agent_kernel_frames_unknown_total",
				 .kind = METRIC_COUNTER,
				 .help = "Kernel frames whose address is in no known function." };

METRICS(profiler_metrics, &sampled, &lost, &truncated, &unmapped, &ring_bytes, &events,
	&events_lost, &processes, &mappings, &scanned, &over_limit, &executables, &opened,
	&unreadable, &symbols, &unnamed, &shipped, &walked_by, &deferred, &deferred_bytes,
	&deferred_rejected, &deferred_ended, &stack_parts);

void profiler_metrics_count(struct profiler *profiler)
{
	struct profiler_counts counts = profiler_counts_get(profiler);

	metric_set(&sampled, (int64_t)counts.loss_counters.sampled);
	for (size_t i = 0; i < LOSS_IN_PROFILER_COUNT; i++)
		metric_set_at(&lost, i, (int64_t)counts.loss_counters.lost[i]);
}

void profiler_metrics_update(struct profiler *profiler)
{
	const struct process_table *table = &profiler->processes;
	struct profiler_counts counts = profiler_counts_get(profiler);

	unwind_loader_measure(&profiler->unwind);
	profiler_metrics_count(profiler);
	for (size_t i = 0; i < TRUNCATED_COUNT; i++)
		metric_set_at(&truncated, i, (int64_t)counts.truncated[i]);
	metric_set_at(&shipped, 0, (int64_t)counts.stacks_shipped);
	metric_set_at(&shipped, 1, (int64_t)counts.stacks_not_shipped);
	for (size_t i = 0; i < STACK_DROP_COUNT; i++)
		metric_set_at(&stack_parts, i, (int64_t)profiler->timeline.dropped_stacks[i]);
	for (size_t i = 0; i < COLLECT_STEP_COUNT; i++)
		metric_set_at(&walked_by, i, (int64_t)profiler->collect.steps[i]);
	metric_set(&deferred, (int64_t)profiler->deferred.count);
	metric_set(&deferred_bytes, (int64_t)profiler->deferred.bytes);
	metric_set(&deferred_rejected, (int64_t)profiler->deferred.rejected);
	for (size_t i = 0; i < DEFERRED_END_COUNT; i++)
		metric_set_at(&deferred_ended, i, (int64_t)profiler->deferred.ends[i]);
	metric_set(&unmapped, (int64_t)profiler->collect.unmapped);
	metric_set(&ring_bytes, (int64_t)profiler->sampler.ring_bytes);
	metric_set(&events, (int64_t)profiler->sideband.records);
	metric_set(&events_lost,
		   (int64_t)(profiler->sideband.lost + profiler->timeline.dropped_events));
	metric_set(&processes, (int64_t)table->by_pid.len);
	metric_set(&mappings, (int64_t)process_table_mappings(table));
	metric_set(&scanned, (int64_t)table->scanned);
	metric_set_at(&over_limit, 0, (int64_t)table->over_limit);
	metric_set_at(&over_limit, 1, (int64_t)table->mappings_over_limit);
	metric_set_at(&over_limit, 2, (int64_t)table->executables.over_limit);
	metric_set_at(&over_limit, 3, (int64_t)profiler->kernel.over_limit);
	metric_set_at(&over_limit, 4, (int64_t)table->maps_truncated);
	metric_set(&executables, (int64_t)table->executables.by_id.len);
	metric_set(&opened, (int64_t)table->executables.opened);
	metric_set(&unreadable, (int64_t)table->executables.unreadable);
	metric_set(&symbols, (int64_t)profiler->kernel.count);
	metric_set(&unnamed, (int64_t)profiler->kernel.unknown);
}
