// SPDX-License-Identifier: Apache-2.0
#include "agent/process/executable.h"

#include "agent/agent_limits.h"
#include "agent/process/executable_file.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/log.h"

#include <stdio.h>
#include <sys/sysmacros.h>

static uint64_t hash_of_id(str build_id)
{
	return hash_seeded(build_id, hash_seed());
}

static uint64_t hash_of_file(const struct executable_key *key)
{
	return hash_seeded_u64(key->device * 31 + key->inode, hash_seed());
}

/*
 * The trusted file with this build id, as mapped under this path: an executable that is that file,
 * or refers to it. A path proves nothing, since each user can make any path in a mount
 * namespace. But a user who maps another file under the path and the build id of this one breaks
 * only the stacks of that user's processes.
 */
static struct executable *find_trusted_at(struct executable_cache *cache, str own_id, str path)
{
	struct executable **found = index_find(&cache->by_id, hash_of_id(own_id), each,
					       (each->same_as ? each->same_as : each)->is_trusted &&
						       str_eq(str_from(each->own_id), own_id) &&
						       str_eq(str_from(each->path), path));

	return found ? *found : NULL;
}

/* The file with this build id that only root can write. */
static struct executable *find_trusted(struct executable_cache *cache, str own_id)
{
	struct executable **found =
		own_id.len ? index_find(&cache->by_id, hash_of_id(own_id), each,
					each->is_trusted && str_eq(str_from(each->own_id), own_id))
			   : NULL;

	return found ? *found : NULL;
}

static bool is_known_or_pending(struct executable_cache *cache, str own_id)
{
	return own_id.len && index_find(&cache->by_id, hash_of_id(own_id), each,
					(each->read_ms || each->is_requested) &&
						str_eq(str_from(each->own_id), own_id));
}

/* The file whose frames are stored with its own build id. */
static struct executable *find_named(struct executable_cache *cache, str own_id)
{
	struct executable **found = index_find(&cache->by_id, hash_of_id(own_id), each,
					       each->read_ms && !each->same_as &&
						       str_eq(str_from(each->own_id), own_id) &&
						       str_eq(str_from(each->build_id), own_id));

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
	return executable->own_id[0] ? hash_of_id(str_from(executable->own_id))
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

/* Sets the file key of an executable. A trusted one may have had another: the file was a copy, or
 * the same file through another mount. If two executables have the same key, the later one is
 * found. */
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

static void free_executable(struct executable_cache *cache, struct executable *executable)
{
	if (executable->places)
		shares_release(&cache->places, executable->owner, executable->places);
	free((void *)(uintptr_t)executable->path);
	free((void *)(uintptr_t)executable->segments);
	free(executable);
}

static void evict(struct executable_cache *cache, struct executable *executable)
{
	unlink_id(cache, executable);
	unlink_file(cache, executable);
	unlink_claim(cache, executable);
	executable_release(executable->same_as);
	forget(cache, executable);
	free_executable(cache, executable);
}

/* The owner that holds most of those that hold at least *held and have a file without references.
 * Sets how much it holds, and the last use of its least recently mapped one. False: there is none.
 */
static bool find_holder(struct executable_cache *cache, uint64_t *held,
			struct share_owner *ret_owner, uint64_t *ret_oldest)
{
	uint64_t oldest = UINT64_MAX;

