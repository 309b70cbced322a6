// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "client/client_limits.h"
#include "client/kafka_close.h"
#include "support/test.h"

#include <librdkafka/rdkafka.h>
#include <pthread.h>

/* Holds a thread of librdkafka inside its log callback, so that the client cannot be freed. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_open, is_reached;
};

static void on_log(const rd_kafka_t *kafka, int level, const char *facility, const char *text)
{
	struct gate *gate = rd_kafka_opaque(kafka);

	(void)level;
	(void)facility;
	(void)text;
	pthread_mutex_lock(&gate->lock);
	gate->is_reached = true;
	pthread_cond_broadcast(&gate->changed);
	while (!gate->is_open)
		pthread_cond_wait(&gate->changed, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

static rd_kafka_t *client_new(struct gate *gate)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[256];

	rd_kafka_conf_set_opaque(conf, gate);
	if (gate)
		rd_kafka_conf_set_log_cb(conf, on_log);
	rd_kafka_conf_set(conf, "bootstrap.servers", "127.0.0.1:1", why, sizeof(why));

	rd_kafka_t *kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));

	assert_non_null(kafka);
	return kafka;
}

static void frees_a_client(void **state)
{
	(void)state;
	kafka_close(client_new(NULL), 0);
	assert_int_equal(kafka_clients_left(), 0);
}

static void a_client_that_hangs_is_left_and_freed_late(void **state)
{
	struct gate gate = { .lock = PTHREAD_MUTEX_INITIALIZER,
			     .changed = PTHREAD_COND_INITIALIZER };
	rd_kafka_t *kafka = client_new(&gate);

	(void)state;
	pthread_mutex_lock(&gate.lock);
	while (!gate.is_reached) /* the refused connection is logged */
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);

	uint64_t start_ns = clock_monotonic_ns();

	kafka_close(kafka, 0);
	assert_true(clock_monotonic_ns() - start_ns >= KAFKA_CLOSE_MS * NS_PER_MS);
	assert_int_equal(kafka_clients_left(), 1);

	pthread_mutex_lock(&gate.lock);
	gate.is_open = true;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
	while (kafka_clients_left())
		clock_sleep_ms(10);
}

RUN_TESTS(TEST(frees_a_client), TEST(a_client_that_hangs_is_left_and_freed_late))
