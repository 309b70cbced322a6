// SPDX-License-Identifier: Apache-2.0
/*
 * print-losses - prints every reason for which samples are lost or truncated, or events are counted
 * separately, as Markdown for docs/losses.md (tools/docs.py).
 *
 *     print-losses           the page
 *     print-losses --list    a line per reason: SERVICE.REASON, metric, name in the fleet API
 *
 * The reasons come from the metrics with a label `reason`, so that none can be forgotten: if one is
 * missing in this table, the program fails with a sentence, and with it a test of the build.
 */
#include "agent/capture/profiler.h"
#include "agent/capture/profiler_metrics.h"
#include "agent/spool/batch.h"
#include "agent/spool/local_store.h"
#include "agent/spool/publish.h"
#include "ingester/metrics.h"

#include <stdio.h>

enum loss_kind { LOST, TRUNCATED, SEPARATE, LOSS_KIND_COUNT };

struct loss {
	const char *metric;
	const char *name; /* the value of the label; for a metric without labels a name of ours */
	enum loss_kind kind;
	const char *fleet; /* its name in `lost` or `truncated` of /api/v1/fleet; NULL: not there */
	const char *meaning, *advice;
};

#define AGENT_LOST      "decima_agent_samples_lost_total"
#define AGENT_TRUNCATED "decima_agent_samples_truncated_total"
#define STACK_PARTS     "decima_agent_stack_parts_dropped_total"
#define SPOOL_LOST      "decima_agent_spool_lost_samples_total"
#define SPOOL_BATCHES   "decima_agent_spool_lost_batches_total" /* has the same reasons */
#define REJECTED        "decima_ingester_rejected_messages_total"
#define SKIPPED         "decima_ingester_skipped_total"

