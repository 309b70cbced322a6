// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/batch.h"

#include "agent/agent_limits.h"
#include "base/clock.h"
#include "base/log.h"
#include "server/metrics/metrics.h"
#include "wire/otlp_writer.h"

#include <inttypes.h>

#define BATCH_METRICS(ROW)                                                                        \
	ROW(batches, METRIC_COUNTER, "decima_agent_batches_total", "Batches put into the spool.") \
	ROW(batch_bytes, METRIC_COUNTER, "decima_agent_batch_bytes_total",                        \
	    "Bytes of batches put into the spool, uncompressed.")                                 \
	ROW(batch_samples, METRIC_COUNTER, "decima_agent_samples_spooled_total",                  \
	    "Samples put into the spool.")                                                        \
	ROW(batch_lost, METRIC_COUNTER, "decima_agent_samples_unspooled_total",                   \
	    "Samples lost because the spool could not be written.")                               \
	ROW(killed, METRIC_COUNTER, "decima_agent_samples_killed_total",                          \
	    "Samples that a killed agent had collected and not spooled; counted as lost by the "  \
	    "next agent process, this one.")                                                      \
	ROW(spool_write, METRIC_HISTOGRAM, "decima_agent_spool_write_duration_seconds",           \
	    "Time to put a batch into the spool, on disk.", METRIC_IN_SECONDS)

METRICS(batch_metrics, BATCH_METRICS);

/*
 * What Kafka acknowledged before this process: at least what the last status says, and also what
 * left the spool after that status. Losses may be of an older spool, so the second may be too low.
 */
static uint64_t sent_before(const struct agent_status *base, struct spool *spool)
{
	struct spool_lost lost = spool_lost_get(spool);
	uint64_t left = spool_samples_get(spool).held;

	for (size_t i = 0; i < SPOOL_REASON_COUNT; i++)
		left += lost.samples[i];
	return base->spooled > left && base->spooled - left > base->sent ? base->spooled - left
									 : base->sent;
}

void batch_writer_init(struct batch_writer *writer, struct spool *spool,
		       const struct batch_options *options)
{
	struct err err;

	*writer = (struct batch_writer){
		.spool = spool,
		.counts = options->counts,
		.node = options->node,
		.hz = options->hz,
		.has_base = true,
	};
	if (spool->last_status.len &&
	    !status_read(spool->last_status, &writer->base, &writer->base_arena, &err)) {
		log_warn("counting from 0: the last status of the spool is unreadable",
			 "error=\"%s\"", err.msg);
		writer->has_base = false;
	}
	writer->reported = writer->base.sampled;
	writer->base.spooled = status_spooled(&writer->base);
	writer->base.sent = sent_before(&writer->base, spool);
}

void batch_writer_done(struct batch_writer *writer)
{
	arena_free(&writer->arena);
	arena_free(&writer->base_arena);
	*writer = (struct batch_writer){ 0 };
}

static uint64_t count_of(const struct status_count *counts, size_t len, str reason)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < len; i++)
		if (str_eq(counts[i].reason, reason))
			samples += counts[i].samples;
	return samples;
}

/* Add the predecessor's count for this reason to ours. */
static void add_count(struct status_count *to, size_t *len, const struct status_count *base,
		      size_t base_len, str reason, uint64_t samples)
{
	samples += count_of(base, base_len, reason);
	if (*len < STATUS_REASONS_MAX)
		to[(*len)++] = (struct status_count){ reason, samples };
}

bool batch_writer_reported(const struct batch_writer *writer, struct loss_counters *ret_reported)
{
	const struct agent_status *base = &writer->base;

	if (!writer->has_base)
		return false;
	*ret_reported = (struct loss_counters){ .sampled = base->sampled };
	for (size_t i = 0; i < LOSS_COUNT; i++)
		ret_reported->lost[i] =
			count_of(base->lost, base->lost_count, str_from(loss_names[i]));
	return true;
}

void batch_writer_add_unreported(struct batch_writer *writer,
				 const struct loss_counters *unreported)
{
	uint64_t killed_samples = loss_counters_unexplained(unreported);

	writer->carried.sampled += unreported->sampled;
	for (size_t i = 0; i < LOSS_COUNT; i++)
		writer->carried.lost[i] += unreported->lost[i];
	metric_add(&killed, killed_samples);
	if (unreported->sampled)
		log_warn("samples of a previous agent process were not spooled",
			 "samples=%" PRIu64 " agent_killed=%" PRIu64, unreported->sampled,
			 killed_samples);
}

