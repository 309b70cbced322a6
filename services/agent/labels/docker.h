// SPDX-License-Identifier: Apache-2.0
/*
 * docker - learns from the Docker engine which containers exist, and their names.
 *
 * A thread reads the list of containers once, and then the stream of events, from the engine's Unix
 * socket (Podman's API is the same). When the stream ends, it starts again after a pause. Docker
 * reports a container before it starts, so its first sample already has its name. Only this thread
 * waits for Docker; a slow or failing Docker delays no other thread.
 */
#pragma once

#include "agent/labels/containers.h"
#include "base/cancel.h"
#include "server/metrics/metrics.h"

#include <stdatomic.h>

struct docker {
	struct containers containers; /* for containers_find() by the agent thread */
	bool running;
	/* private */
	const char *socket;
	struct cancel cancel;
	pthread_t thread;
	atomic_bool is_first_list_over; /* the first list was read, or failed */
	bool has_failed;                /* logged already */
};

/*
 * `socket` is borrowed. Empty: Docker is not used. Waits up to 2 seconds for the first list, so
 * that the first samples have container names.
 */
bool docker_start(struct docker *docker, const char *socket, struct err *err) MUST_CHECK;
void docker_stop(struct docker *docker);

enum { DOCKER_METRICS = 3 };
extern struct metric *const docker_metrics[DOCKER_METRICS];
