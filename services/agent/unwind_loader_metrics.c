// SPDX-License-Identifier: Apache-2.0
/*
 * The loader's numbers as metrics, copied here once per interval.
 */
#include "chassis/metrics.h"
#include "unwind_loader.h"

static struct metric tables = { .name = "decima_agent_unwind_tables",
				.kind = METRIC_GAUGE,
				.help = "Unwind tables in the kernel." };
static struct metric waiting = {
	.name = "decima_agent_unwind_tables_waiting",
	.kind = METRIC_GAUGE,
	.help = "Unwind tables that are wanted and not in the kernel yet."
};
static struct metric table_bytes = { .name = "decima_agent_unwind_table_bytes",
				     .kind = METRIC_GAUGE,
				     .help = "Bytes of the unwind tables in the kernel." };
static struct metric list_bytes = { .name = "decima_agent_unwind_list_bytes",
				    .kind = METRIC_GAUGE,
				    .help = "Bytes of the processes' mappings in the kernel." };
static struct metric map_bytes = { .name = "decima_agent_unwind_map_bytes",
				   .kind = METRIC_GAUGE,
				   .help = "Bytes of the BPF maps that hold both; what "
					   "--unwind-table-max-bytes bounds." };
static struct metric loads = { .name = "decima_agent_unwind_table_loads_total",
			       .kind = METRIC_COUNTER,
			       .help = "Unwind tables that were put into the kernel." };
static struct metric evictions = { .name = "decima_agent_unwind_table_evictions_total",
				   .kind = METRIC_COUNTER,
				   .help = "Unwind tables that left the kernel to make room." };
static struct metric refused = { .name = "decima_agent_unwind_tables_refused_total",
				 .kind = METRIC_COUNTER,
				 .help = "Times an unwind table found no room: it is larger than "
					 "--unwind-table-max-bytes, or all others were in use." };
static struct metric spared = { .name = "decima_agent_unwind_tables_spared_total",
				.kind = METRIC_COUNTER,
				.help = "Times an unwind table found no room that no frame needed: "
					"others in the process did." };
static struct metric errors = { .name = "decima_agent_unwind_table_build_errors_total",
				.kind = METRIC_COUNTER,
				.help = "Unwind tables that could not be built, by reason.",
				.label = "reason",
				.values = unwind_outcome_names + 1,
				.value_count = UNWIND_OUTCOME_COUNT - 1 };
static struct metric listed = { .name = "decima_agent_unwind_processes",
				.kind = METRIC_GAUGE,
				.help = "Processes whose mappings the BPF program finds." };
static struct metric written = { .name = "decima_agent_unwind_lists_written_total",
				 .kind = METRIC_COUNTER,
				 .help = "Lists of mappings that were put into the kernel." };
static struct metric lists_out = {
	.name = "decima_agent_unwind_process_evictions_total",
	.kind = METRIC_COUNTER,
	.help = "Processes that left the kernel to make room for others, "
		"until they are sampled again."
};
static struct metric lists_refused = { .name = "decima_agent_unwind_lists_refused_total",
				       .kind = METRIC_COUNTER,
				       .help = "Times a process's mappings found no room; the next "
					       "sample tries again." };
static struct metric failures = { .name = "decima_agent_unwind_map_failures_total",
				  .kind = METRIC_COUNTER,
				  .help = "Times the kernel gave no memory for unwind tables." };

struct metric *const unwind_loader_metrics[] = {
	&tables, &waiting,   &table_bytes, &list_bytes,    &map_bytes,
	&loads,  &evictions, &refused,     &spared,        &errors,
	&listed, &written,   &lists_out,   &lists_refused, &failures,
};
const size_t unwind_loader_metric_count = ARRAY_LEN(unwind_loader_metrics);

void unwind_loader_measure(const struct unwind_loader *loader)
{
	const struct unwind_tables *from = &loader->tables;
	const struct unwind_lists *lists = &loader->lists;

	metric_set(&tables, (int64_t)from->loaded.len);
	metric_set(&waiting, (int64_t)(from->wanted.len + from->asked + from->there.len));
	metric_set(&table_bytes, (int64_t)(from->pages * UNWIND_PAGE_BYTES));
	metric_set(&list_bytes, (int64_t)(lists->slots.pages * UNWIND_PAGE_BYTES));
	metric_set(&map_bytes,
		   (int64_t)(loader->store.segments * UNWIND_SEGMENT_PAGES * UNWIND_PAGE_BYTES));
	metric_set(&loads, (int64_t)from->loads);
	metric_set(&evictions, (int64_t)from->evictions);
	metric_set(&refused, (int64_t)from->refused);
	metric_set(&spared, (int64_t)from->spared);
	for (size_t i = 1; i < UNWIND_OUTCOME_COUNT; i++)
		metric_set_at(&errors, i - 1, (int64_t)from->outcomes[i]);
	metric_set(&listed, (int64_t)lists->processes);
	metric_set(&written, (int64_t)lists->written);
	metric_set(&lists_out, (int64_t)lists->evictions);
	metric_set(&lists_refused, (int64_t)lists->refused);
	metric_set(&failures, (int64_t)loader->store.failures);
}
