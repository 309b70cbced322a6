// SPDX-License-Identifier: Apache-2.0
/*
 * fleet_feed - sends the batches of a simulated fleet's agents, faster than real time.
 *
 *     fleet_feed brokers=HOST:PORT topic=NAME hosts=40 minutes=60 [NAME=NUMBER ...] -- BATCH...
 *
 * A BATCH is a file with one batch of an agent. In each round every host sends ten seconds of
 * samples, with a sequence number and its status, as an agent does; the last round ends now, or at
 * `end_ms`. Hosts are unavailable for five minutes from time to time. A host that only lost its
 * network sends its spooled batches afterwards. With `stride_minutes`, ten seconds of each period
 * of that many minutes are sent. The same seed gives the same fleet. The output is one line of
 * JSON.
 */
#include "base/clock.h"
#include "base/log.h"
#include "client/kafka_producer.h"
#include "host.h"
#include "wire/otlp_writer.h"
#include "wire/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

enum { SPAN_MS = 10000, POLL_MS = 20, CLOSE_MS = 30000, QUEUE_KB = 64 << 10, LEAST_SAMPLES = 50 };

struct settings {
	str brokers, topic;
	uint64_t hosts, minutes, pause_ms, end_ms, seed;
	uint64_t away_percent;   /* of the hosts, per hour, for five minutes each */
	uint64_t stride_minutes; /* between the starts of two rounds; 0: no gap */
	struct load load;
};

struct sender {
	struct host host;
	uint64_t sequence, sampled;
	uint64_t away_until; /* a round */
	bool spools;         /* while away it samples and spools; false: the host is down */
	VEC(str) spool;      /* messages, in the host's arena */
	VEC(uint64_t) spooled_samples;
};

struct fleet {
	struct settings settings;
	struct pool pool;
	struct arena arena;
	struct kafka_producer producer;
	struct sender *senders;
	uint64_t chance, epoch;
	uint64_t samples, bytes, messages;
};

static const struct {
	const char *name;
	size_t offset;
	uint64_t fallback;
} numbers[] = {
	{ "hosts", offsetof(struct settings, hosts), 40 },
	{ "minutes", offsetof(struct settings, minutes), 60 },
	{ "pause_ms", offsetof(struct settings, pause_ms), 0 },
	{ "end_ms", offsetof(struct settings, end_ms), 0 },
	{ "seed", offsetof(struct settings, seed), 1 },
	{ "away_percent", offsetof(struct settings, away_percent), 10 },
	{ "stride_minutes", offsetof(struct settings, stride_minutes), 0 },
	{ "hz", offsetof(struct settings, load.hz), 19 },
	{ "cpus", offsetof(struct settings, load.cpus), 2 },
	{ "processes", offsetof(struct settings, load.processes), 12 },
	{ "busy_percent", offsetof(struct settings, load.busy_percent), 60 },
	{ "restarts_percent", offsetof(struct settings, load.restarts_percent), 20 },
	{ "deploys", offsetof(struct settings, load.deploys), 2 },
	{ "days_a_deploy", offsetof(struct settings, load.days_a_deploy), 0 },
	{ "pods", offsetof(struct settings, load.with_pods), 1 },
};

static void fail(const char *what, str which)
{
	fprintf(stderr, "fleet_feed: %s: " STR_FMT "\n", what, STR_ARG(which));
	exit(2);
}

static void set(struct settings *settings, str argument)
{
	str value = argument, name = str_cut(&value, '=');
	uint64_t number;

	if (str_eq(name, STR("brokers"))) {
		settings->brokers = value;
		return;
	}
	if (str_eq(name, STR("topic"))) {
		settings->topic = value;
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		if (!str_eq(name, str_from(numbers[i].name)))
			continue;
		if (!str_to_u64(value, &number))
			fail("not a number", argument);
		memcpy((char *)settings + numbers[i].offset, &number, sizeof(number));
		return;
	}
	fail("unknown setting", argument);
}

static str file_read(const char *path, struct arena *arena)
{
	FILE *file = fopen(path, "rb");
	struct stat stat;

	if (!file || fstat(fileno(file), &stat))
		fail("cannot be read", str_from(path));

	char *bytes = arena_alloc(arena, (size_t)stat.st_size, 1, 1);
	size_t len = fread(bytes, 1, (size_t)stat.st_size, file);

	fclose(file);
	return (str){ bytes, len };
}

static uint64_t draw(struct fleet *fleet, uint64_t limit)
{
	fleet->chance = fleet->chance * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return (fleet->chance >> 33) % limit;
}

static void on_report(void *self, uint64_t token, enum kafka_outcome fate, const char *why)
{
	(void)token;
	(void)self;
	if (fate != KAFKA_DELIVERED)
		fail("not delivered", str_from(why));
}

static void send(struct fleet *fleet, struct sender *sender, str value, uint64_t samples,
		 struct arena *arena)
{
	sender->sampled += samples;

	struct agent_status status = { .node = sender->host.node,
				       .version = STR("fleet"),
				       .sampled = sender->sampled,
				       .batch_samples = samples,
				       .time_unix_ns = clock_unix_ns() };
	const struct kafka_header headers[] = {
		{ "decima-epoch", str_format(arena, "%" PRIu64, fleet->epoch) },
		{ "decima-seq", str_format(arena, "%" PRIu64, ++sender->sequence) },
		{ "decima-status", status_write(&status, arena) },
	};
	const struct kafka_message message = {
		.key = str_format(arena, STR_FMT "/fleet", STR_ARG(sender->host.node)),
		.value = value,
		.headers = headers,
		.header_count = ARRAY_LEN(headers),
	};
	struct err err;