	index_for_each(&cache->by_id, at) {
		uint64_t its = shares_held_by(&cache->places, (*at)->owner);

		if ((*at)->references || its < *held || (its == *held && (*at)->used >= oldest))
			continue;
		*held = its;
		*ret_owner = (*at)->owner;
		oldest = (*at)->used;
	}
	*ret_oldest = oldest;
	return oldest != UINT64_MAX;
}

/* Evicts some of the files that were not mapped lately, so that not each new file costs a search.
 * False: no owner that holds `held` places or more has a file without references. */
static bool evict_some(struct executable_cache *cache, uint64_t held)
{
	enum { EVICTED_MAX = 64 };
	struct executable *found[EVICTED_MAX];
	struct share_owner owner = { 0 };
	uint64_t oldest;
	size_t count = 0;

	if (!find_holder(cache, &held, &owner, &oldest))
		return false;
	index_for_each(&cache->by_id, at)
		if (count < EVICTED_MAX && !(*at)->references && (*at)->owner.id == owner.id &&
		    (*at)->used <= oldest + (cache->clock - oldest) / 2)
			found[count++] = *at;
	for (size_t i = 0; i < count; i++)
		evict(cache, found[i]);
	return true;
}

/* False, and counted: the owner has its share, and no file can be evicted. */
static bool take_places(struct executable_cache *cache, struct share_owner owner, uint32_t places)
{
	while (!shares_has_room(&cache->places, owner, places)) {
		uint64_t held = shares_held_by(&cache->places, owner);

		if (held >= cache->exhausted)
			break;
		if (!evict_some(cache, held))
			cache->exhausted = held;
	}
	return shares_take(&cache->places, owner, places);
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

	if (!sink->offer || executable->offered >> of & 1 || !executable->own_id[0])
		return false;
	/* Its debug info would be that of the file that is known by this build id. */
	if (of == EXECUTABLE_SINK_UPLOAD && strcmp(executable->own_id, executable->build_id) != 0)
		return false;
	if (!sink->has_room || sink->has_room(sink->self, executable))
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

static void set_own_id(struct executable *executable, str bytes)
{
	AUTO_ARENA arena = { 0 };
	str hex = str_hex(&arena, bytes);

	if (hex.len < sizeof(executable->own_id))
		memcpy(executable->own_id, hex.ptr, hex.len);
	memcpy(executable->build_id, executable->own_id, sizeof(executable->build_id));
}

static uint64_t now_ms(void)
{
	return clock_monotonic_ns() / NS_PER_MS;
}

/* Decodes a build id from hex. Empty for an htlhash. */
static str bytes_of(const char *hex, char to[BUILD_ID_BYTES_MAX])
{
	uint64_t byte;
	size_t len = 0;

	for (; len < BUILD_ID_BYTES_MAX && hex[0] && hex[1]; hex += 2) {
		if (!str_hex_to_u64((str){ hex, 2 }, &byte))
			return (str){ 0 };
		to[len++] = (char)byte;
	}
	return (str){ to, len };
}

struct executable_claim executable_claim_of(const struct executable *executable,
					    char build_id[BUILD_ID_BYTES_MAX])
{
	return (struct executable_claim){ .path = str_from(executable->path),
					  .build_id = bytes_of(executable->own_id, build_id) };
}

/* Its request was made, or it is freed. */
static void confirm(struct executable_cache *cache, struct executable *executable)
{
	cache->unconfirmed -= executable->is_unconfirmed;
	executable->is_unconfirmed = false;
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
	if (!shares_take(&cache->requests, executable->owner, 1)) {
		executable->failed_ms = now;
		return false;
	}
	if (!cache->source.request(cache->source.self, executable, claim,
				   executable->is_unconfirmed)) {
		shares_release(&cache->requests, executable->owner, 1);
		executable->failed_ms = now;
		return false;
	}
	confirm(cache, executable);
	executable->is_requested = true;
	executable_reference(executable);
	return true;
}

static void request_if_needed(struct executable_cache *cache, struct executable *executable,
			      const struct executable_claim *claim)
{
	struct executable *file = executable_of(executable);

	if (!file->is_unconfirmed && (!file->read_ms || is_wanted(cache, file)))
		(void)executable_cache_request(cache, file, claim);
}

static struct executable *add(struct executable_cache *cache, const struct executable_claim *claim)
{
	struct share_owner owner =
		claim->process ? owner_of_process(claim->process) : (struct share_owner){ 0 };
	uint32_t places = 1 + (uint32_t)(claim->path.len / EXECUTABLE_PLACE_BYTES);

	if (!take_places(cache, owner, places))
		return NULL;

	struct executable *fresh = heap_new(struct executable);

	fresh->owner = owner;
	fresh->places = places;
	fresh->path = heap_str(claim->path);
	fresh->number = ++cache->numbers;
	set_own_id(fresh, claim->build_id);
	link_id(cache, fresh);
	return fresh;
}

/* Any file may have this build id. So the mapped one is located when a sample needs it, unless it
 * is taken for a trusted one; most processes are not sampled. */
static struct executable *acquire_by_id(struct executable_cache *cache,
					const struct executable_claim *claim)
{
	struct executable wanted = { 0 };

	set_own_id(&wanted, claim->build_id);

	str own_id = str_from(wanted.own_id);
	struct executable *trusted = find_trusted_at(cache, own_id, claim->path);
	bool may_be_known = is_known_or_pending(cache, own_id);
	struct executable *fresh = trusted ? NULL : add(cache, claim);

	if (fresh) {
		fresh->cache = cache;
		fresh->is_unconfirmed = may_be_known;
		cache->unconfirmed += may_be_known;
	}
	return trusted ? trusted : fresh;
}

void executable_free_unread(struct executable *executable)
{
	struct executable_cache *cache = executable->cache;

	confirm(cache, executable);
	unlink_id(cache, executable);
	executable_release(executable->same_as);
	free_executable(cache, executable);
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

/* An executable has one path, so a file that is mapped under two paths has two. */
static bool is_claimed(const struct executable *executable, const struct executable_key *key,
		       str path)
{
	return memcmp(&executable->claim, key, sizeof(*key)) == 0 &&
	       str_eq(str_from(executable->path), path);
}

static struct executable *acquire_by_claim(struct executable_cache *cache,
					   const struct executable_claim *claim)
{
	struct executable_key key = { .device = makedev(claim->device_major, claim->device_minor),
				      .inode = claim->inode };
	struct executable **found = index_find(&cache->by_claim, hash_of_file(&key), each,
					       is_claimed(each, &key, claim->path));

	if (found && is_fresh(*found))
		return *found;

	struct executable *fresh = add(cache, claim);

	if (fresh && key.inode) {
		unlink_claim(cache, found ? *found : NULL);
		fresh->claim = key;
		*index_at(NULL, &cache->by_claim, hash_of_file(&key), each,
			  is_claimed(each, &key, claim->path)) = fresh;
	}
	return fresh;
}

struct executable *executable_acquire(struct executable_cache *cache,
				      const struct executable_claim *claim)
{
	struct executable *executable;

	if (str_eq(claim->path, STR("[vdso]")))
		return use(cache, cache->vdso);
	if (!executable_is_file(claim->path))
		return NULL; /* anonymous memory */
	executable =
		claim->build_id.len ? acquire_by_id(cache, claim) : acquire_by_claim(cache, claim);
	if (!executable)
		return NULL;
	use(cache, executable);
	request_if_needed(cache, executable, claim);
	return executable;
}

/* The executable that is known to be the file that was read. NULL: the file is new. */
static struct executable *known_file(struct executable_cache *cache,
				     const struct executable_reading *reading)
{
	return reading->is_trusted && reading->build_id[0]
		       ? find_trusted(cache, str_from(reading->build_id))
		       : find_by_file(cache, &reading->key);
}

/* True if the files may be copies of one another. Nothing but the name of the build depends on it:
 * who forges a file that seems to be a copy deceives only the profiles of that file. */
static bool is_alike(const struct executable *a, const struct executable *b)
{
	bool is = a->segment_count == b->segment_count &&
		  memcmp(a->hash, b->hash, sizeof(a->hash)) == 0;

	for (size_t i = 0; is && i < a->segment_count; i++)
		is = a->segments[i].offset == b->segments[i].offset &&
		     a->segments[i].size == b->segments[i].size &&
		     a->segments[i].address == b->segments[i].address &&
		     a->segments[i].executable == b->segments[i].executable;
	return is;
}

/* Its frames are stored with a hash of the file, since another file has the build id. */
static void name_by_hash(struct executable_cache *cache, struct executable *executable)
{
	char hash[BUILD_ID_TEXT_MAX] = { 0 };

	snprintf(hash, sizeof(hash), "htlhash:%.*s", HTLHASH_HEX_LEN, executable->hash);
	if (strcmp(hash, executable->own_id) == 0)
		hash[0] = 0;
	memcpy(executable->build_id, hash, sizeof(executable->build_id));
	cache->contradictions++;
	log_debug("two files have one build id", "path=\"%s\" build_id=%s known_by=%s",
		  executable->path, executable->own_id, executable->build_id);
}

/* Of several files with one build id, a trusted one is known by it, otherwise the first. */
static void name(struct executable_cache *cache, struct executable *fresh)
{
	struct executable *named = find_named(cache, str_from(fresh->own_id));

	if (named && !is_alike(named, fresh))
		name_by_hash(cache, fresh->is_trusted ? named : fresh);
}

/* The file is not known yet. */
static void take_identity(struct executable_cache *cache, struct executable *executable,
			  struct executable_reading *reading)
{
	unlink_id(cache, executable);
	memcpy(executable->own_id, reading->build_id, sizeof(executable->own_id));
	memcpy(executable->build_id, reading->build_id, sizeof(executable->build_id));
	memcpy(executable->hash, reading->hash, sizeof(executable->hash));
	executable->segments = TAKE(reading->segments);
	executable->segment_count = reading->segment_count;
	executable->is_trusted = reading->is_trusted;
	executable->cache = NULL; /* it stays */
	if (executable->own_id[0])
		name(cache, executable);
	link_id(cache, executable);
}

static void offer_file(struct executable_cache *cache, struct executable *executable,
		       const struct executable_reading *reading)
{
	const struct executable_file file = { .path = reading->claim.path.ptr,
					      .fd = reading->fd,
					      .root = reading->root };

	executable->read_ms = now_ms();
	link_file(cache, executable, &reading->key);
	offer(cache, executable, &file);
}

/* The path of a trusted file is kept, for find_trusted_at(). */
static void refer(struct executable *executable, struct executable *known)
{
	executable->read_ms = now_ms();
	executable->same_as = executable_reference(known);
	if (known->is_trusted)
		executable->cache = NULL;
}

static void report_same(struct executable_cache *cache, struct executable *executable,
			struct executable *known)
{
	for (size_t i = 0; i < EXECUTABLE_SINK_COUNT; i++)
		if (cache->sinks[i].is_same)
			cache->sinks[i].is_same(cache->sinks[i].self, executable, known);
}

static void take_file(struct executable_cache *cache, struct executable *executable,
		      struct executable_reading *reading)
{
	struct executable *known = known_file(cache, reading);

	cache->opened++;
	if (executable->read_ms && known != executable) {
		executable->failed_ms = now_ms(); /* its path leads to another file now */
		return;
	}
	if (known && known != executable)
		refer(executable, known);
	else if (!known)
		take_identity(cache, executable, reading);
	offer_file(cache, known ? known : executable, reading);
	if (executable->same_as)
		report_same(cache, executable, known);
}

/* Where the mapped file is known by its inode, it need not be read. */
static void take_location(struct executable_cache *cache, struct executable *executable,
			  const struct executable_reading *reading)
{
	struct executable *known = find_by_file(cache, &reading->key);

	if (known && strcmp(known->own_id, executable->own_id) == 0) {
		refer(executable, known);
		report_same(cache, executable, known);
		return;
	}
	(void)executable_cache_request(cache, executable, &reading->claim);
}

static void take_reading(struct executable_cache *cache, struct executable_reading *reading)
{
	struct executable *executable = reading->executable;

	executable->is_requested = false;
	shares_release(&cache->requests, executable->owner, 1);
	if (reading->end == EXECUTABLE_READ) {
		take_file(cache, executable, reading);
	} else if (reading->end == EXECUTABLE_LOCATED) {
		take_location(cache, executable, reading);
	} else {
		cache->unreadable++;
		executable->failed_ms = now_ms();
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
	free((void *)(uintptr_t)reading->claim.path.ptr);
	free((void *)(uintptr_t)reading->claim.build_id.ptr);
	free(reading);
}

bool executable_cache_receive(struct executable_cache *cache)
{
	struct executable_reading *reading;
	bool changed = false;

	cache->exhausted = UINT64_MAX;
	while (cache->source.receive && cache->source.receive(cache->source.self, &reading)) {
		take_reading(cache, reading);
		executable_reading_free(reading);
		changed = true;
	}
	return changed;
}

struct executable *executable_cache_find(struct executable_cache *cache, str own_id,
					 uint64_t number)
{
	if (cache->vdso && cache->vdso->number == number)
		return cache->vdso;

	struct executable **found =
		index_find(&cache->by_id, hash_of_id(own_id), each, each->number == number);

	return found ? *found : NULL;
}

void executable_cache_init(struct executable_cache *cache)
{
	struct err err;

	*cache = (struct executable_cache){ .places.size = EXECUTABLES_MAX,
					    .requests.size = FILE_REQUESTS_MAX,
					    .exhausted = UINT64_MAX };
	cache->vdso = heap_new(struct executable);
	cache->vdso->path = heap_str(STR("[vdso]"));
	cache->vdso->number = ++cache->numbers;
	cache->vdso->is_trusted = true;
	if (!executable_file_read_vdso(cache->vdso, &err))
		cache->vdso->build_id[0] = 0; /* this machine has no vdso: it is never mapped */
	memcpy(cache->vdso->own_id, cache->vdso->build_id, sizeof(cache->vdso->own_id));
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
		free_executable(cache, *at);
	}
	index_done(&cache->by_id);
	index_done(&cache->by_file);
	index_done(&cache->by_claim);
	if (cache->vdso) {
		forget(cache, cache->vdso);
		free_executable(cache, cache->vdso);
	}
	shares_done(&cache->places);
	shares_done(&cache->requests);
	*cache = (struct executable_cache){ 0 };
}