static void add_lost(struct agent_status *status, const struct agent_status *base,
		     const char *reason, uint64_t samples)
{
	add_count(status->lost, &status->lost_count, base->lost, base->lost_count, str_from(reason),
		  samples);
}

/* The spool's own counts already continue over restarts. */
static void add_spool_lost(struct agent_status *status, struct spool *spool)
{
	static const struct agent_status empty;
	struct spool_lost lost = spool_lost_get(spool);

	for (size_t i = 0; i < SPOOL_REASON_COUNT; i++)
		add_lost(status, &empty, spool_reason_names[i], lost.samples[i]);
}

/* Losses of this agent process, with those of this module. */
static struct loss_counters lost_now(const struct batch_writer *writer,
				     const struct profiler_counts *counts)
{
	struct loss_counters now = counts->loss_counters;

	now.lost[LOSS_SPOOL_WRITE] = writer->lost;
	return now;
}

static struct agent_status status_now(const struct batch_writer *writer,
				      const struct profiler_counts *counts, uint64_t samples)
{
	struct loss_counters now = lost_now(writer, counts);
	const struct agent_status *base = &writer->base;
	const struct loss_counters *carried = &writer->carried;
	struct agent_status status = {
		.node = str_from(writer->node),
		.version = STR(DECIMA_VERSION),
		.frequency_hz = (uint32_t)writer->hz,
		.sampled = base->sampled + carried->sampled + writer->samples + samples,
		.batch_samples = samples,
		.spooled = base->spooled + writer->samples + samples,
		.sent = base->sent + spool_samples_get(writer->spool).sent,
		.time_unix_ns = clock_unix_ns(),
		/* Read before the losses: a drop in between is reported by the next status. */
		.spool_oldest = spool_oldest_seq(writer->spool),
	};

	for (size_t i = 0; i < LOSS_COUNT; i++) {
		add_lost(&status, base, loss_names[i], carried->lost[i] + now.lost[i]);
		status.sampled += now.lost[i];
	}
	add_lost(&status, base, LOSS_AGENT_KILLED, loss_counters_unexplained(carried));
	add_spool_lost(&status, writer->spool);
	for (size_t i = 0; i < TRUNCATED_COUNT; i++)
		add_count(status.truncated, &status.truncated_count, base->truncated,
			  base->truncated_count, str_from(profiler_truncation_names[i]),
			  counts->truncated[i]);
	return status;
}

/* The counts are stored before the status: the status must never report more than was counted. */
static void put(struct batch_writer *writer, str value, uint64_t samples,
		const struct profiler_counts *counts)
{
	struct agent_status status = status_now(writer, counts, samples);
	str status_bytes = status_write(&status, &writer->arena);
	struct err err;

	counts_save(writer->counts, lost_now(writer, counts).lost);

	uint64_t began_ns = clock_monotonic_ns();
	bool done = spool_put(writer->spool, value, status_bytes, samples, &err);

	metric_observe(&spool_write, clock_monotonic_ns() - began_ns);
	if (!done) {
		log_error("samples lost: the spool cannot be written",
			  "samples=%" PRIu64 " error=\"%s\"", samples, err.msg);
		writer->lost += samples;
		metric_add(&batch_lost, samples);
		counts_save(writer->counts, lost_now(writer, counts).lost);
		return;
	}
	writer->reported = status.sampled;
	writer->batches++;
	writer->samples += samples;
	writer->bytes += value.len;
	metric_add(&batches, 1);
	metric_add(&batch_bytes, value.len);
	metric_add(&batch_samples, samples);
}

/* A number of samples that should fit into BATCH_BYTES, at the average size of the last try. */
static size_t fewer(size_t count, size_t bytes)
{
	size_t fits = (size_t)((double)count * BATCH_BYTES / (double)bytes * 0.9);

	return fits < count ? (fits ? fits : 1) : count / 2;
}

void batch_write(struct batch_writer *writer, const struct sample_set *set,
		 const struct profiler_counts *counts)
{
	size_t first = 0, count = set->samples.len;

	if (!count && status_now(writer, counts, 0).sampled != writer->reported) {
		put(writer, otlp_write(set, 0, 0, &writer->arena), 0, counts);
		arena_reset(&writer->arena);
	}
	while (first < set->samples.len) {
		if (count > set->samples.len - first)
			count = set->samples.len - first;

		str value = otlp_write(set, first, count, &writer->arena);

		if (value.len > BATCH_BYTES && count > 1) {
			count = fewer(count, value.len);
		} else {
			put(writer, value, count, counts);
			first += count;
		}
		arena_reset(&writer->arena);
	}
}
