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

static void unlink_claim(struct executable_cache *cache, struct executable *gone)
{
	struct executable **found =
		gone ? index_find(&cache->by_claim, hash_of_file(&gone->claim), each, each == gone)
		     : NULL;

	if (found)
		index_remove(&cache->by_claim, found);
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
	unlink_claim(cache, oldest);
	executable_release(oldest->same_as);
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
		  const struct executable_file *file)
{
	for (size_t i = 0; i < EXECUTABLE_SINK_COUNT; i++)
		if (is_wanted_by(cache, i, executable) &&
		    cache->sinks[i].offer(cache->sinks[i].self, executable, file))
			executable->offered |= 1U << i;
}

static void set_build_id(struct executable *executable, str bytes)
{
	AUTO_ARENA arena = { 0 };
	str hex = str_hex(&arena, bytes);

	if (hex.len < sizeof(executable->build_id))
		memcpy(executable->build_id, hex.ptr, hex.len);
}

static uint64_t now_ms(void)
{
	return clock_monotonic_ns() / NS_PER_MS;
}

bool executable_cache_request(struct executable_cache *cache, struct executable *executable,
			      const struct executable_claim *claim)
{
	uint64_t now = now_ms();

	if (executable->is_requested)
		return true;
	if (!cache->source.request ||
	    (executable->failed_ms && now - executable->failed_ms < EXECUTABLE_RETRY_MS))
		return false;
	if (!cache->source.request(cache->source.self, executable, claim)) {
		executable->failed_ms = now;
		return false;
	}
	executable->is_requested = true;
	executable_reference(executable);
	cache->requested++;
	return true;
}

static void request_if_needed(struct executable_cache *cache, struct executable *executable,
			      const struct executable_claim *claim)
{
	struct executable *file = executable_of(executable);

	if (!file->read_ms || is_wanted(cache, file))
		(void)executable_cache_request(cache, file, claim);
}

static struct executable *add(struct executable_cache *cache, const struct executable_claim *claim)
{
	if (!make_room(cache))
		return NULL;

	struct executable *fresh = heap_new(struct executable);

	fresh->path = heap_str(claim->path);
	set_build_id(fresh, claim->build_id);
	link_id(cache, fresh);
	return fresh;
}

static struct executable *acquire_by_id(struct executable_cache *cache,
					const struct executable_claim *claim)
{
	struct executable wanted = { 0 };

	set_build_id(&wanted, claim->build_id);

	struct executable *known = find_by_id(cache, str_from(wanted.build_id));

	return known ? known : add(cache, claim);
}

/*
 * The same device and inode are the same file while a mapping holds the inode, unless the file is
 * written in place. So a known file is read again if it was not read lately: if it is another one,
 * then the mappings refer to another executable.
 */
static bool is_fresh(const struct executable *executable)
{
	return executable->is_requested ||
	       (executable->references && now_ms() - executable->read_ms < EXECUTABLE_FRESH_MS);
}

static struct executable *acquire_by_claim(struct executable_cache *cache,
					   const struct executable_claim *claim)
{
	struct executable_key key = { .device = makedev(claim->device_major, claim->device_minor),
				      .inode = claim->inode };
	struct executable **found = index_find(&cache->by_claim, hash_of_file(&key), each,
					       memcmp(&each->claim, &key, sizeof(key)) == 0);

	if (found && is_fresh(*found))
		return *found;

	struct executable *fresh = add(cache, claim);

	if (fresh && key.inode) {
		unlink_claim(cache, found ? *found : NULL);
		fresh->claim = key;
		*index_at(NULL, &cache->by_claim, hash_of_file(&key), each,
			  memcmp(&each->claim, &key, sizeof(key)) == 0) = fresh;
	}
	return fresh;
}

struct executable *executable_acquire(struct executable_cache *cache,
				      const struct executable_claim *claim)
{
	struct executable *executable;

	if (str_eq(claim->path, STR("[vdso]")))
		return use(cache, cache->vdso);
	if (!str_starts_with(claim->path, STR("/")) || str_starts_with(claim->path, STR("//")))
		return NULL; /* anonymous memory */
	executable =
		claim->build_id.len ? acquire_by_id(cache, claim) : acquire_by_claim(cache, claim);
	if (!executable)
		return NULL;
	use(cache, executable);
	request_if_needed(cache, executable, claim);
	return executable;
}

/* The executable that is known to be the file that was read: of the same build id, or without one
 * of the same key. NULL: the file is new. */
static struct executable *known_file(struct executable_cache *cache,
				     const struct executable_reading *reading)
{
	return reading->build_id[0] ? find_by_id(cache, str_from(reading->build_id))
				    : find_by_file(cache, &reading->key);
}

static void take_content(struct executable_cache *cache, struct executable *executable,
			 struct executable_reading *reading)
{
	struct executable_file file = { .path = reading->path,
					.fd = reading->fd,
					.root = reading->root };

	executable->read_ms = now_ms();
	if (!executable->segment_count && reading->is_elf) {
		executable->segments = TAKE(reading->segments);
		executable->segment_count = reading->segment_count;
	}
	link_file(cache, executable, &reading->key);
	offer(cache, executable, &file);
}

static void take_reading(struct executable_cache *cache, struct executable_reading *reading)
{
	struct executable *executable = reading->executable;
	struct executable *known;

	executable->is_requested = false;
	cache->requested--;
	if (reading->end != EXECUTABLE_READ) {
		cache->unreadable++;
		executable->failed_ms = now_ms();
		executable_release(executable);
		return;
	}
	cache->opened++;
	known = known_file(cache, reading);
	if (known && known != executable) {
		executable->read_ms = now_ms();
		executable->same_as = executable_reference(known);
		take_content(cache, known, reading);
	} else {
		unlink_id(cache, executable);
		memcpy(executable->build_id, reading->build_id, sizeof(executable->build_id));
		link_id(cache, executable);
		take_content(cache, executable, reading);
	}
	executable_release(executable);
}

void executable_reading_free(struct executable_reading *reading)
{
	if (reading->fd >= 0)
		close(reading->fd);
	if (reading->root >= 0)
		close(reading->root);
	free(reading->segments);
	free(reading->path);
	free(reading);
}

bool executable_cache_receive(struct executable_cache *cache)
{
	struct executable_reading *reading;
	bool changed = false;

	while (cache->source.receive && cache->source.receive(cache->source.self, &reading)) {
		take_reading(cache, reading);
		executable_reading_free(reading);
		changed = true;
	}
	return changed;
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
	cache->sinks[of] = *sink;
	if (!sink->offer || !cache->vdso->segment_count)
		return;

	AUTO_FD fd = executable_file_copy_vdso();

	if (fd >= 0)
		offer(cache, cache->vdso,
		      &(struct executable_file){ .path = "[vdso]", .fd = fd, .root = -1 });
}

void executable_cache_set_source(struct executable_cache *cache,
				 const struct executable_source *source)
{
	cache->source = *source;
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
	index_done(&cache->by_claim);
	if (cache->vdso) {
		forget(cache, cache->vdso);
		free_executable(cache->vdso);
	}
	*cache = (struct executable_cache){ 0 };
}
