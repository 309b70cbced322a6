// SPDX-License-Identifier: Apache-2.0
/*
 * containers - the names of the host's containers, by container id.
 *
 * The thread of "agent/labels/docker.h" writes, the agent thread reads; a lock protects the table
 * and is never held across I/O. A removed container is kept for a while, for samples of its last
 * moments: up to CONTAINERS_GONE_MAX removed containers; the first removed is evicted first.
 */
#pragma once

#include "agent/agent_limits.h"
#include "agent/labels/docker_object_internal.h"
#include "base/index.h"

#include <pthread.h>

struct container_names {
	char name[CONTAINER_TEXT_MAX], image[CONTAINER_TEXT_MAX],
		compose_service[CONTAINER_TEXT_MAX], compose_project[CONTAINER_TEXT_MAX];
};

struct containers {
	/* private */
	pthread_mutex_t lock;
	INDEX(struct container *) by_id;
	size_t gone_count;
	uint64_t list, gone; /* sequence numbers: of the current list, of the last removal */
};

/* An empty table. The struct must not move until containers_done(). */
void containers_init(struct containers *containers);

/* Frees the memory. No other thread may use the table any more. */
void containers_done(struct containers *containers);

/*
 * Adds or updates a container. Copies the texts, truncated to CONTAINER_TEXT_MAX. container->id
 * must have 64 characters. False: CONTAINERS_MAX containers exist already; the new one is not kept.
 */
bool containers_put(struct containers *containers, const struct docker_container *container);

/* Begins a new list: the caller puts all its containers, then calls containers_list_end(). If the
 * list is incomplete, the caller does not call containers_list_end(). */
void containers_list_begin(struct containers *containers);

/* Marks as removed each container that was not put since containers_list_begin(). */
void containers_list_end(struct containers *containers);

/* Copies the names, NUL-terminated. False, with *ret_names unchanged: the container is unknown. */
bool containers_find(struct containers *containers, str id, struct container_names *ret_names);

/* Containers that are not removed. */
size_t containers_count(struct containers *containers);
