// SPDX-License-Identifier: Apache-2.0
/*
 * docker - reads the existing containers and their names from the Docker engine.
 *
 * A thread reads the list of containers once, and then the stream of events, from the engine's Unix
 * socket (Podman's API is the same). When the stream ends or fails, the thread reads the list again
 * after a pause. Docker reports a container before it starts, so its first sample already has its
 * name. Only this thread waits for Docker; a slow or failing Docker delays no other thread.
 */
#pragma once

#include "agent/labels/containers.h"
#include "base/cancel.h"
#include "server/metrics/metrics.h"

#include <stdatomic.h>

struct docker {
	struct containers containers; /* for containers_find(), until docker_stop() */
	bool running;
	/* private */
	const char *socket;
	struct cancel cancel;
	pthread_t thread;
	atomic_bool is_first_list_over; /* the first list was read, or failed */
	bool has_failed;                /* logged already */
};

/*
 * Starts the thread. `socket`, the path, is borrowed until docker_stop(); empty: Docker is not
 * used, and no thread runs. The struct must not move until docker_stop(). Waits up to 2 seconds for
 * the first list, so that the first samples have container names. If Docker cannot be reached, the
 * thread logs it and tries again; the result is true. ERR_IO: the thread cannot be started; the
 * caller still calls docker_stop().
 */
bool docker_start(struct docker *docker, const char *socket, struct err *err) MUST_CHECK;

/* Stops the thread, waits for its end, and frees `containers`. Called after docker_start() only,
 * whether it succeeded or not. */
void docker_stop(struct docker *docker);

extern struct metric *const docker_metrics[];
