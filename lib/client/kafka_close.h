// SPDX-License-Identifier: Apache-2.0
/*
 * kafka_close - frees a client of librdkafka, with a deadline.
 *
 * librdkafka 2.0.2 never returns from its destroy function if a partition that the client read was
 * removed: a broker's thread waits for a reference to that partition for ever. So the function runs
 * in a thread of its own, and a client that is not freed in time is left to it. A client that was
 * left has ended its membership of a group, if it was closed before, and calls no function of ours
 * but the one for its log. It keeps its memory and a few idle threads until the process ends.
 */
#pragma once

#include "base/base.h"

struct rd_kafka_s;

/*
 * Frees the client; `flags` are those of rd_kafka_destroy_flags(). Returns when the client is
 * freed, or after KAFKA_CLOSE_MS: then a warning is logged, and kafka_clients_left() is one higher
 * until the client is freed after all. The caller must not use the client again. Any thread.
 */
void kafka_close(struct rd_kafka_s *kafka, int flags);

/* Clients that were left and are not freed. Any thread. */
uint64_t kafka_clients_left(void);
