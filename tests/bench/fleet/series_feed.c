// SPDX-License-Identifier: Apache-2.0
/*
 * series_feed - stores one day of a large fleet's series as an ingester does, without Kafka.
 *
 *     series_feed POSTGRES SERIES END_MS
 *
 * There are SERIES / COMMS pods with COMMS programs each, one service for each 1,000 pods and one
 * node for each 20 pods. Services share no code. A pod lives in one of the ten-minute rounds of the
 * day, which ends at END_MS, and each of its series has one sample. The schema must exist.
 */
#include "base/clock.h"
#include "base/log.h"
#include "store/write/writer.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	COMMS = 5, /* programs of a pod */
	COMM_NAMES = 300,
	POD_STACKS = 8, /* stacks of a service */
	DEPTH = 12,
	LABELS = 9,
	ROUNDS = 144, /* of ten minutes each */
	POD_SERVICE = 1000,
	POD_NODE = 20,
};

#define ROUND_MS  UINT64_C(600000)
#define PERIOD_NS 52631578

struct feed {
	struct store_writer writer;
	uint64_t pods, services, nodes;
};

static uint64_t mixed(uint64_t z)
{
	z = (z + 1) * UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ (z >> 31);
}

static uint32_t stack_of(struct sample_set *set, uint64_t service, uint64_t number)
{
	uint32_t frames[DEPTH];

	for (uint64_t i = 0; i < DEPTH; i++) {
		const struct frame frame = {
			.type = STR("native"),
			.build_id = str_format(set->arena, "%040" PRIx64, service + 1),
			.path = str_format(set->arena, "/srv/%" PRIu64 "/bin/main", service),
			.address = 0x1000 * (i + 1) + (i > DEPTH / 2 ? number * 16 : 0),
		};

		frames[i] = sample_set_frame(set, &frame);
	}
	return sample_set_stack(set, frames, DEPTH);
}

static uint32_t series_of(struct sample_set *set, const struct feed *feed, uint64_t pod,
			  uint64_t comm)
{
	struct arena *arena = set->arena;
	uint64_t service = mixed(pod) % feed->services, node = mixed(pod + 1) % feed->nodes;
	struct label *labels = arena_array(arena, struct label, LABELS);
	str name = str_format(arena, "comm-%03" PRIu64, (service * 7 + comm) % COMM_NAMES);
	size_t len = 0;

	labels[len++] = (struct label){ STR("comm"), name };
	labels[len++] = (struct label){ STR("container"), STR("main") };
	labels[len++] = (struct label){
		STR("container_id"),
		str_format(arena, "%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64,
			   mixed(pod), mixed(pod + 1), mixed(pod + 2), mixed(pod + 3))
	};
	labels[len++] =
		(struct label){ STR("exe"), str_format(arena, "/usr/bin/" STR_FMT, STR_ARG(name)) };
	labels[len++] = (struct label){ STR("namespace"),
					str_format(arena, "team-%02" PRIu64, service % 20) };
	labels[len++] = (struct label){ STR("node"), str_format(arena, "node-%05" PRIu64, node) };
	labels[len++] =
		(struct label){ STR("pod"), str_format(arena, "service-%03" PRIu64 "-%06" PRIu64,
						       service, pod) };
	labels[len++] = (struct label){ STR("service_name"),
					str_format(arena, "service-%03" PRIu64, service) };
	return sample_set_series(set, STR("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
				 labels_of(labels, len), PERIOD_NS);
}

static void add_pod(struct sample_set *set, const struct feed *feed, uint64_t pod,
		    uint64_t start_ms)
{
	uint64_t service = mixed(pod) % feed->services;

	for (uint64_t comm = 0; comm < COMMS; comm++) {
		uint64_t chance = mixed(pod * COMMS + comm);

		sample_set_add(set, (struct sample){
					    .series = series_of(set, feed, pod, comm),
					    .stack = stack_of(set, service, chance % POD_STACKS),
					    .value = PERIOD_NS,
					    .time_ms = start_ms + chance % ROUND_MS,
				    });
	}
}

static bool feed_round(struct feed *feed, uint64_t round, uint64_t start_ms, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct store_flush result;
	struct store_flush_part part = {
		.from = { .next = round ? (int64_t)round : -1, .last_timestamp_ms = -1 },
		.to = { .next = (int64_t)round + 1, .last_timestamp_ms = -1 },
		.samples = &set
	};

	sample_set_init(&set, &arena);
	for (uint64_t pod = round; pod < feed->pods; pod += ROUNDS)
		add_pod(&set, feed, pod, start_ms + round * ROUND_MS);
	return store_writer_flush(&feed->writer, &part, 1, &result, err) &&
	       (!part.lost || err_set(err, ERR_INVALID, "this database has been fed before"));
}

int main(int argc, char **argv)
{
	struct feed feed = { 0 };
	uint64_t series, end_ms;
	struct err err;
	bool good;

	log_init("series_feed", LOG_INFO);
	if (argc != 4 || !str_to_u64(str_from(argv[2]), &series) ||
	    !str_to_u64(str_from(argv[3]), &end_ms)) {
		fputs("usage: series_feed POSTGRES SERIES END_MS\n", stderr);
		return 2;
	}
	feed.pods = series / COMMS;
	feed.services = feed.pods / POD_SERVICE + 1;
	feed.nodes = feed.pods / POD_NODE + 1;

	const struct store_writer_options options = { .postgres = argv[1],
						      .topic = "series_feed",
						      .seen_ids_max = 1000 };

	good = store_writer_open(&feed.writer, &options, &err);
	for (uint64_t i = 0; good && i < ROUNDS; i++)
		good = feed_round(&feed, i, end_ms - ROUNDS * ROUND_MS, &err);
	store_writer_close(&feed.writer);
	if (!good)
		fprintf(stderr, "series_feed: %s\n", err.msg);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
