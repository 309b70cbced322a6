// SPDX-License-Identifier: Apache-2.0
#include "agent/process/executable.h"

#include "agent/agent_limits.h"
#include "agent/process/executable_file.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/heap.h"

#include <sys/sysmacros.h>

static uint64_t hash_of_id(str build_id)
{
	return hash_seeded(build_id, hash_seed());
}

static uint64_t hash_of_file(const struct executable_key *key)
{
	return hash_seeded_u64(key->device * 31 + key->inode, hash_seed());
}

static struct executable *find_by_id(struct executable_cache *cache, str build_id)
{
	struct executable **found = build_id.len
					    ? index_find(&cache->by_id, hash_of_id(build_id), each,
							 str_eq(str_from(each->build_id), build_id))
					    : NULL;

	return found ? *found : NULL;
}

static struct executable *find_by_file(struct executable_cache *cache,
				       const struct executable_key *key)
{
	struct executable **found = key->inode
					    ? index_find(&cache->by_file, hash_of_file(key), each,
							 memcmp(&each->key, key, sizeof(*key)) == 0)
					    : NULL;

	return found ? *found : NULL;
}

/* Files without a build id are in the index too, to be evicted, and are spread by their address. */
static uint64_t place_of(const struct executable *executable)
{
	return executable->build_id[0] ? hash_of_id(str_from(executable->build_id))
				       : hash_seeded_u64((uintptr_t)executable, hash_seed());
}

static void link_id(struct executable_cache *cache, struct executable *executable)
{
	*index_at(NULL, &cache->by_id, place_of(executable), each, each == executable) = executable;
}

static void unlink_id(struct executable_cache *cache, struct executable *gone)
{
	index_remove(&cache->by_id, index_find(&cache->by_id, place_of(gone), each, each == gone));
}

static void unlink_file(struct executable_cache *cache, struct executable *gone)
{
	struct executable **found =
		index_find(&cache->by_file, hash_of_file(&gone->key), each, each == gone);

	if (found)
		index_remove(&cache->by_file, found);
}

/* Sets the file key of an executable. It may have had another: the file was a copy, or the same
 * file through another mount. If two executables have the same key, the later one is found. */
static void link_file(struct executable_cache *cache, struct executable *executable,
		      const struct executable_key *key)
{
	unlink_file(cache, executable);
	executable->key = *key;
	if (key->inode)
		*index_at(NULL, &cache->by_file, hash_of_file(key), each,
			  memcmp(&each->key, key, sizeof(*key)) == 0) = executable;
}

static void forget(struct executable_cache *cache, struct executable *executable)
{
	for (size_t i = 0; i < EXECUTABLE_SINK_COUNT; i++)
		if (cache->sinks[i].forget)
			cache->sinks[i].forget(cache->sinks[i].self, executable);
}

static void free_executable(struct executable *executable)
{
	free((void *)(uintptr_t)executable->path);
	free((void *)(uintptr_t)executable->segments);
	free(executable);
}

/* Evicts the least recently mapped file without references, if the cache is full. False: all files
 * are referenced. */
static bool make_room(struct executable_cache *cache)
{
	struct executable *oldest = NULL;

	if (cache->by_id.len < EXECUTABLES_MAX)
		return true;
	index_for_each(&cache->by_id, at)
		if (!(*at)->references && (!oldest || (*at)->used < oldest->used))
			oldest = *at;
	if (!oldest) {
		cache->over_limit++;
		return false;
	}
	unlink_id(cache, oldest);
	unlink_file(cache, oldest);
	forget(cache, oldest);
	free_executable(oldest);
	return true;
}

static struct executable *use(struct executable_cache *cache, struct executable *executable)
{
	executable->used = ++cache->clock;
	return executable_reference(executable);
}

static bool is_wanted_by(struct executable_cache *cache, size_t of,
			 const struct executable *executable)
{
	const struct executable_sink *sink = &cache->sinks[of];

	if (!sink->offer || executable->offered >> of & 1 || !executable->build_id[0])
		return false;
	if (!sink->has_room || sink->has_room(sink->self))
		return true;
	cache->has_left_out = true;
	return false;
}

static bool is_wanted(struct executable_cache *cache, const struct executable *executable)
{
	bool wanted = false;

	for (size_t i = 0; i < EXECUTABLE_SINK_COUNT; i++)
		wanted = is_wanted_by(cache, i, executable) || wanted;
	return wanted;
}

static void offer(struct executable_cache *cache, struct executable *executable,
		  const struct executable_claim *claim, int fd)
{
	for (size_t i = 0; i < EXECUTABLE_SINK_COUNT; i++)
		if (is_wanted_by(cache, i, executable) &&
		    cache->sinks[i].offer(cache->sinks[i].self, executable, claim, fd))
			executable->offered |= 1U << i;
}

static void set_build_id(struct executable *executable, str bytes)
{
	AUTO_ARENA arena = { 0 };
	str hex = str_hex(&arena, bytes);

	if (hex.len < sizeof(executable->build_id))
		memcpy(executable->build_id, hex.ptr, hex.len);
}

static struct executable_key key_of_stat(const struct stat *stat)
{
	return (struct executable_key){
		.device = stat->st_dev,
		.inode = stat->st_ino,
		.modified_ns = clock_timespec_ns(stat->st_mtim),
		.size = (uint64_t)stat->st_size,
	};
}

