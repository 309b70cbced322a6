// SPDX-License-Identifier: Apache-2.0
/*
 * print-losses - every reason by which something is lost, cut or counted apart, as Markdown:
 * docs/losses.md is made of it (tools/docs.py).
 *
 *     print-losses           the page
 *     print-losses --list    a line for each: SERVICE.REASON, its metric, its name in the fleet
 *
 * The reasons are those of the metrics that have a label `reason`, so none can be forgotten: one
 * that this table says nothing of ends the program with a sentence, and the build's tests with it.
 */
#include "batch.h"
#include "ingester/metrics.h"
#include "local_store.h"
#include "profiler.h"
#include "profiler_metrics.h"
#include "publish.h"

#include <stdio.h>

enum loss_kind { LOST, CUT, APART, LOSS_KIND_COUNT };

struct loss {
	const char *metric;
	const char *name; /* the label's value; of a metric without one: what we call it */
	enum loss_kind kind;
	const char *fleet; /* what `lost` or `truncated` of /api/v1/fleet calls it; NULL: nothing */
	const char *meaning, *advice;
};

#define AGENT_LOST    "decima_agent_samples_lost_total"
#define AGENT_CUT     "decima_agent_samples_truncated_total"
#define SPOOL_LOST    "decima_agent_spool_lost_samples_total"
#define SPOOL_BATCHES "decima_agent_spool_lost_batches_total" /* the same reasons once more */
#define REJECTED      "decima_ingester_rejected_messages_total"
#define SKIPPED       "decima_ingester_skipped_total"

