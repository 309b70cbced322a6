// SPDX-License-Identifier: Apache-2.0
/*
 * executable - a cache of the files that code runs from: path, build id and segments.
 *
 * It is a cache because the same libc is mapped a thousand times a minute. The key of a file is its
 * build id; or device, inode, modification time and size if the mapping came without a build id. A
 * file is opened when it is first mapped, through the process that maps it, because a moment later
 * that process may be gone. Mappings hold references. A file without references stays until the
 * cache holds EXECUTABLES_MAX files; then the least recently mapped is evicted. Agent thread only.
 */
#pragma once

#include "agent/process/unwind_fields.h"
#include "base/str.h"
#include "elf/elf_file.h"

enum { BUILD_ID_TEXT_MAX = BUILD_ID_BYTES_MAX * 2 + 1 };

/* A file as it was when it was opened. */
struct executable_key {
	uint64_t device, inode, modified_ns, size; /* all 0: the key is the build id alone */
};

struct executable {
	const char *path;
	char build_id[BUILD_ID_TEXT_MAX]; /* hex, "htlhash:...", or empty: the file was never read
					   */
	const struct elf_segment *segments;
	size_t segment_count; /* 0: not read */
	uint64_t sampled_ns;  /* time of the last sample with a frame in it; set by collect.c */
	uint32_t references;
	struct unwind_table unwind; /* of unwind_tables.c */

	/* private */
	uint32_t offered; /* a bit for each sink that accepted it */
	uint64_t used, tried_ms;
	struct executable_key key;
	struct executable *next_of_id, *next_of_file;
};

enum { EXECUTABLE_BUCKETS = 1024 };

struct executable_claim;

enum executable_sink_of { EXECUTABLE_SINK_UPLOAD, EXECUTABLE_SINK_UNWIND, EXECUTABLE_SINK_COUNT };

/*
 * A sink is offered each file once, while the file is open. has_room and has_plenty NULL: always
 * true. offer NULL: the sink is unused. forget NULL: no notice.
 */
struct executable_sink {
	bool (*has_room)(void *self);
	/* There is much room: files that were left out may be offered again. */
	bool (*has_plenty)(void *self);
	/* False: not accepted; it is offered again at its next mapping. The descriptor stays the
	 * cache's. */
	bool (*offer)(void *self, struct executable *executable,
		      const struct executable_claim *claim, int fd);
	void (*forget)(void *self, struct executable *executable); /* it is being evicted */
	void *self;
};

struct executable_cache {
	size_t count;
	uint64_t opened, unreadable, over_limit; /* cumulative */
	/* private */
	struct executable *by_id[EXECUTABLE_BUCKETS], *by_file[EXECUTABLE_BUCKETS];
	struct executable *vdso;
	struct executable_sink sinks[EXECUTABLE_SINK_COUNT];
	bool has_left_out; /* a sink had no room for at least one file */
	uint64_t clock;
};

/* A mapped file as sideband events or /proc/PID/maps describe it. */
struct executable_claim {
	uint32_t pid, parent_pid; /* the path is looked up in the root of either */
	uint64_t start, end;      /* of the mapping, for /proc/PID/map_files; 0: unknown */
	str path;
	str build_id; /* bytes; empty: unknown */
	uint64_t inode;
	uint32_t device_major, device_minor;
};

void executable_cache_init(struct executable_cache *cache);

/* To be called before the first executable_acquire(). The vdso is offered at once. */
void executable_cache_set_sink(struct executable_cache *cache, enum executable_sink_of of,
			       const struct executable_sink *sink);

/* Offers the file to this sink once more, at its next mapping. */
static inline void executable_offer_again(struct executable *executable, enum executable_sink_of of)
{
	executable->offered &= ~(1U << of);
}

/* Finds a file by its build id as text. Adds no reference. NULL: it is not in the cache. */
struct executable *executable_cache_find(struct executable_cache *cache, str build_id);

void executable_cache_done(struct executable_cache *cache);

/*
 * The executable of a mapping, with a reference that the caller releases by executable_release().
 * NULL for anonymous memory, or if the cache is full of referenced files.
 */
struct executable *executable_acquire(struct executable_cache *cache,
				      const struct executable_claim *claim);

/*
 * True if a sink had no room for some files and all sinks have plenty of room now: the caller
 * should scan /proc, so that the files are offered again. Clears the note.
 */
bool executable_cache_left_out(struct executable_cache *cache);

static inline struct executable *executable_reference(struct executable *executable)
{
	if (executable)
		executable->references++;
	return executable;
}

static inline void executable_release(struct executable *executable)
{
	if (executable)
		executable->references--;
}
