/*
 * spool_feed - puts numbered batches into a spool and publishes them, as the agent does, for
 * test_spool.py to kill at any instant.
 *
 *     spool_feed STATE_DIRECTORY BROKERS TOPIC LAST
 *
 * Each batch has one sample, whose pid is the batch's number, at the time it is put. It goes on
 * after the last number in the spool, until LAST, and ends when Kafka has all of them. What it
 * prints: "put NUMBER" for each, "done" at the end.
 */
#include "base/clock.h"
#include "base/log.h"
#include "profile/otlp.h"
#include "profile/profile_type.h"
#include "profile/status.h"
#include "publish.h"

#include <inttypes.h>
#include <stdio.h>

enum { PERIOD = 1000, SPOOL_BYTES = 64 << 20, PAUSE_MS = 5 };

static str batch_of(uint64_t number, struct arena *arena)
{
	struct sample_set set;
	struct label of_series[] = { { STR("node"), STR("feed") },
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

static bool put_all(struct spool *spool, uint64_t last, struct err *err)
{
	while (spool->last_seq < last) {
		AUTO_ARENA arena = { 0 };
		uint64_t number = spool->last_seq + 1;
		struct agent_status status = { .node = STR("feed"), .taken = number };

		if (!spool_put(spool, batch_of(number, &arena), status_write(&status, &arena), 1,
			       err))
			return false;
		printf("put %" PRIu64 "\n", number);
		fflush(stdout);
		clock_sleep_ms(PAUSE_MS);
	}
	return true;
}

static bool feed(char **argv, struct err *err)
{
	static struct spool spool;
	static struct publish publish;
	uint64_t last;

	if (!str_to_u64(str_from(argv[4]), &last))
		return err_set(err, ERR_INVALID, "LAST is a number");
	if (!spool_open(&spool,
			&(struct spool_options){ .state_directory = argv[1],
						 .node = "feed",
						 .max_bytes = SPOOL_BYTES },
			err) ||
	    !publish_start(&publish, &spool,
			   &(struct publish_options){ .brokers = argv[2], .topic = argv[3] }, err))
		return false;

	bool is_put = put_all(&spool, last, err);

	while (is_put && spool_level_get(&spool).batches)
		clock_sleep_ms(PAUSE_MS);
	publish_stop(&publish, 1000);
	spool_close(&spool);
	return is_put;
}

int main(int argc, char **argv)
{
	struct err err;

	log_init("spool_feed", LOG_INFO);
	if (argc != 5) {
		fprintf(stderr, "usage: spool_feed STATE_DIRECTORY BROKERS TOPIC LAST\n");
		return 2;
	}
	if (!feed(argv, &err)) {
		log_error("spool_feed stopped", "error=\"%s\"", err.msg);
		return 1;
	}
	printf("done\n");
	return 0;
}