static const struct loss losses[] = {
	{ AGENT_LOST, "ring_full", LOST, "ring_full",
	  "The ring buffer had no space for a sample: the agent did not read it for more than two "
	  "seconds.",
	  "Give the agent more CPU time: check its CPU limit, and whether `fsync` blocks on a slow "
	  "disk." },
	{ AGENT_LOST, "timeline_full", LOST, "timeline_full",
	  "More than 64 MB of samples waited to be put in order.",
	  "As for `ring_full`; or sample less often." },
	{ AGENT_LOST, "malformed", LOST, "malformed",
	  "A record in the ring buffer is inconsistent.",
	  "A bug, or another program writes to the BPF map: report it." },
	{ STACK_PARTS, "stack_part_no_sample", SEPARATE, NULL,
	  "A part of a shipped stack has no sample that waits for it: the sample was lost, or the "
	  "part came a round later.",
	  "No action: the stack is walked as far as its bytes reach, and counted by its end." },
	{ STACK_PARTS, "stack_part_gap", SEPARATE, NULL,
	  "A part of a shipped stack does not follow the part before, which was lost.",
	  "As for `ring_full`." },
	{ STACK_PARTS, "stack_part_timeline_full", SEPARATE, NULL,
	  "More than 64 MB of samples waited to be put in order.", "As for `ring_full`." },
	{ "decima_agent_samples_unspooled_total", "spool_write", LOST, "spool_write",
	  "A batch could not be written to the spool.",
	  "The agent's log has the error: most often the disk is full." },
	{ "decima_agent_samples_killed_total", "agent_killed", LOST, "agent_killed",
	  "Samples that a killed or crashed agent had sampled and not spooled. The next agent "
	  "counts "
	  "them if the kernel's counters are pinned (`--bpffs-directory`).",
	  "Find out what killed it: most often a memory limit." },
	{ SPOOL_LOST, "spool_full", LOST, "spool_full",
	  "Kafka was unreachable until the spool was full; the oldest batches were dropped.",
	  "Restore Kafka; raise `--spool-max-bytes`." },
	{ SPOOL_LOST, "spool_corrupt", LOST, "spool_corrupt",
	  "A batch in the spool is corrupt, or could not be read for two minutes while others "
	  "could. "
	  "The file was renamed to `.bad`.",
	  "The agent's log has the error. Check the disk." },
	{ SPOOL_LOST, "spool_refused", LOST, "spool_refused",
	  "Kafka rejects the batch permanently, most often for its size. The file was renamed to "
	  "`.bad`.",
	  "Raise the topic's `max.message.bytes` to 1 MB or more." },
	{ "decima_agent_local_store_lost_samples_total", "local_store", LOST, NULL,
	  "A file of the local store could not be written.",
	  "The agent's log has the error: most often the disk is full." },
	{ AGENT_TRUNCATED, "kernel_too_deep", TRUNCATED, "kernel_too_deep",
	  "A kernel stack with as many frames as `kernel.perf_event_max_stack` allows, at most "
	  "127: the frames at the root are missing.",
	  "No action: the leaf frame and the sampled value are correct." },
	{ AGENT_TRUNCATED, "user_too_deep", TRUNCATED, "user_too_deep",
	  "A user stack of more than 512 frames, or 231 before Linux 5.17; or, in a new process, "
	  "of more than the 16 to 20 KB of stack memory that are shipped with a sample: the frames "
	  "at the root are missing.",
	  "No action: the leaf frame and the sampled value are correct." },
	{ AGENT_TRUNCATED, "user_read_fault", TRUNCATED, "user_read_fault",
	  "Memory of the user stack is not mapped, or is swapped out: the unwind ended there.",
	  "No action: the leaf frame and the sampled value are correct." },
	{ AGENT_TRUNCATED, "user_no_row", TRUNCATED, "user_no_row",
	  "The unwind reached code without unwind data in its file: assembly code.",
	  "If it is your code, add `.cfi` directives." },
	{ AGENT_TRUNCATED, "user_no_mapping", TRUNCATED, "user_no_mapping",
	  "The unwind reached an address outside all known executable mappings: a library that was "
	  "loaded a moment ago, or a wrong return address.",
	  "No action: the leaf frame and the sampled value are correct." },
	{ AGENT_TRUNCATED, "user_no_table", TRUNCATED, "user_no_table",
	  "The unwind table of the code was not loaded (yet), and frame pointers did not reach the "
	  "root either.",
	  "If it persists: build with `-fno-omit-frame-pointer`, or do not strip `.eh_frame`." },
	{ AGENT_TRUNCATED, "user_bad_frame", TRUNCATED, "user_bad_frame",
	  "The unwind failed: a frame lies below the previous one, or its return address is not "
	  "code.",
	  "If it is JIT-compiled code: make its runtime keep frame pointers." },
	{ AGENT_TRUNCATED, "user_unsupported", TRUNCATED, "user_unsupported",
	  "The unwind data of the code has a rule that is not supported.",
	  "No action: the leaf frame and the sampled value are correct." },
	{ AGENT_TRUNCATED, "user_32bit", TRUNCATED, "user_32bit",
	  "A 32-bit process: its user stack is not unwound.",
	  "No action: the process and its kernel stack are correct." },
	{ AGENT_TRUNCATED, "user_exec", TRUNCATED, "user_exec",
	  "A process during an exec: the stack of the old program is gone, the new program has not "
	  "started. The leaf is the call of exec.",
	  "No action: the leaf frame and the sampled value are correct." },
	{ AGENT_TRUNCATED, "user_unmapped", TRUNCATED, "user_unmapped",
	  "A caller is in no mapping that existed when the sample was read: unmapped since, or "
	  "never code. The frames above it are missing.",
	  "No action: the leaf frame and the sampled value are correct." },
	{ REJECTED, "truncated", LOST, "rejected", "A message ends inside a field.",
	  "See the header `decima-error` in the topic of rejected messages; check the producer." },
	{ REJECTED, "malformed", LOST, "rejected", "A message is not valid protobuf.",
	  "As for `truncated`." },
	{ REJECTED, "index", LOST, "rejected", "An index in a message is outside its table.",
	  "As for `truncated`." },
	{ REJECTED, "limit", LOST, "rejected",
	  "A message exceeds a limit on labels, samples, frames or bytes.",
	  "Configure the producer to send smaller messages." },
	{ REJECTED, "old_layout", LOST, "rejected",
	  "A message uses the layout of an older version of OTLP profiles.",
	  "Update the producer (v1development, spec 1.11)." },
	{ REJECTED, "text", LOST, "rejected",
	  "A string in a message is not UTF-8, or contains a NUL.", "As for `truncated`." },
	{ REJECTED, "shape", LOST, "rejected",
	  "Values, times and periods of a message are inconsistent.", "As for `truncated`." },
	{ REJECTED, "bad_headers", LOST, NULL,
	  "`decima-epoch` or `decima-seq` is not a number, or the key is not a host id.",
	  "As for `truncated`." },
	{ REJECTED, "rejected_by_store", LOST, "rejected",
	  "PostgreSQL rejects the data of the message; other messages are not affected.",
	  "A bug: report it, with the message." },
	{ REJECTED, "conflict", LOST, "conflict",
	  "A batch has the sequence number of another batch that was received, and other contents. "
	  "The first one is stored. The fleet shows the number of batches as `conflict`.",
	  "A foreign program sends to Kafka under the name of this host: find it. Or the agent's "
	  "state directory was restored from a copy: remove it. The second batch is in the topic "
	  "of rejected messages." },
	{ SKIPPED, "too_old", LOST, "too_old", "A sample is older than `--retention-raw`.",
	  "Check the host's clock, and how long it could not send." },
	{ SKIPPED, "too_far_ahead", LOST, "too_far_ahead",
	  "A sample is more than 10 minutes ahead of the ingester's clock.",
	  "Check the host's clock." },
	{ "decima_ingester_gap_batches_total", "gap", LOST, "gap",
	  "Batches that were in Kafka and that no ingester read: the agent no longer has them, and "
	  "later ones have arrived. Or more than 1,024 ranges of a host's batches are missing, and "
	  "the oldest range is given up; the metric counts only these.",
	  "Find out why: the retention of the topic is too short, or the topic was recreated." },
	{ "decima_ingester_unreadable_messages_total", "unreadable", LOST, NULL,
	  "A batch of messages in Kafka cannot be decompressed, or decompresses to more than 72 MB "
	  "(in all cases above 216 MB).",
	  "The ingester's log has partition and offsets; check their producer. In the fleet: "
	  "`gap`." },
	{ "decima_ingester_missed_messages_total", "missed", LOST, NULL,
	  "Kafka's retention deleted messages before they were read.",
	  "Raise the topic's retention; add ingesters. In the fleet they count as missing batches "
	  "first, and as `gap` when the agent's next batch has arrived." },
	{ SKIPPED, "label_dropped", TRUNCATED, NULL,
	  "A label was left out: its name is empty or longer than 128 bytes, or its value is "
	  "nested too deeply.",
	  "Shorten the attribute's name." },
	{ SKIPPED, "label_reserved", TRUNCATED, NULL,
	  "A label was left out: its name begins with `__` (or the attribute with `..`, `._` or "
	  "`_.`), which is reserved for the store.",
	  "Rename the attribute." },
	{ SKIPPED, "label_truncated", TRUNCATED, NULL,
	  "A label's value was truncated to 2,048 bytes.", "Shorten the attribute." },
	{ SKIPPED, "stack_truncated", TRUNCATED, NULL,
	  "A stack was truncated to 1,024 frames; the frames at the root are missing.",
	  "No action: the leaf frame and the sampled value are correct." },
	{ SKIPPED, "name_truncated", TRUNCATED, NULL,
	  "The name of a function or a file was truncated to 16,384 bytes.", "No action." },
	{ "decima_ingester_duplicate_batches_total", "duplicate", SEPARATE, NULL,
	  "A batch was received twice, because its sender could not know that the first one "
	  "arrived; it was counted once. The fleet shows it as `duplicate`.",
	  "No action." },
	{ "decima_ingester_late_batches_total", "late", SEPARATE, NULL,
	  "A batch arrived after one with a higher sequence number of its host; it was counted.",
	  "No action." },
	{ "decima_ingester_bad_status_total", "bad_status", SEPARATE, NULL,
	  "The status of an agent in a message is malformed; the samples were stored.",
	  "Check the agent's version." },
	{ "decima_ingester_topic_resets_total", "topic_reset", SEPARATE, NULL,
	  "A partition was recreated or truncated; it is read from its beginning.",
	  "Messages that were not read before are lost: find out who recreated the topic." },
	{ "decima_ingester_fences_lost_total", "fence_lost", SEPARATE, NULL,
	  "Another ingester stored the partition, or PostgreSQL was restored to an earlier state: "
	  "the partition is read again.",
	  "No action, unless it persists." },
};