static const struct loss losses[] = {
	{ AGENT_LOST, "ring_full", LOST, "ring_full",
	  "The kernel found no room for a sample: the agent did not read for longer than two "
	  "seconds.",
	  "Give the agent CPU time: look for a CPU limit, or for a disk that `fsync` waits for." },
	{ AGENT_LOST, "timeline_full", LOST, "timeline_full",
	  "Samples waited for their turn beside more than 64 MB of others.",
	  "As for `ring_full`; or sample less often." },
	{ AGENT_LOST, "malformed", LOST, "malformed",
	  "A record in the kernel's ring contradicts itself.",
	  "It is a defect of ours, or somebody else writes into our map: report it." },
	{ "decima_agent_samples_unspooled_total", "spool_write", LOST, "spool_write",
	  "A batch could not be written into the spool.",
	  "The agent's log has the error: most often the disk is full." },
	{ "decima_agent_samples_killed_total", "agent_killed", LOST, "agent_killed",
	  "An agent was killed, or crashed: what it had taken and not spooled. Its successor "
	  "counts "
	  "it, where the kernel's counts are pinned (`--bpffs-directory`).",
	  "Look for who killed it: most often a memory limit." },
	{ SPOOL_LOST, "spool_full", LOST, "spool_full",
	  "Kafka was away for longer than the spool has room; its oldest batches went.",
	  "Bring Kafka back; raise `--spool-max-bytes`." },
	{ SPOOL_LOST, "spool_corrupt", LOST, "spool_corrupt",
	  "A batch in the spool is not what was written. It was set aside as `.bad`.",
	  "Look at the disk." },
	{ SPOOL_LOST, "spool_refused", LOST, "spool_refused",
	  "Kafka will never take the batch, most often for its size. It was set aside as `.bad`.",
	  "Raise the topic's `max.message.bytes` to 1 MB or more." },
	{ "decima_agent_local_store_lost_samples_total", "local_store", LOST, NULL,
	  "A file of the local store could not be written.",
	  "The agent's log has the error: most often the disk is full." },
	{ AGENT_CUT, "kernel_too_deep", CUT, "kernel_too_deep",
	  "A kernel stack of as many frames as `kernel.perf_event_max_stack` allows, 127 at most: "
	  "its root side is not there.",
	  "Nothing: the leaf, and what it costs, are right." },
	{ AGENT_CUT, "user_too_deep", CUT, "user_too_deep",
	  "A user stack of more than 512 frames, or 231 before Linux 5.17; or, of a process that "
	  "is "
	  "new, of more than the 16 to 20 KB that travel with a sample: its root side is not "
	  "there.",
	  "Nothing: the leaf, and what it costs, are right." },
	{ AGENT_CUT, "user_read_fault", CUT, "user_read_fault",
	  "Memory of the user stack is not there, or was moved out: the walk ended at it.",
	  "Nothing: the leaf, and what it costs, are right." },
	{ AGENT_CUT, "user_no_row", CUT, "user_no_row",
	  "The walk came to code of which its file says no word: assembly without unwind data.",
	  "If it is yours, give it `.cfi` directives." },
	{ AGENT_CUT, "user_no_mapping", CUT, "user_no_mapping",
	  "The walk came to an address in no executable mapping that is known: of a library that "
	  "was loaded a moment ago, or it went astray.",
	  "Nothing: the leaf, and what it costs, are right." },
	{ AGENT_CUT, "user_no_table", CUT, "user_no_table",
	  "The unwind table of the code was not loaded (yet), and frame pointers did not lead to "
	  "the root either.",
	  "If it lasts: build with `-fno-omit-frame-pointer`, or do not strip `.eh_frame`." },
	{ AGENT_CUT, "user_bad_frame", CUT, "user_bad_frame",
	  "The walk went astray: a frame below the one before it, or one that returns to where no "
	  "code is.",
	  "If it is generated code: let its runtime keep frame pointers." },
	{ AGENT_CUT, "user_unsupported", CUT, "user_unsupported",
	  "The unwind data of the code has a rule that is not read here.",
	  "Nothing: the leaf, and what it costs, are right." },
	{ AGENT_CUT, "user_32bit", CUT, "user_32bit",
	  "A 32-bit process: its user stack is not walked.",
	  "Nothing: the process and its kernel stack are right." },
	{ AGENT_CUT, "user_exec", CUT, "user_exec",
	  "A process in the middle of an exec: the stack of the old program is gone, the new one "
	  "has not begun. The leaf is where exec was called.",
	  "Nothing: the leaf, and what it costs, are right." },
	{ AGENT_CUT, "user_unmapped", CUT, "user_unmapped",
	  "A caller lies in no mapping that was there when the sample was read: unmapped since, or "
	  "never code. What is above it is not there.",
	  "Nothing: the leaf, and what it costs, are right." },
	{ REJECTED, "truncated", LOST, "rejected", "A message ends inside a field.",
	  "See `decima-error` in the rejected topic; look at its producer." },
	{ REJECTED, "malformed", LOST, "rejected", "A message is no protobuf.",
	  "As for `truncated`." },
	{ REJECTED, "index", LOST, "rejected", "An index in a message points outside its table.",
	  "As for `truncated`." },
	{ REJECTED, "limit", LOST, "rejected",
	  "A message has more labels, samples, frames or bytes than one may.",
	  "Let its producer send smaller ones." },
	{ REJECTED, "old_layout", LOST, "rejected",
	  "A message in an older version's layout of OTLP profiles.",
	  "Bring its producer up to date (v1development, spec 1.11)." },
	{ REJECTED, "text", LOST, "rejected",
	  "A text in a message is not UTF-8, or has a NUL in it.", "As for `truncated`." },
	{ REJECTED, "shape", LOST, "rejected",
	  "Values, times and periods of a message do not fit each other.", "As for `truncated`." },
	{ REJECTED, "bad_headers", LOST, NULL,
	  "`decima-epoch` and `decima-seq` are not two numbers, or the key is no host id.",
	  "As for `truncated`." },
	{ REJECTED, "refused_by_store", LOST, "rejected",
	  "PostgreSQL refuses what the message holds; others are not touched.",
	  "It is a defect of ours: report it, with the message." },
	{ SKIPPED, "too_old", LOST, "too_old",
	  "A sample is older than what is kept: older than `--retention-raw`.",
	  "Look at the host's clock, or for how long it could not send." },
	{ SKIPPED, "too_far_ahead", LOST, "too_far_ahead",
	  "A sample is more than 10 minutes ahead of the ingester's clock.",
	  "Look at the host's clock." },
	{ "decima_ingester_gap_batches_total", "gap", LOST, "gap",
	  "Batches that Kafka had and no ingester read: the agent has them no more, and what "
	  "it sent later has come. Or more than 1,024 ranges of a host's batches are missing, and "
	  "the oldest is waited for no more; the metric counts only these.",
	  "Look for what took them: a topic whose retention is too short, or that was recreated." },
	{ "decima_ingester_unreadable_messages_total", "unreadable", LOST, NULL,
	  "Kafka holds a batch of messages that cannot be unpacked, or unpacks to more than 72 MB "
	  "(at the latest 216).",
	  "The ingester's log has partition and offsets; look at their producer. In the fleet: "
	  "`gap`." },
	{ "decima_ingester_missed_messages_total", "missed", LOST, NULL,
	  "Kafka's retention removed messages before they were read.",
	  "Raise the topic's retention; add ingesters. In the fleet they are missing batches at "
	  "first, and `gap` once the agent's next batch has come." },
	{ SKIPPED, "label_dropped", CUT, NULL,
	  "A label whose name is empty or longer than 128 bytes, or whose value is nested too "
	  "deep, was left out.",
	  "Shorten the attribute's name." },
	{ SKIPPED, "label_reserved", CUT, NULL,
	  "A label whose name begins with `__` (or an attribute with `..`, `._` or `_.`) was left "
	  "out: such names are the store's own.",
	  "Rename the attribute." },
	{ SKIPPED, "label_cut", CUT, NULL, "A label's value was cut at 2,048 bytes.",
	  "Shorten the attribute." },
	{ SKIPPED, "stack_cut", CUT, NULL, "The root side of a stack was cut at 1,024 frames.",
	  "Nothing: the leaf, and what it costs, are right." },
	{ SKIPPED, "name_cut", CUT, NULL,
	  "The name of a function or a file was cut at 16,384 bytes.", "Nothing." },
	{ "decima_ingester_duplicate_batches_total", "duplicate", APART, NULL,
	  "A batch came twice, since its sender could not know; it was counted once. The fleet "
	  "shows it as `duplicate`.",
	  "Nothing." },
	{ "decima_ingester_late_batches_total", "late", APART, NULL,
	  "A batch came after a higher number of its host, and was counted.", "Nothing." },
	{ "decima_ingester_bad_status_total", "bad_status", APART, NULL,
	  "What an agent says of itself cannot be read; its samples were taken.",
	  "Look at the agent's version." },
	{ "decima_ingester_topic_resets_total", "topic_reset", APART, NULL,
	  "A partition was recreated or truncated under us; it is read from its beginning.",
	  "Whatever was not read before is lost: look for who recreated the topic." },
	{ "decima_ingester_fences_lost_total", "fence_lost", APART, NULL,
	  "Somebody else had stored a partition, or PostgreSQL went back: it is read again.",
	  "Nothing, unless it goes on." },
};

