// SPDX-License-Identifier: Apache-2.0
#include "client/kafka_close.h"

#include "base/clock.h"
#include "base/cond.h"
#include "base/heap.h"
#include "base/log.h"
#include "client/client_limits.h"

#include <librdkafka/rdkafka.h>

/* Shared by the caller and the thread; the one that is done with it last frees it. */
struct closing {
	rd_kafka_t *kafka;
	int flags;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool is_freed, is_left;
};

static _Atomic uint64_t clients_left;

uint64_t kafka_clients_left(void)
{
	return clients_left;
}

static void closing_free(struct closing *closing)
{
	pthread_cond_destroy(&closing->ended);
	pthread_mutex_destroy(&closing->lock);
	free(closing);
}

static void *run(void *self)
{
	struct closing *closing = self;
	bool is_left;

	rd_kafka_destroy_flags(closing->kafka, closing->flags);
	pthread_mutex_lock(&closing->lock);
	closing->is_freed = true;
	is_left = closing->is_left;
	pthread_cond_signal(&closing->ended);
	pthread_mutex_unlock(&closing->lock);
	if (is_left) {
		clients_left--;
		log_info("Kafka client closed, late");
		closing_free(closing);
	}
	return NULL;
}

static void leave(const char *name)
{
	clients_left++;
	log_warn("Kafka client not closed in time, left to its threads",
		 "client=%s after_ms=%d left=%ju", name, KAFKA_CLOSE_MS, (uintmax_t)clients_left);
}

void kafka_close(rd_kafka_t *kafka, int flags)
{
	uint64_t deadline_ns = clock_monotonic_ns() + KAFKA_CLOSE_MS * NS_PER_MS;
	struct closing *closing = heap_new(struct closing);
	char *name = heap_str(str_from(rd_kafka_name(kafka)));
	pthread_t thread;

	*closing = (struct closing){ .kafka = kafka, .flags = flags };
	pthread_mutex_init(&closing->lock, NULL);
	pthread_cond_init(&closing->ended, NULL);
	if (pthread_create(&thread, NULL, run, closing) != 0) {
		closing_free(closing);
		leave(name);
		free(name);
		return;
	}
	pthread_mutex_lock(&closing->lock);
	while (!closing->is_freed && cond_wait(&closing->ended, &closing->lock, deadline_ns))
		;
	closing->is_left = !closing->is_freed;
	if (closing->is_left) {
		leave(name);
		pthread_mutex_unlock(&closing->lock);
		pthread_detach(thread);
	} else {
		pthread_mutex_unlock(&closing->lock);
		pthread_join(thread, NULL);
		closing_free(closing);
	}
	free(name);
}