/* Adds a file that could not be opened, with its path and what the kernel reported. */
static struct executable *add_unread(struct executable_cache *cache,
				     const struct executable_claim *claim)
{
	struct executable_key key = { .device = makedev(claim->device_major, claim->device_minor),
				      .inode = claim->inode };
	struct executable wanted = { 0 };

	set_build_id(&wanted, claim->build_id);

	struct executable *found = claim->build_id.len
					   ? find_by_id(cache, str_from(wanted.build_id))
					   : find_by_file(cache, &key);

	if (found)
		return use(cache, found);
	if (!make_room(cache))
		return NULL;
	cache->unreadable++;

	struct executable *fresh = heap_new(struct executable);

	fresh->path = heap_str(claim->path);
	fresh->tried_ms = clock_monotonic_ns() / NS_PER_MS;
	memcpy(fresh->build_id, wanted.build_id, sizeof(fresh->build_id));
	link_id(cache, fresh);
	if (!claim->build_id.len)
		link_file(cache, fresh, &key);
	return use(cache, fresh);
}

/* Adds an open file. Its build id may show that it is in the cache already. */
static struct executable *add_read(struct executable_cache *cache,
				   const struct executable_claim *claim, int fd,
				   const struct executable_key *key)
{
	struct executable *fresh = heap_new(struct executable);
	struct err err;

	cache->opened++;
	fresh->path = heap_str(claim->path);
	if (!executable_file_read(fresh, fd, &err))
		fresh->build_id[0] = 0; /* mapped, but no ELF file: known by path alone */

	struct executable *known = find_by_id(cache, str_from(fresh->build_id));

	if (known || !make_room(cache)) {
		if (known && !known->segment_count) {
			known->segments = TAKE(fresh->segments);
			known->segment_count = fresh->segment_count;
		}
		free_executable(fresh);
		if (!known)
			return NULL;
		fresh = known;
	} else {
		link_id(cache, fresh);
	}
	link_file(cache, fresh, key);
	offer(cache, fresh, claim, fd);
	return use(cache, fresh);
}

static struct executable *open_and_add(struct executable_cache *cache,
				       const struct executable_claim *claim)
{
	struct stat stat;
	AUTO_FD fd = executable_file_open(claim, &stat);

	if (fd < 0)
		return add_unread(cache, claim);

	struct executable_key key = key_of_stat(&stat);
	struct executable *known = find_by_file(cache, &key);

	if (!known || claim->build_id.len)
		return add_read(cache, claim, fd, &key);
	offer(cache, known, claim, fd);
	return use(cache, known);
}

static struct executable *acquire_by_id(struct executable_cache *cache,
					const struct executable_claim *claim)
{
	struct executable wanted = { 0 };

	set_build_id(&wanted, claim->build_id);

	struct executable *known = find_by_id(cache, str_from(wanted.build_id));

	if (!known || is_wanted(cache, known))
		return open_and_add(cache, claim);
	if (!known->segment_count) {
		uint64_t now_ms = clock_monotonic_ns() / NS_PER_MS;

		if (now_ms - known->tried_ms >= EXECUTABLE_RETRY_MS) {
			known->tried_ms = now_ms;
			return open_and_add(cache, claim);
		}
	}
	return use(cache, known);
}

struct executable *executable_acquire(struct executable_cache *cache,
				      const struct executable_claim *claim)
{
	if (str_eq(claim->path, STR("[vdso]")))
		return use(cache, cache->vdso);
	if (!str_starts_with(claim->path, STR("/")) || str_starts_with(claim->path, STR("//")))
		return NULL; /* anonymous memory */
	return claim->build_id.len ? acquire_by_id(cache, claim) : open_and_add(cache, claim);
}

struct executable *executable_cache_find(struct executable_cache *cache, str build_id)
{
	if (cache->vdso && str_eq(str_from(cache->vdso->build_id), build_id))
		return cache->vdso;
	return find_by_id(cache, build_id);
}

void executable_cache_init(struct executable_cache *cache)
{
	struct err err;

	*cache = (struct executable_cache){ 0 };
	cache->vdso = heap_new(struct executable);
	cache->vdso->path = heap_str(STR("[vdso]"));
	if (!executable_file_read_vdso(cache->vdso, &err))
		cache->vdso->build_id[0] = 0; /* this machine has no vdso: it is never mapped */
}

void executable_cache_set_sink(struct executable_cache *cache, enum executable_sink_of of,
			       const struct executable_sink *sink)
{
	struct executable_claim claim = { .path = STR("[vdso]") };

	cache->sinks[of] = *sink;
	if (!sink->offer || !cache->vdso->segment_count)
		return;

	AUTO_FD fd = executable_file_copy_vdso();

	if (fd >= 0)
		offer(cache, cache->vdso, &claim, fd);
}

bool executable_cache_left_out(struct executable_cache *cache)
{
	if (!cache->has_left_out)
		return false;
	for (size_t i = 0; i < EXECUTABLE_SINK_COUNT; i++) {
		const struct executable_sink *sink = &cache->sinks[i];

		if (sink->has_plenty && !sink->has_plenty(sink->self))
			return false;
	}
	cache->has_left_out = false;
	return true;
}

void executable_cache_done(struct executable_cache *cache)
{
	index_for_each(&cache->by_id, at) {
		forget(cache, *at);
		free_executable(*at);
	}
	index_done(&cache->by_id);
	index_done(&cache->by_file);
	if (cache->vdso) {
		forget(cache, cache->vdso);
		free_executable(cache->vdso);
	}
	*cache = (struct executable_cache){ 0 };
}