static const struct {
	const char *title, *text;
} kinds[LOSS_KIND_COUNT] = {
	[LOST] = { "Lost", "Samples, or messages of them, that will not be stored." },
	[CUT] = { "Stored, but not whole", "The sample counts; something of it is missing." },
	[APART] = { "Counted apart", "Nothing is lost by these alone." },
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

static bool is_told(const struct metric *metric, const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(losses); i++)
		if (!strcmp(losses[i].metric, metric->name) && !strcmp(losses[i].name, value))
			return true;
	return false;
}

/* The table and the metrics speak of the same. */
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
			if (is_told(metric, metric->values[j]))
				continue;
			fprintf(stderr,
				"print-losses: say in tools/print_losses.c what %s of %s means\n",
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
	printf("\n## %s\n\n%s\n\n| reason | what it means | what to do | metric | in the fleet |\n"
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
	metrics_register(profiler_metrics, profiler_metric_count);
	metrics_register(batch_metrics, batch_metric_count);
	metrics_register(publish_metrics, publish_metric_count);
	metrics_register(local_store_metrics, local_store_metric_count);
	ingester_metrics_register();
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
	     "Every loss has a name. This page has all of them: what each means, where it is "
	     "counted and what to do.\nMade of the table in `tools/print_losses.c` and of the "
	     "metrics by `tools/docs.py build --write`; each has a test\nthat provokes it "
	     "(`tests/integration/test_reasons.py` checks that).\n\n"
	     "The agent's counts go with each batch, so `lost` and `truncated` of "
	     "`/api/v1/fleet` have them for each host\nand for as long as its spool lives: "
	     "`taken = stored + lost + in_flight`. A metric counts since its process began.");
	for (enum loss_kind kind = 0; kind < LOSS_KIND_COUNT; kind++)
		print_kind(kind);
	return 0;
}
