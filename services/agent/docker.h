// SPDX-License-Identifier: Apache-2.0
/*
 * docker - hears from Docker what containers there are, and what they are called.
 *
 * A thread reads the list of containers once and then the stream of events, over the engine's
 * socket (Podman's speaks the same); when that ends it begins anew after a pause. A container is
 * told of before it is started, so its first sample is named. Whatever the other side answers, or
 * does not, nobody waits for it but this thread.
 */
#pragma once

#include "base/stop.h"
#include "chassis/metrics.h"
#include "containers.h"

#include <stdatomic.h>

struct docker {
	struct containers containers; /* for containers_find(): the agent's thread */
	bool running;
	/* private */
	const char *socket;
	struct stop stop;
	pthread_t thread;
	atomic_bool is_first_list_over; /* the first list is there, or is not to be had */
	bool has_failed;                /* was said */
};

/* `socket` empty: not running. Waits for the first list a moment, so that samples begin named. */
bool docker_start(struct docker *docker, const char *socket, struct err *err) MUST_CHECK;
void docker_stop(struct docker *docker);

enum { DOCKER_METRICS = 3 };
extern struct metric *const docker_metrics[DOCKER_METRICS];
