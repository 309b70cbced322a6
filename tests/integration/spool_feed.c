// SPDX-License-Identifier: Apache-2.0
/*
 * spool_feed - puts numbered batches into a spool and publishes them, as the agent does, for
 * test_spool.py and tests/chaos to kill at any instant.
 *
 *     spool_feed STATE_DIRECTORY BROKERS TOPIC LAST [NODE [PAUSE_MS [FAILPOINTS]]]
 *
 * Each batch has one sample, whose pid is the batch's number and whose time is the time of the put.
 * It continues after the last number in the spool, until LAST, and ends when Kafka has all batches.
 * It prints "put NUMBER" for each batch, and "done" at the end.
 */
#include "agent/spool/failpoints.h"
#include "agent/spool/publish.h"
#include "base/clock.h"
#include "base/log.h"
#include "profile/profile_type.h"
#include "wire/otlp_writer.h"
#include "wire/status.h"

#include <inttypes.h>
#include <stdio.h>

enum { PERIOD = 1000, SPOOL_BYTES = 64 << 20, PAUSE_MS = 5 };

struct feed {
	struct spool spool;
	struct publish publish;
	const char *directory, *brokers, *topic, *node;
	uint64_t last, pause_ms;
};

static str batch_of(uint64_t number, const char *node, struct arena *arena)
{
	struct sample_set set;
	struct label of_series[] = { { STR("node"), str_from(node) },
				     { STR("comm"), STR("spool_feed") } };
	struct label of_sample[] = { { STR("pid"), str_format(arena, "%" PRIu64, number) } };
	const struct frame frame = { .type = STR("native"),
				     .path = STR("/bin/spool_feed"),
				     .address = 0x10 };

	sample_set_init(&set, arena);

	uint32_t at = sample_set_frame(&set, &frame);

	sample_set_add(&set, (struct sample){
				     .series = sample_set_series(&set, STR(PROFILE_TYPE_CPU),
								 labels_of(of_series, 2), PERIOD),
				     .stack = sample_set_stack(&set, &at, 1),
				     .labels = sample_set_labels(&set, labels_of(of_sample, 1)),
				     .value = PERIOD,
				     .time_ms = clock_unix_ns() / NS_PER_MS,
			     });
	return otlp_write(&set, 0, 1, arena);
}

static bool put_all(struct feed *feed, struct err *err)
{
	struct spool *spool = &feed->spool;

	while (spool->last_seq < feed->last) {
		AUTO_ARENA arena = { 0 };
		uint64_t number = spool->last_seq + 1;
		struct agent_status status = { .node = str_from(feed->node),
					       .sampled = number,
					       .batch_samples = 1,
					       .time_unix_ns = clock_unix_ns() };

		if (!spool_put(spool, batch_of(number, feed->node, &arena),
			       status_write(&status, &arena), 1, err))
			return false;
		printf("put %" PRIu64 "\n", number);
		fflush(stdout);
		clock_sleep_ms(feed->pause_ms);
	}
	return true;
}

static bool feed_run(struct feed *feed, struct err *err)
{
	if (!spool_open(&feed->spool,
			&(struct spool_options){ .state_directory = feed->directory,
						 .node = feed->node,
						 .max_bytes = SPOOL_BYTES },
			err) ||
	    !publish_start(
		    &feed->publish, &feed->spool,
		    &(struct publish_options){ .brokers = feed->brokers, .topic = feed->topic },
		    err))
		return false;

	bool is_put = put_all(feed, err);

	while (is_put && spool_level_get(&feed->spool).batches)
		clock_sleep_ms(PAUSE_MS);
	publish_stop(&feed->publish, 1000);
	spool_close(&feed->spool);
	return is_put;
}

int main(int argc, char **argv)
{
	static struct feed feed;
	struct err err;

	log_init("spool_feed", LOG_INFO);
	feed = (struct feed){ .node = argc > 5 ? argv[5] : "feed", .pause_ms = PAUSE_MS };
	if (argc < 5 || argc > 8 || !str_to_u64(str_from(argv[4]), &feed.last) ||
	    (argc > 6 && !str_to_u64(str_from(argv[6]), &feed.pause_ms))) {
		fprintf(stderr, "usage: spool_feed STATE_DIRECTORY BROKERS TOPIC LAST"
				" [NODE [PAUSE_MS [FAILPOINTS]]]\n");
		return 2;
	}
	feed.directory = argv[1];
	feed.brokers = argv[2];
	feed.topic = argv[3];
	if (!failpoint_arm(&agent_failpoints, argc > 7 ? argv[7] : "", &err) ||
	    !feed_run(&feed, &err)) {
		log_error("spool_feed stopped", "error=\"%s\"", err.msg);
		return 1;
	}
	printf("done\n");
	return 0;
}
