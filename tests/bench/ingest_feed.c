// SPDX-License-Identifier: Apache-2.0
/*
 * ingest_feed - simulates a fleet that sends recorded batches, for make bench-ingest and
 * bench-query.
 *
 *     ingest_feed decode FILE...
 *     ingest_feed send BROKERS TOPIC HOSTS ROUNDS PAUSE_MS NUMBERED SPAN_MS FILE...
 *
 * A FILE is one batch of an agent (ProfilesData). `decode` measures how fast one core decodes them.
 * `send` sends one of them for each host and round, with the host's own label `node` and timestamps
 * that end now. NUMBERED 1: with an agent's headers; 0: without headers, as a third-party producer.
 * Both commands print one line of JSON with their counts.
 *
 * If SPAN_MS is above 0, the samples of a round are spread over that time, independent of the
 * pause, and the last round ends now. Each series then has a label `pod` of its own.
 */
#include "base/clock.h"
#include "base/log.h"
#include "client/kafka_producer.h"
#include "wire/otlp_reader.h"
#include "wire/otlp_writer.h"
#include "wire/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

enum { FILES_MAX = 128, DECODE_ROUNDS = 200, POLL_MS = 20, CLOSE_MS = 30000, QUEUE_KB = 64 << 10 };

struct feed {
	struct kafka_producer producer;
	str files[FILES_MAX];
	size_t file_count;
	struct arena files_arena, arena;
	uint64_t hosts, rounds, pause_ms, numbered, span_ms, epoch, began_ms;
	uint64_t samples, bytes, messages, failed;
};

static const struct otlp_options any_time = { 0, UINT64_MAX };

static str file_read(const char *path, struct arena *arena)
{
	FILE *file = fopen(path, "rb");
	struct stat stat;
	char *bytes;

	if (!file || fstat(fileno(file), &stat)) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	bytes = arena_alloc(arena, (size_t)stat.st_size, 1, 1);

	size_t len = fread(bytes, 1, (size_t)stat.st_size, file);

	fclose(file);
	return (str){ bytes, len };
}

