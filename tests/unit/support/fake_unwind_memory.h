// SPDX-License-Identifier: Apache-2.0
/*
 * fake_unwind_memory - a struct unwind_memory in the test's own memory.
 */
#pragma once

#include "agent/unwind/unwind_store_internal.h"

#include <string.h>

enum { FAKE_SEGMENTS = 64, FAKE_PROCESSES = 8 };

struct fake_unwind_memory {
	uint8_t *segments[FAKE_SEGMENTS]; /* NULL: not allocated */
	size_t segment_count, mapped, most_mapped;
	bool fails; /* no segment can be added */
	struct {
		uint32_t tgid; /* 0: unused */
		struct unwind_process value;
	} processes[FAKE_PROCESSES];
	size_t puts, drops;
};

enum { FAKE_SEGMENT_BYTES = UNWIND_SEGMENT_PAGES * UNWIND_PAGE_BYTES };

static bool fake_add(void *self, uint32_t segment, struct err *err)
{
	struct fake_unwind_memory *fake = self;

	if (fake->fails || segment >= FAKE_SEGMENTS || fake->segments[segment])
		return err_set(err, ERR_LIMIT, "no segment");
	fake->segments[segment] = calloc(1, FAKE_SEGMENT_BYTES);
	fake->segment_count++;
	return true;
}

static void fake_drop(void *self, uint32_t segment)
{
	struct fake_unwind_memory *fake = self;

	free(fake->segments[segment]);
	fake->segments[segment] = NULL;
	fake->segment_count--;
}

static uint8_t *fake_map(void *self, uint32_t segment)
{
	struct fake_unwind_memory *fake = self;

	if (++fake->mapped > fake->most_mapped)
		fake->most_mapped = fake->mapped;
	return fake->segments[segment];
}

static void fake_unmap(void *self, uint8_t *pages)
{
	struct fake_unwind_memory *fake = self;

	(void)pages;
	fake->mapped--;
}

static bool fake_put(void *self, uint32_t tgid, const struct unwind_process *process)
{
	struct fake_unwind_memory *fake = self;
	size_t free_at = FAKE_PROCESSES;

	fake->puts++;
	for (size_t i = 0; i < FAKE_PROCESSES; i++) {
		if (fake->processes[i].tgid == tgid) {
			free_at = i;
			break;
		}
		if (!fake->processes[i].tgid && free_at == FAKE_PROCESSES)
			free_at = i;
	}
	if (free_at == FAKE_PROCESSES)
		return false;
	fake->processes[free_at].tgid = tgid;
	fake->processes[free_at].value = *process;
	return true;
}

static void fake_drop_process(void *self, uint32_t tgid)
{
	struct fake_unwind_memory *fake = self;

	fake->drops++;
	for (size_t i = 0; i < FAKE_PROCESSES; i++)
		if (fake->processes[i].tgid == tgid)
			memset(&fake->processes[i], 0, sizeof(fake->processes[i]));
}

static inline const struct unwind_process *fake_process(const struct fake_unwind_memory *fake,
							uint32_t tgid)
{
	for (size_t i = 0; i < FAKE_PROCESSES; i++)
		if (fake->processes[i].tgid == tgid)
			return &fake->processes[i].value;
	return NULL;
}

/* The bytes that a program would read there. */
static inline const void *fake_at(const struct fake_unwind_memory *fake, uint64_t place)
{
	uint8_t *segment = fake->segments[place / FAKE_SEGMENT_BYTES];

	return segment ? segment + place % FAKE_SEGMENT_BYTES : NULL;
}

static inline struct unwind_memory fake_unwind_memory(struct fake_unwind_memory *fake)
{
	memset(fake, 0, sizeof(*fake));
	return (struct unwind_memory){ .add = fake_add,
				       .drop = fake_drop,
				       .map = fake_map,
				       .unmap = fake_unmap,
				       .put_process = fake_put,
				       .drop_process = fake_drop_process,
				       .self = fake };
}