	while (!kafka_producer_send(&fleet->producer, &message, &err)) {
		if (err.code != ERR_LIMIT)
			fail("not sent", str_from(err.msg));
		kafka_producer_poll(&fleet->producer, POLL_MS);
	}
	fleet->samples += samples;
	fleet->bytes += value.len;
	fleet->messages++;
}

static void spool(struct sender *sender, str value, uint64_t samples)
{
	struct arena *arena = &sender->host.arena;

	*vec_push(arena, &sender->spool) = str_copy(arena, value);
	*vec_push(arena, &sender->spooled_samples) = samples;
}

static void send_spool(struct fleet *fleet, struct sender *sender, struct arena *arena)
{
	for (size_t i = 0; i < sender->spool.len; i++)
		send(fleet, sender, sender->spool.items[i], sender->spooled_samples.items[i],
		     arena);
	sender->spool.len = sender->spooled_samples.len = 0;
}

static uint64_t stride_ms(const struct settings *settings)
{
	return settings->stride_minutes ? settings->stride_minutes * 60000 : SPAN_MS;
}

/* Ten seconds of one host. */
static void play(struct fleet *fleet, struct sender *sender, uint64_t round, uint64_t start_ms)
{
	AUTO_ARENA arena = { 0 };
	struct settings *settings = &fleet->settings;
	bool away = round < sender->away_until;
	struct sample_set set;

	if (!away && draw(fleet, 100 * MS_PER_HOUR / SPAN_MS) < settings->away_percent) {
		sender->away_until = round + 30;
		sender->spools = draw(fleet, 2);
		away = true;
	}
	if (away && !sender->spools)
		return;
	sample_set_init(&set, &arena);
	host_batch(&sender->host, &fleet->pool, &settings->load,
		   &(struct span){ start_ms, SPAN_MS, stride_ms(settings) }, &set);

	str value = otlp_write(&set, 0, set.samples.len, &arena);

	if (away) {
		spool(sender, value, set.samples.len);
		return;
	}
	send_spool(fleet, sender, &arena);
	send(fleet, sender, value, set.samples.len, &arena);
}

static void play_all(struct fleet *fleet)
{
	const struct settings *settings = &fleet->settings;
	uint64_t stride = stride_ms(settings), rounds = settings->minutes * 60000 / stride;
	uint64_t next_ns = clock_monotonic_ns();
	uint64_t end_ms = settings->end_ms ? settings->end_ms : clock_unix_ns() / NS_PER_MS;
	uint64_t start_ms = end_ms - rounds * stride;

	fleet->epoch = clock_unix_ns();
	for (uint64_t round = 0; round < rounds; round++) {
		for (uint64_t i = 0; i < settings->hosts; i++)
			play(fleet, &fleet->senders[i], round, start_ms + round * stride);
		next_ns += settings->pause_ms * NS_PER_MS;
		do
			kafka_producer_poll(&fleet->producer,
					    clock_monotonic_ns() < next_ns ? POLL_MS : 0);
		while (clock_monotonic_ns() < next_ns);
	}
	for (uint64_t i = 0; i < settings->hosts; i++)
		send_spool(fleet, &fleet->senders[i], &fleet->arena);
	while (fleet->producer.in_flight)
		kafka_producer_poll(&fleet->producer, POLL_MS);
	printf("{\"samples\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"messages\":%" PRIu64
	       ",\"programs\":%zu,\"start_ms\":%" PRIu64 ",\"end_ms\":%" PRIu64 "}\n",
	       fleet->samples, fleet->bytes, fleet->messages, fleet->pool.programs.len, start_ms,
	       end_ms);
}

static void read_batches(struct fleet *fleet, char **paths, int count)
{
	str *batches = arena_array(&fleet->arena, str, (size_t)count);

	for (int i = 0; i < count; i++)
		batches[i] = file_read(paths[i], &fleet->arena);
	pool_init(&fleet->pool, batches, (size_t)count, LEAST_SAMPLES, &fleet->arena);
	if (fleet->pool.programs.len == 0)
		fail("no program has enough samples", STR("BATCH"));
}

int main(int argc, char **argv)
{
	static struct fleet fleet;
	struct settings *settings = &fleet.settings;
	struct err err;
	int at = 1;

	log_init("fleet_feed", LOG_INFO);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		memcpy((char *)settings + numbers[i].offset, &numbers[i].fallback,
		       sizeof(numbers[i].fallback));
	for (; at < argc && strcmp(argv[at], "--") != 0; at++)
		set(settings, str_from(argv[at]));
	if (at + 1 >= argc || !settings->brokers.len || !settings->topic.len)
		fail("brokers=, topic= and, after --, batches are needed", STR("usage"));
	if (settings->load.processes > PROCESSES_MAX || settings->load.cpus > CPUS_MAX)
		fail("too many", STR("processes or cpus"));
	read_batches(&fleet, argv + at + 1, argc - at - 1);
	fleet.chance = settings->seed;
	fleet.senders = arena_array(&fleet.arena, struct sender, settings->hosts);
	for (uint64_t i = 0; i < settings->hosts; i++)
		host_init(&fleet.senders[i].host, &fleet.pool, &settings->load, i, settings->seed);
	if (!kafka_producer_open(&fleet.producer,
				 &(struct kafka_producer_options){ .brokers = settings->brokers.ptr,
								   .topic = settings->topic.ptr,
								   .client_id = "fleet_feed",
								   .queue_max_kbytes = QUEUE_KB,
								   .report = on_report,
								   .self = &fleet },
				 &err))
		fail("no producer", str_from(err.msg));
	play_all(&fleet);
	kafka_producer_close(&fleet.producer, CLOSE_MS);
	return EXIT_SUCCESS;
}