static void file_decode(str file, struct sample_set *set, struct arena *arena)
{
	struct otlp_result result;
	struct err err;

	sample_set_init(set, arena);
	if (!otlp_read(file, &any_time, set, &result, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		exit(EXIT_FAILURE);
	}
}

static void decode_all(struct feed *feed)
{
	uint64_t start_ns = clock_cpu_ns();
	struct sample_set set;

	for (size_t round = 0; round < DECODE_ROUNDS; round++)
		for (size_t i = 0; i < feed->file_count; i++) {
			file_decode(feed->files[i], &set, &feed->arena);
			feed->samples += set.samples.len;
			feed->bytes += feed->files[i].len;
			feed->messages++;
			arena_reset(&feed->arena);
		}
	printf("{\"samples\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"messages\":%" PRIu64
	       ",\"cpu_seconds\":%.6f}\n",
	       feed->samples, feed->bytes, feed->messages,
	       (double)(clock_cpu_ns() - start_ns) / NS_PER_SECOND);
}

static void label_series(struct feed *feed, struct series *series, str node)
{
	struct arena *arena = &feed->arena;
	struct label *items = arena_array(arena, struct label, series->labels.len + 1);
	size_t len = series->labels.len;

	for (size_t i = 0; i < len; i++) {
		items[i] = series->labels.items[i];
		if (str_eq(items[i].name, STR("node")))
			items[i].value = node;
	}
	if (feed->span_ms) {
		str comm = labels_get(series->labels, STR("comm"));

		items[len++] =
			(struct label){ STR("pod"), str_format(arena, STR_FMT "-" STR_FMT,
							       STR_ARG(comm), STR_ARG(node)) };
	}
	series->labels = labels_of(items, len);
}

/* Without a span the batch ends now; with a span its samples are spread over its round. */
static void set_times(const struct feed *feed, uint64_t round, struct sample_set *set)
{
	uint64_t first_ms = UINT64_MAX, last_ms = 0, now_ms = clock_unix_ns() / NS_PER_MS;

	for (size_t i = 0; i < set->samples.len; i++) {
		uint64_t time_ms = set->samples.items[i].time_ms;

		first_ms = time_ms < first_ms ? time_ms : first_ms;
		last_ms = time_ms > last_ms ? time_ms : last_ms;
	}
	for (size_t i = 0; i < set->samples.len; i++) {
		uint64_t *time_ms = &set->samples.items[i].time_ms;

		if (feed->span_ms)
			*time_ms = feed->began_ms - (feed->rounds - round) * feed->span_ms +
				   (*time_ms - first_ms) * feed->span_ms / (last_ms - first_ms + 1);
		else
			*time_ms += now_ms - last_ms;
	}
}

/* The batch with the labels and times of this host. */
static str batch_of(struct feed *feed, str file, str node, uint64_t round, uint64_t *ret_samples)
{
	struct sample_set set;

	file_decode(file, &set, &feed->arena);
	for (size_t i = 0; i < set.series.len; i++)
		label_series(feed, &set.series.items[i], node);
	set_times(feed, round, &set);
	*ret_samples = set.samples.len;
	return otlp_write(&set, 0, set.samples.len, &feed->arena);
}

static void on_report(void *self, uint64_t token, enum kafka_outcome fate, const char *why)
{
	struct feed *feed = self;

	(void)token;
	if (fate == KAFKA_DELIVERED)
		return;
	fprintf(stderr, "ingest_feed: %s\n", why);
	feed->failed++;
}

static void batch_send(struct feed *feed, uint64_t host, uint64_t round)
{
	struct arena *arena = &feed->arena;
	str file = feed->files[(host + round) % feed->file_count];
	str node = str_format(arena, "host-%" PRIu64, host);
	uint64_t samples;
	str value = batch_of(feed, file, node, round, &samples);
	struct agent_status status = { .node = node,
				       .version = STR("bench"),
				       .sampled = samples * (round + 1),
				       .batch_samples = samples,
				       .time_unix_ns = clock_unix_ns() };
	const struct kafka_header headers[] = {
		{ "decima-epoch", str_format(arena, "%" PRIu64, feed->epoch) },
		{ "decima-seq", str_format(arena, "%" PRIu64, round + 1) },
		{ "decima-status", status_write(&status, arena) },
	};
	const struct kafka_message message = {
		.key = str_format(arena, STR_FMT "/bench", STR_ARG(node)),
		.value = value,
		.headers = headers,
		.header_count = feed->numbered ? ARRAY_LEN(headers) : 0,
	};
	struct err err;

	while (!kafka_producer_send(&feed->producer, &message, &err)) {
		if (err.code != ERR_LIMIT) {
			fprintf(stderr, "%s\n", err.msg);
			exit(EXIT_FAILURE);
		}
		kafka_producer_poll(&feed->producer, POLL_MS);
	}
	feed->samples += samples;
	feed->bytes += value.len;
	feed->messages++;
	arena_reset(arena);
}

static void send_all(struct feed *feed)
{
	uint64_t next_ns = clock_monotonic_ns();

	feed->epoch = clock_unix_ns();
	feed->began_ms = feed->epoch / NS_PER_MS;
	for (uint64_t round = 0; round < feed->rounds; round++) {
		for (uint64_t host = 0; host < feed->hosts; host++)
			batch_send(feed, host, round);
		next_ns += feed->pause_ms * NS_PER_MS;
		while (clock_monotonic_ns() < next_ns)
			kafka_producer_poll(&feed->producer, POLL_MS);
	}
	while (feed->producer.in_flight && !feed->failed)
		kafka_producer_poll(&feed->producer, POLL_MS);
	kafka_producer_close(&feed->producer, CLOSE_MS);
	printf("{\"samples\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"messages\":%" PRIu64
	       ",\"end_ms\":%" PRIu64 "}\n",
	       feed->samples, feed->bytes, feed->messages, feed->began_ms);
}

static void files_read(struct feed *feed, char **paths, int count)
{
	for (int i = 0; i < count && i < FILES_MAX; i++)
		feed->files[feed->file_count++] = file_read(paths[i], &feed->files_arena);
}

int main(int argc, char **argv)
{
	static struct feed feed;
	struct err err;

	log_init("ingest_feed", LOG_INFO);
	if (argc >= 3 && !strcmp(argv[1], "decode")) {
		files_read(&feed, argv + 2, argc - 2);
		decode_all(&feed);
		return EXIT_SUCCESS;
	}
	if (argc < 10 || strcmp(argv[1], "send") != 0 ||
	    !str_to_u64(str_from(argv[4]), &feed.hosts) ||
	    !str_to_u64(str_from(argv[5]), &feed.rounds) ||
	    !str_to_u64(str_from(argv[6]), &feed.pause_ms) ||
	    !str_to_u64(str_from(argv[7]), &feed.numbered) ||
	    !str_to_u64(str_from(argv[8]), &feed.span_ms)) {
		fprintf(stderr, "usage: ingest_feed send BROKERS TOPIC HOSTS ROUNDS PAUSE_MS "
				"NUMBERED SPAN_MS FILE... | decode FILE...\n");
		return 2;
	}
	files_read(&feed, argv + 9, argc - 9);
	if (!kafka_producer_open(&feed.producer,
				 &(struct kafka_producer_options){ .brokers = argv[2],
								   .topic = argv[3],
								   .client_id = "ingest_feed",
								   .queue_max_kbytes = QUEUE_KB,
								   .report = on_report,
								   .self = &feed },
				 &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return EXIT_FAILURE;
	}
	send_all(&feed);
	return feed.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