static const struct {
	const char *title, *text;
} kinds[LOSS_KIND_COUNT] = {
	[LOST] = { "Lost", "Samples, or messages with samples, that will not be stored." },
	[TRUNCATED] = { "Stored, but incomplete", "The sample counts; a part of it is missing." },
	[SEPARATE] = { "Counted separately", "These alone are not losses." },
};

static const struct metric *metric_find(const char *name)
{
	const struct metric *metric;

	for (size_t i = 0; (metric = metrics_at(i)); i++)
		if (!strcmp(metric->name, name))
			return metric;
	return NULL;
}

static bool has_value(const struct metric *metric, const char *value)
{
	for (size_t i = 0; i < metric->value_count; i++)
		if (!strcmp(metric->values[i], value))
			return true;
	return !metric->label;
}

static bool is_listed(const struct metric *metric, const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(losses); i++)
		if (!strcmp(losses[i].metric, metric->name) && !strcmp(losses[i].name, value))
			return true;
	return false;
}

/* True if the table and the metrics have the same reasons. */
static bool table_check(void)
{
	const struct metric *metric;
	bool ok = true;

	for (size_t i = 0; i < ARRAY_LEN(losses); i++) {
		metric = metric_find(losses[i].metric);
		if (metric && has_value(metric, losses[i].name))
			continue;
		fprintf(stderr, "print-losses: no metric %s has a reason %s\n", losses[i].metric,
			losses[i].name);
		ok = false;
	}
	for (size_t i = 0; (metric = metrics_at(i)); i++) {
		if (!metric->label || strcmp(metric->label, "reason") != 0 ||
		    !strcmp(metric->name, SPOOL_BATCHES))
			continue;
		for (size_t j = 0; j < metric->value_count; j++) {
			if (is_listed(metric, metric->values[j]))
				continue;
			fprintf(stderr, "print-losses: describe %s of %s in tools/print_losses.c\n",
				metric->values[j], metric->name);
			ok = false;
		}
	}
	return ok;
}

