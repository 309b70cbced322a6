// SPDX-License-Identifier: Apache-2.0
/*
 * executable - the files that code is run from: path, build id and where their segments lie.
 *
 * A cache, because the same libc is mapped a thousand times a minute. A file is known by its build
 * id, or by device, inode, times and size where nobody told one; it is opened when it is first
 * mapped, through the process that maps it, since a moment later that process may be gone. Mappings
 * hold references; what nobody maps stays until room is needed, the least recently mapped first.
 * Agent thread only.
 */
#pragma once

#include "base/str.h"
#include "object/elf_file.h"
#include "unwind_fields.h"

enum { BUILD_ID_TEXT_MAX = BUILD_ID_BYTES_MAX * 2 + 1 };

/* A file as it was when it was opened. */
struct executable_key {
	uint64_t device, inode, modified_ns, size; /* all 0: known by build id alone */
};

struct executable {
	const char *path;
	char build_id[BUILD_ID_TEXT_MAX]; /* hex, "htlhash:...", or empty: the file was never read
					   */
	const struct elf_segment *segments;
	size_t segment_count; /* 0: not read */
	uint64_t sampled_ns;  /* the last sample with a frame in it; collect.c writes it */
	uint32_t references;
	struct unwind_table unwind; /* of unwind_tables.c */

	/* private */
	uint32_t offered; /* a bit for each sink that took it */
	uint64_t used, tried_ms;
	struct executable_key key;
	struct executable *next_of_id, *next_of_file;
};

enum { EXECUTABLE_BUCKETS = 1024 };

struct executable_claim;

enum executable_sink_of { EXECUTABLE_SINK_UPLOAD, EXECUTABLE_SINK_UNWIND, EXECUTABLE_SINK_COUNT };

/* Who is shown each file once, while it is open. What is NULL is always so, or nothing. */
struct executable_sink {
	bool (*has_room)(void *self);
	bool (*has_plenty)(void *self); /* much room: what was left out may be shown again */
	/* False: not now; when it is mapped the next time. The descriptor stays the cache's. */
	bool (*offer)(void *self, struct executable *executable,
		      const struct executable_claim *claim, int fd);
	void (*forget)(void *self, struct executable *executable); /* it leaves the cache */
	void *self;
};

struct executable_cache {
	size_t count;
	uint64_t opened, unreadable, over_limit; /* cumulative */
	/* private */
	struct executable *by_id[EXECUTABLE_BUCKETS], *by_file[EXECUTABLE_BUCKETS];
	struct executable *vdso;
	struct executable_sink sinks[EXECUTABLE_SINK_COUNT];
	bool has_left_out; /* a sink had no room for some */
	uint64_t clock;
};

/* What a process maps, as the side band or /proc/PID/maps tell it. */
struct executable_claim {
	uint32_t pid, parent_pid; /* in whose root the path is */
	uint64_t start, end;      /* of the mapping: /proc/PID/map_files; 0: not known */
	str path;
	str build_id; /* bytes; empty: not told */
	uint64_t inode;
	uint32_t device_major, device_minor;
};

void executable_cache_init(struct executable_cache *cache);

/* Before the first one is taken; the vdso is offered at once. */
void executable_cache_set_sink(struct executable_cache *cache, enum executable_sink_of of,
			       const struct executable_sink *sink);

/* Show it to this sink once more, when it is mapped the next time. */
static inline void executable_offer_again(struct executable *executable, enum executable_sink_of of)
{
	executable->offered &= ~(1U << of);
}

/* By its build id as text, without a reference; NULL: it is not there (any more). */
struct executable *executable_cache_find(struct executable_cache *cache, str build_id);

void executable_cache_done(struct executable_cache *cache);

/*
 * The executable, with a reference that executable_give() takes back; NULL for what is no file:
 * anonymous memory, or more files than the cache may hold.
 */
struct executable *executable_take(struct executable_cache *cache,
				   const struct executable_claim *claim);

/* Whether files were left out for which there would be room now: read /proc. Then it is forgotten.
 */
bool executable_cache_left_out(struct executable_cache *cache);

static inline struct executable *executable_share(struct executable *executable)
{
	if (executable)
		executable->references++;
	return executable;
}

static inline void executable_give(struct executable *executable)
{
	if (executable)
		executable->references--;
}
