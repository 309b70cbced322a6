// SPDX-License-Identifier: Apache-2.0
/*
 * executable - a cache of the files that code runs from: path, build id and segments.
 *
 * A cache, because one libc is mapped a thousand times a minute. The cache itself opens no file: it
 * requests each file from its source when the file is first mapped, since a moment later the
 * process that maps it may be gone, and gets the content with executable_cache_receive(). Until
 * then executable_is_pending() is true. Mappings hold references, which are not atomic. A file
 * without references stays until the cache is full. Agent thread only.
 *
 * Every user can map thousands of files. So the places of the cache, and those among the files that
 * are being read, are shared (shares.h) among the owners of the processes that mapped the files
 * first. An owner that has its share evicts a file without references: of the owner that holds
 * most, the least recently mapped. If that is not possible, the file is not kept.
 *
 * Every user can write a file with the build id of another. So the key of a file is its build id
 * only if it is trusted: only root can write it. The key of any other file is its inode, so it is
 * used for no mapping of another file. Then a mapping for which the kernel reports the build id of
 * such a file is not known to be of that file: it has an executable of its own, which is located
 * when the process is sampled first, and then refers to the file that it is ("same_as").
 */
#pragma once

#include "agent/process/owner.h"
#include "agent/process/unwind_fields.h"
#include "base/index.h"
#include "base/shares.h"
#include "base/str.h"
#include "elf/elf_file.h"
#include "elf/htlhash.h"

enum { BUILD_ID_TEXT_MAX = BUILD_ID_BYTES_MAX * 2 + 1 };

/* A file as it was when it was opened. changed_ns: when its content or attributes last changed,
 * which its owner cannot set. */
struct executable_key {
	uint64_t device, inode, changed_ns, size; /* all 0: unknown */
};

struct executable {
	/* Strings and segments belong to the cache: valid while the caller has a reference. */
	const char *path; /* as the first process that mapped it under this path saw it */
	/* By what its frames are known: as own_id; but if another file with other content is known
	 * by that already, "htlhash:...". Empty: unknown. */
	char build_id[BUILD_ID_TEXT_MAX];
	/* What the file says, in hex, or "htlhash:..." if it has no build id. Before it is read:
	 * what the kernel reported. Empty: unknown. */
	char own_id[BUILD_ID_TEXT_MAX];
	const struct elf_segment *segments;
	size_t segment_count; /* 0: not read */
	uint64_t sampled_ns;  /* CLOCK_MONOTONIC of the last sample with a frame in the file */
	uint64_t number;      /* no other executable of the agent's life has it */
	uint32_t references;
	struct share_owner owner;   /* of the process that mapped it first */
	struct unwind_table unwind; /* written by unwind_tables.c */
	bool is_trusted;            /* it was read, and only root can write it */
	bool is_requested;          /* it is being read; the cache has a reference meanwhile */
	bool is_unconfirmed;        /* it has to be located, with executable_cache_request() */

	/* private */
	struct executable_cache *cache; /* of one that is freed when it is released; else NULL */
	struct executable *same_as; /* with a reference: it was found to be this file; else NULL */
	uint32_t offered;           /* a bit for each sink that accepted it */
	uint32_t places;            /* that it has of the owner's share */
	uint64_t used, failed_ms, read_ms;
	char hash[HTLHASH_HEX_LEN];  /* as read */
	struct executable_key key;   /* as read; all 0: not read */
	struct executable_key claim; /* device and inode as mapped, without a build id */
};

/* A mapping may refer to a file by several claims that turn out to be one file: this is the file.
 * The path of the mapping is that of its own executable. NULL is accepted. */
static inline struct executable *executable_of(struct executable *executable)
{
	return executable && executable->same_as ? executable->same_as : executable;
}

/* True if the file is being read: its build id and segments may follow. */
static inline bool executable_is_pending(const struct executable *executable)
{
	return (executable->is_requested || executable->is_unconfirmed) &&
	       !executable->segment_count && !executable->same_as;
}

enum executable_end {
	EXECUTABLE_READ,
	EXECUTABLE_LOCATED, /* as requested: only its key is known */
	EXECUTABLE_NOT_FOUND,
	EXECUTABLE_UNREADABLE, /* it cannot be opened or read */
	EXECUTABLE_TIMED_OUT,  /* its file system hangs */
	EXECUTABLE_SKIPPED,    /* its file system hung before, or too many files wait */
	EXECUTABLE_CRASHED,    /* the process that read it died */
	EXECUTABLE_NO_PROGRAM, /* the program that reads it is missing */
	EXECUTABLE_END_COUNT
};

/* A mapped file as sideband events or /proc/PID/maps describe it. */
struct executable_claim {
	uint32_t pid, parent_pid; /* the path is looked up in the root of either */
	uint64_t start, end;      /* of the mapping, for /proc/PID/map_files; 0: unknown */
	str path;
	str build_id; /* bytes; empty: unknown */
	uint64_t inode;
	uint32_t device_major, device_minor;
	struct process *process; /* whose owner it is; NULL: none. Not kept in a request */
};