static void print_series(const struct loss *loss)
{
	const struct metric *metric = metric_find(loss->metric);

	if (metric && metric->label)
		printf("%s{%s=\"%s\"}", loss->metric, metric->label, loss->name);
	else
		printf("%s", loss->metric);
}

static const char *service_of(const struct loss *loss)
{
	return str_starts_with(str_from(loss->metric), STR("decima_agent_")) ? "agent" : "ingester";
}

static void print_list(void)
{
	for (size_t i = 0; i < ARRAY_LEN(losses); i++) {
		printf("%s.%s\t", service_of(&losses[i]), losses[i].name);
		print_series(&losses[i]);
		printf("\t%s\n", losses[i].fleet ? losses[i].fleet : "");
	}
}

static void print_kind(enum loss_kind kind)
{
	printf("\n## %s\n\n%s\n\n| reason | meaning | action | metric | in the fleet |\n"
	       "|---|---|---|---|---|\n",
	       kinds[kind].title, kinds[kind].text);
	for (size_t i = 0; i < ARRAY_LEN(losses); i++) {
		const struct loss *loss = &losses[i];

		if (loss->kind != kind)
			continue;
		printf("| %s: **%s** | %s | %s | `", service_of(loss), loss->name, loss->meaning,
		       loss->advice);
		print_series(loss);
		if (loss->fleet)
			printf("` | `%s` |\n", loss->fleet);
		else
			puts("` | |");
	}
}

static void register_all(void)
{
	metrics_register(profiler_metrics);
	metrics_register(batch_metrics);
	metrics_register(publish_metrics);
	metrics_register(local_store_metrics);
	metrics_register(ingester_metrics);
}

int main(int argc, char **argv)
{
	register_all();
	if (!table_check())
		return 1;
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		print_list();
		return 0;
	}
	puts("# Losses\n\n"
	     "Every loss has a reason. This page lists all reasons: the meaning, the metric that "
	     "counts it, and the action to take.\nGenerated from the table in "
	     "`tools/print_losses.c` and from the metrics by `tools/docs.py build --write`. Each "
	     "reason has a test\nthat provokes it (`tests/integration/test_reasons.py` checks "
	     "that).\n\n"
	     "The agent sends its counters with each batch, so `lost` and `truncated` of "
	     "`/api/v1/fleet` have them for each host,\nsince its spool was created: "
	     "`sampled = stored + lost + in_flight` (the difference, if there is one, is "
	     "`unaccounted`). A metric counts since its process started.");
	for (enum loss_kind kind = 0; kind < LOSS_KIND_COUNT; kind++)
		print_kind(kind);
	return 0;
}
