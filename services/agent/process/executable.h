// SPDX-License-Identifier: Apache-2.0
/*
 * executable - a cache of the files that code runs from: path, build id and segments.
 *
 * A cache, because one libc is mapped a thousand times a minute. The key of a file is its build id;
 * or device, inode, modification time and size if it has none. The cache itself opens no file: it
 * requests each file from its source when the file is first mapped, since a moment later the
 * process that maps it may be gone, and gets the content with executable_cache_receive(). Until
 * then executable_is_pending() is true. Mappings hold references, which are not atomic. A file
 * without references stays until the cache holds EXECUTABLES_MAX files; then the least recently
 * mapped file without references is evicted. Agent thread only.
 */
#pragma once

#include "agent/process/unwind_fields.h"
#include "base/index.h"
#include "base/str.h"
#include "elf/elf_file.h"

enum { BUILD_ID_TEXT_MAX = BUILD_ID_BYTES_MAX * 2 + 1 };

/* A file as it was when it was opened. */
struct executable_key {
	uint64_t device, inode, modified_ns, size; /* all 0: the key is the build id alone */
};

struct executable {
	/* Strings and segments belong to the cache: valid while the caller has a reference. */
	const char *path;
	char build_id[BUILD_ID_TEXT_MAX]; /* hex, "htlhash:...", or empty: the file was never read
					   */
	const struct elf_segment *segments;
	size_t segment_count; /* 0: not read */
	uint64_t sampled_ns;  /* CLOCK_MONOTONIC of the last sample with a frame in the file */
	uint32_t references;
	struct unwind_table unwind; /* written by unwind_tables.c */
	bool is_requested;          /* it is being read; the cache has a reference meanwhile */

	/* private */
	struct executable *same_as; /* with a reference: it was found to be this file; else NULL */
	uint32_t offered;           /* a bit for each sink that accepted it */
	uint64_t used, failed_ms, read_ms;
	struct executable_key key;   /* as read; all 0: not read */
	struct executable_key claim; /* device and inode as mapped, without a build id */
};

/* A mapping may refer to a file by several claims that turn out to be one file: this is the file.
 * NULL is accepted. */
static inline struct executable *executable_of(struct executable *executable)
{
	return executable && executable->same_as ? executable->same_as : executable;
}

/* True if the file is being read: its build id and segments may follow. */
static inline bool executable_is_pending(const struct executable *executable)
{
	return executable->is_requested && !executable->segment_count && !executable->same_as;
}

enum executable_end {
	EXECUTABLE_READ,
	EXECUTABLE_NOT_FOUND,
	EXECUTABLE_UNREADABLE, /* it cannot be opened or read */
	EXECUTABLE_TIMED_OUT,  /* its file system hangs */
	EXECUTABLE_SKIPPED,    /* its file system hung before, or too many files wait */
	EXECUTABLE_CRASHED,    /* the process that read it died */
	EXECUTABLE_NO_PROGRAM, /* the program that reads it is missing */
	EXECUTABLE_END_COUNT
};

/* The response of a source. Heap memory, freed by executable_reading_free(). */
struct executable_reading {
	struct executable *executable; /* as requested */
	enum executable_end end;
	/* after EXECUTABLE_READ: */
	struct executable_key key;
	bool is_elf;
	char build_id[BUILD_ID_TEXT_MAX];
	struct elf_segment *segments; /* heap memory, the reading's */
	size_t segment_count;
	char *path;   /* as the process sees it; heap memory, the reading's */
	int fd, root; /* the file; the root directory of its process, -1: the agent's own */
};

void executable_reading_free(struct executable_reading *reading);

struct executable_claim;

/* Reads files for the cache, and may run in other threads: both functions return at once. */
struct executable_source {
	/* Copies the claim. False: too many requests wait. `executable` is only passed back. */
	bool (*request)(void *self, struct executable *executable,
			const struct executable_claim *claim);
	/* The next response, which the caller owns then. False: there is none. */
	bool (*receive)(void *self, struct executable_reading **ret_reading);
	void *self;
};