/* The response of a source. Heap memory, freed by executable_reading_free(). */
struct executable_reading {
	struct executable *executable; /* as requested */
	struct executable_claim claim; /* as requested; its texts are the reading's heap memory */
	enum executable_end end;
	struct executable_key key; /* after EXECUTABLE_READ and EXECUTABLE_LOCATED */
	/* after EXECUTABLE_READ: */
	bool is_elf;
	bool is_trusted; /* only root can write the file */
	char build_id[BUILD_ID_TEXT_MAX];
	char hash[HTLHASH_HEX_LEN];
	struct elf_segment *segments; /* heap memory, the reading's */
	size_t segment_count;
	int fd, root; /* the file; the root directory of its process, -1: the agent's own */
};

void executable_reading_free(struct executable_reading *reading);

/* Reads files for the cache, and may run in other threads: both functions return at once. */
struct executable_source {
	/* Copies the claim. False: too many requests wait. `executable` is only passed back.
	 * only_locate: the response is EXECUTABLE_LOCATED if the file is found. */
	bool (*request)(void *self, struct executable *executable,
			const struct executable_claim *claim, bool only_locate);
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
 * is unused. has_room or has_plenty NULL: the sink always has room. forget or is_same NULL: the
 * sink needs no notice. */
struct executable_sink {
	bool (*has_room)(void *self, const struct executable *executable);
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
	/* The file that was requested as `executable` turned out to be `known`, which is used from
	 * now on. The file was offered before, if it was read. */
	void (*is_same)(void *self, struct executable *executable, struct executable *known);
	void *self;
};

struct executable_cache {
	INDEX(struct executable *) by_id; /* read only its len */
	uint64_t opened, unreadable;      /* cumulative */
	struct shares places;             /* of executables; read only `held` and `refused` */
	struct shares requests;           /* of files that are being read; likewise */
	uint64_t
		contradictions; /* cumulative: files with the build id of a file of other content */
	size_t unconfirmed;     /* executables with is_unconfirmed */
	/* private */
	INDEX(struct executable *) by_file;  /* of a file that was read: by its key */
	INDEX(struct executable *) by_claim; /* mapped without a build id: by device and inode */
	struct executable *vdso;
	struct executable_source source;
	struct executable_sink sinks[EXECUTABLE_SINK_COUNT];
	bool has_left_out; /* a sink had no room for at least one file */
	uint64_t clock, numbers;
	uint64_t exhausted; /* in this round, no file can be evicted for an owner that holds this
			       many places or more */
};

/* Reads the vdso of the agent. Cannot fail. The caller closes with executable_cache_done(). */
void executable_cache_init(struct executable_cache *cache);

/* Copies *sink; `self` must outlive the cache. Called before the first executable_acquire(). The
 * vdso is offered at once. */
void executable_cache_set_sink(struct executable_cache *cache, enum executable_sink_of of,
			       const struct executable_sink *sink);

/* True if the path of a mapping is that of a file; else it is anonymous memory, or the vdso. */
static inline bool executable_is_file(str path)
{
	return str_starts_with(path, STR("/")) && !str_starts_with(path, STR("//"));
}

/* Copies *source; `self` must outlive the cache. Without a source no file is read. */
void executable_cache_set_source(struct executable_cache *cache,
				 const struct executable_source *source);

/* Takes over what the source has read: sets build ids and segments, and offers the files to the
 * sinks. Called in each round. True if an executable changed. */
bool executable_cache_receive(struct executable_cache *cache);

/* The path without " (deleted)", which the kernel appends if the file was deleted or replaced. */
static inline str executable_path_of(str mapped)
{
	if (str_ends_with(mapped, STR(" (deleted)")))
		mapped.len -= sizeof(" (deleted)") - 1;
	return mapped;
}

/* A claim with the path and the build id of a file, to request it; the caller sets the process and
 * the mapping. The claim borrows `build_id` and the path. */
struct executable_claim executable_claim_of(const struct executable *executable,
					    char build_id[BUILD_ID_BYTES_MAX]);

/* Requests a file that is unconfirmed, or once more for a sink that needs it. True if it is being
 * read now. False if it was requested less than EXECUTABLE_RETRY_MS ago and could not be read, or
 * too many files wait. */
bool executable_cache_request(struct executable_cache *cache, struct executable *executable,
			      const struct executable_claim *claim);

/* Lets the cache offer the file to this sink once more, when the file is mapped next. */
static inline void executable_offer_again(struct executable *executable, enum executable_sink_of of)
{
	executable->offered &= ~(1U << of);
}

/* Finds a file by its own_id and its number. Adds no reference: the result is valid until the next
 * executable_acquire(). NULL: it is not in the cache. */
struct executable *executable_cache_find(struct executable_cache *cache, str own_id,
					 uint64_t number);

/* Frees all files, after a call of each sink's forget(). References become invalid: release them
 * before. Accepts a zeroed struct. */
void executable_cache_done(struct executable_cache *cache);

/*
 * Returns the executable of a mapping, with a reference that the caller releases with
 * executable_release(). Requests the file from the source if necessary. A file that was not read
 * has its path, the build id of the claim, and segment_count 0. NULL: the path is no file
 * (anonymous memory), or the owner of the process has its share of the cache, and all its files are
 * referenced; that is counted by owner. Borrows `claim` during the call.
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

/* private */
void executable_free_unread(struct executable *executable);

/* Removes a reference; a file that was read stays in the cache. NULL is accepted. */
static inline void executable_release(struct executable *executable)
{
	if (executable && !--executable->references && executable->cache)
		executable_free_unread(executable);
}
