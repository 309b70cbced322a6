// SPDX-License-Identifier: Apache-2.0
/*
 * containers - the names of the host's containers, by container id.
 *
 * Written by docker's thread, read by the agent thread, under a lock that is never held across a
 * wait. A removed container is kept for a while, for samples of its last moments: up to
 * CONTAINERS_GONE_MAX of them, the first removed is evicted first.
 */
#pragma once

#include "agent/agent_limits.h"
#include "agent/labels/docker_object_internal.h"

#include <pthread.h>

struct container_names {
	char name[CONTAINER_TEXT_MAX], image[CONTAINER_TEXT_MAX],
		compose_service[CONTAINER_TEXT_MAX], compose_project[CONTAINER_TEXT_MAX];
};

enum { CONTAINERS_BUCKETS = 1024 };

struct containers {
	/* private */
	pthread_mutex_t lock;
	struct container *buckets[CONTAINERS_BUCKETS];
	size_t count, gone_count;
	uint64_t list, gone; /* sequence numbers: of the current list, of the last removal */
};

void containers_init(struct containers *containers);
void containers_done(struct containers *containers);

/* Add or update a container. False: CONTAINERS_MAX containers exist already. */
bool containers_put(struct containers *containers, const struct docker_container *container);

/*
 * Put all containers of a new list between these two calls. A container that was not put is marked
 * as removed at the end.
 */
void containers_list_begin(struct containers *containers);
void containers_list_end(struct containers *containers);

/* A copy of the names, NUL-terminated. False: the container is unknown. */
bool containers_find(struct containers *containers, str id, struct container_names *ret_names);

/* Containers that are not removed. */
size_t containers_count(struct containers *containers);