enum executable_sink_of { EXECUTABLE_SINK_UPLOAD, EXECUTABLE_SINK_UNWIND, EXECUTABLE_SINK_COUNT };

struct executable_file {
	const char *path; /* as the process sees it */
	int fd, root;     /* the file; the root directory of its process, -1: the agent's own */
};

/* A sink receives each file until it accepts the file, while the file is open. offer NULL: the sink
 * is unused. has_room or has_plenty NULL: the sink always has room. forget NULL: the sink needs no
 * notice. */
struct executable_sink {
	bool (*has_room)(void *self);
	/* There is plenty of room: files that found no room may be offered again. */
	bool (*has_plenty)(void *self);
	/*
	 * False: not accepted; the file is offered again when it is mapped next. The descriptors
	 * stay the cache's: the sink duplicates them. `executable` is valid until forget(), `file`
	 * during the call.
	 */
	bool (*offer)(void *self, struct executable *executable,
		      const struct executable_file *file);
	void (*forget)(void *self, struct executable *executable); /* the file is being evicted */
	void *self;
};

struct executable_cache {
	INDEX(struct executable *) by_id;        /* read only its len */
	uint64_t opened, unreadable, over_limit; /* cumulative */
	size_t requested;                        /* files that are being read */
	/* private */
	INDEX(struct executable *) by_file;  /* of a file without build id: by its key */
	INDEX(struct executable *) by_claim; /* mapped without a build id: by device and inode */
	struct executable *vdso;
	struct executable_source source;
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

/* Reads the vdso of the agent. Cannot fail. The caller closes with executable_cache_done(). */
void executable_cache_init(struct executable_cache *cache);

/* Copies *sink; `self` must outlive the cache. Called before the first executable_acquire(). The
 * vdso is offered at once. */
void executable_cache_set_sink(struct executable_cache *cache, enum executable_sink_of of,
			       const struct executable_sink *sink);

/* Copies *source; `self` must outlive the cache. Without a source no file is read. */
void executable_cache_set_source(struct executable_cache *cache,
				 const struct executable_source *source);

/* Takes over what the source has read: sets build ids and segments, and offers the files to the
 * sinks. Called in each round. True if an executable changed. */
bool executable_cache_receive(struct executable_cache *cache);

/* Requests the file once more, for a sink that needs it. True if it is being read now. False if it
 * was requested less than EXECUTABLE_RETRY_MS ago and could not be read, or too many files wait. */
bool executable_cache_request(struct executable_cache *cache, struct executable *executable,
			      const struct executable_claim *claim);

/* Lets the cache offer the file to this sink once more, when the file is mapped next. */
static inline void executable_offer_again(struct executable *executable, enum executable_sink_of of)
{
	executable->offered &= ~(1U << of);
}

/* Finds a file by its build id as text. Adds no reference: the result is valid until the next
 * executable_acquire(). NULL: it is not in the cache. */
struct executable *executable_cache_find(struct executable_cache *cache, str build_id);

/* Frees all files, after a call of each sink's forget(). References become invalid: release them
 * before. Accepts a zeroed struct. */
void executable_cache_done(struct executable_cache *cache);

/*
 * Returns the executable of a mapping, with a reference that the caller releases with
 * executable_release(). Requests the file from the source if necessary. A file that was not read
 * has its path, the build id of the claim, and segment_count 0. NULL: the path is no file
 * (anonymous memory), or the cache is full of referenced files. Borrows `claim` during the call.
 */
struct executable *executable_acquire(struct executable_cache *cache,
				      const struct executable_claim *claim);

/* True once after a sink had no room for some files, as soon as all sinks have plenty of room: the
 * caller should scan /proc, so that the cache offers the files again. */
bool executable_cache_left_out(struct executable_cache *cache);

/* Adds a reference. NULL is accepted. */
static inline struct executable *executable_reference(struct executable *executable)
{
	if (executable)
		executable->references++;
	return executable;
}

/* Removes a reference; the file stays in the cache. NULL is accepted. */
static inline void executable_release(struct executable *executable)
{
	if (executable)
		executable->references--;
}
