// SPDX-License-Identifier: Apache-2.0
#include "hosts.h"

#include "profile/status.h"

#include <stdio.h>

void hosts_init(struct hosts *hosts)
{
	*hosts = (struct hosts){ 0 };
	hosts->by_id.arena = &hosts->arena;
}

void hosts_clear(struct hosts *hosts)
{
	for (struct host *host = hosts->all; host; host = host->next)
		free(host->words);
	arena_free(&hosts->arena);
	hosts_init(hosts);
}

size_t hosts_held(const struct hosts *hosts)
{
	return hosts->arena.held;
}

struct host *hosts_find(struct hosts *hosts, const struct number *number,
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

/* One block for the three texts, exchanged whole at each word: hosts speak for months. */
static void keep_words(struct host *host, str status, const struct agent_status *said)
{
	const str from[] = { status, said->node, said->version };
	str *const to[] = { &host->store.status, &host->store.node, &host->store.version };
	char *words = malloc(status.len + said->node.len + said->version.len + 1);
	size_t at = 0;

	if (!words) {
		fputs("out of memory\n", stderr);
		abort();
	}
	for (size_t i = 0; i < ARRAY_LEN(from); i++) {
		if (from[i].len)
			memcpy(words + at, from[i].ptr, from[i].len);
		*to[i] = (str){ words + at, from[i].len };
		at += from[i].len;
	}
	free(host->words);
	host->words = words;
}

bool host_speak(struct host *host, str status, struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	struct agent_status said;

	if (!status_read(status, &said, &scratch, err))
		return false;
	keep_words(host, status, &said);
	host->store.taken = said.taken;
	host->store.lost = sum(said.lost, said.lost_count);
	host->store.truncated = sum(said.truncated, said.truncated_count);
	host->store.last_seen_ms = said.time_unix_ns / 1000000;
	return true;
}

/* Of a batch without a readable status nobody knows how many samples it held. */
void host_reject(struct host *host, str status)
{
	AUTO_ARENA scratch = { 0 };
	struct agent_status said;
	struct err err;

	host->store.rejected_batches++;
	if (status_read(status, &said, &scratch, &err))
		host->store.rejected_samples += said.batch_samples;
}
