// SPDX-License-Identifier: Apache-2.0
#include "base/heap.h"
#include "ingester/consume/hosts_internal.h"
#include "wire/status.h"

void hosts_init(struct hosts *hosts)
{
	*hosts = (struct hosts){ 0 };
	hosts->by_id.arena = &hosts->arena;
}

void hosts_clear(struct hosts *hosts)
{
	for (struct host *host = hosts->all; host; host = host->next)
		free(host->texts);
	arena_free(&hosts->arena);
	hosts_init(hosts);
}

size_t hosts_memory(const struct hosts *hosts)
{
	return hosts->arena.size;
}

/* What the status says that has no column. An unreadable one was never stored. */
static void fill_transit(struct store_host *host)
{
	AUTO_ARENA scratch = { 0 };
	struct agent_status agent;
	struct err err;

	if (!host->status.len || !status_read(host->status, &agent, &scratch, &err))
		return;
	host->transit.spooled = status_spooled(&agent);
	if (!host->has_transit)
		host->transit.missing =
			transit_estimate(host->sampled,
					 host->lost + host->stored + host->skipped +
						 host->rejected_samples + host->conflict_samples,
					 status_spool_lost(&agent));
	transit_settle(&host->transit, &host->seen);
}

struct host *hosts_find(struct hosts *hosts, const struct batch_number *number,
			struct store_writer *writer, struct err *err)
{
	struct buf id = { .arena = &hosts->arena };
	AUTO_ARENA scratch = { 0 };
	struct buf probe = { .arena = &scratch };

	buf_u64(&probe, number->epoch);
	buf_str(&probe, number->host);

	struct host *host = map_get(&hosts->by_id, buf_bytes(&probe));

	if (host)
		return host;

	struct store_host read = { .host = number->host, .epoch = number->epoch };

	if (!store_writer_host(writer, &read, &hosts->arena, err))
		return NULL;
	fill_transit(&read);
	host = arena_new(&hosts->arena, struct host);
	host->store = read;
	host->store.host = str_copy(&hosts->arena, number->host);
	host->next = hosts->all;
	hosts->all = host;
	buf_str(&id, buf_bytes(&probe));
	*map_at(&hosts->by_id, buf_bytes(&id)) = host;
	hosts->count++;
	return host;
}

static uint64_t sum(const struct status_count *counts, size_t len)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < len; i++)
		samples += counts[i].samples;
	return samples;
}

/*
 * The three texts share one heap block, which each status replaces. An arena would grow for months.
 */
static void copy_status(struct host *host, str status, const struct agent_status *agent)
{
	const str from[] = { status, agent->node, agent->version };
	str *const to[] = { &host->store.status, &host->store.node, &host->store.version };
	char *texts = heap_zeroed(status.len + agent->node.len + agent->version.len + 1, 1);
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_LEN(from); i++) {
		if (from[i].len)
			memcpy(texts + at, from[i].ptr, from[i].len);
		*to[i] = (str){ texts + at, from[i].len };
		at += from[i].len;
	}
	free(host->texts);
	host->texts = texts;
}

bool host_update(struct host *host, str status, uint64_t skipped, struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	struct agent_status agent;

	if (!status_read(status, &agent, &scratch, err))
		return false;
	copy_status(host, status, &agent);
	transit_add_new(&host->store.transit,
			&(struct transit_batch){ .spooled = status_spooled(&agent),
						 .samples = agent.batch_samples,
						 .skipped = skipped });
	host->store.sampled = agent.sampled;
	host->store.lost = sum(agent.lost, agent.lost_count);
	host->store.truncated = sum(agent.truncated, agent.truncated_count);
	host->store.last_seen_ms = agent.time_unix_ns / 1000000;
	return true;
}

/* The samples of a batch. Without a readable status their number is unknown: 0. */
static uint64_t batch_samples(str status)
{
	AUTO_ARENA scratch = { 0 };
	struct agent_status agent;
	struct err err;

	return status_read(status, &agent, &scratch, &err) ? agent.batch_samples : 0;
}

void host_count_rejected(struct host *host, str status)
{
	host->store.rejected_batches++;
	host->store.rejected_samples += batch_samples(status);
}

void host_count_conflict(struct host *host, str status, size_t value_len)
{
	uint64_t samples = batch_samples(status);

	host->store.conflict_batches++;
	host->store.conflict_samples += samples < value_len ? samples : value_len;
}

void host_count_late(struct host *host, str status)
{
	transit_add_late(&host->store.transit, batch_samples(status));
}
