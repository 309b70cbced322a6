// SPDX-License-Identifier: Apache-2.0
/*
 * containers - what the host's containers are called, by their ids.
 *
 * Told by docker's thread, asked by the agent's: a lock that nobody holds while it waits for
 * anything. One that is gone is kept a while, for samples of its last moments.
 */
#pragma once

#include "agent_limits.h"
#include "docker_object.h"

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
	uint64_t list, gone; /* numbers of the list, of who went last */
};

void containers_init(struct containers *containers);
void containers_done(struct containers *containers);

/* False: there are too many already. */
bool containers_put(struct containers *containers, const struct docker_container *container);

/* A list of all that are there begins; at its end who was not in it is gone. */
void containers_list_begin(struct containers *containers);
void containers_list_end(struct containers *containers);

/* A copy of its names, ended by 0. False: not known. */
bool containers_find(struct containers *containers, str id, struct container_names *ret_names);

size_t containers_count(struct containers *containers);
