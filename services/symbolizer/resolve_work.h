// SPDX-License-Identifier: Apache-2.0
/*
 * resolve_work - a request while it is answered, as the files of resolve share it.
 */
#pragma once

#include "answers.h"
#include "name.h"
#include "resolve.h"

/* A build id of the request. */
struct part {
	const struct symbolize_binary *asked;
	struct symbolized_binary *answer;
	struct build_id id;
	uint64_t generation;
	bool is_done, has_waited;
	/* Its table is not here, nor begun: Redis may know. */
	bool is_cold, has_begun, has_lock;
	uint64_t wait_until_ns; /* for the replica that has the lock; 0: for none */
};

/* A request while it is answered. */
struct work {
	const struct resolver *resolver;
	const struct stop *gone;
	struct arena *arena;
	struct namer namer;
	struct part *parts;
	size_t count;
	uint64_t deadline_ns;
};

/* Where the answer came from. */
enum found {
	FOUND_WARM,
	FOUND_NEGATIVE,
	FOUND_SHARED,
	FOUND_BUILT,
	FOUND_OLDER,
	FOUND_LATE,
	FOUND_COUNT
};

void resolve_begin(const struct work *work, struct part *part);
void resolve_answer(struct part *part, struct symbolized_location *locations, uint64_t generation);
void resolve_answer_reason(const struct work *work, struct part *part, enum name_reason reason);

/* It is done. */
void resolve_count(struct part *part, enum found found);

/* The replicas that wait for it may go on. */
void resolve_unlock(const struct work *work, struct part *part);
