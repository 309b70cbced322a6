// SPDX-License-Identifier: Apache-2.0
#include "agent/labels/containers.h"

#include "base/hash.h"
#include "base/heap.h"

enum { ID_LEN = 64 };

struct container {
	char id[ID_LEN];
	struct container_names names;
	uint64_t list; /* sequence number of the last list that had it */
	uint64_t gone; /* 0: not removed; else the sequence number of its removal */
};

void containers_init(struct containers *containers)
{
	*containers = (struct containers){ 0 };
	pthread_mutex_init(&containers->lock, NULL);
}

void containers_done(struct containers *containers)
{
	index_for_each(&containers->by_id, at)
		free(*at);
	index_done(&containers->by_id);
	pthread_mutex_destroy(&containers->lock);
	*containers = (struct containers){ 0 };
}

static uint64_t hash_of(const char *id)
{
	return hash_seeded((str){ id, ID_LEN }, hash_seed());
}

static struct container *find(struct containers *containers, const char *id)
{
	struct container **found = index_find(&containers->by_id, hash_of(id), each,
					      memcmp(each->id, id, ID_LEN) == 0);

	return found ? *found : NULL;
}

static void copy_text(char *to, str from)
{
	size_t len = from.len < CONTAINER_TEXT_MAX ? from.len : CONTAINER_TEXT_MAX - 1;

	/* Do not truncate within a UTF-8 character. */
	while (len < from.len && len && ((unsigned char)from.ptr[len] & 0xc0) == 0x80)
		len--;
	if (len)
		memcpy(to, from.ptr, len);
	to[len] = 0;
}

static void set_gone(struct containers *containers, struct container *container, bool is_gone)
{
	if (is_gone == (container->gone != 0))
		return;
	container->gone = is_gone ? ++containers->gone : 0;
	containers->gone_count += is_gone ? 1 : (size_t)-1;
}

/* Evict the container that was removed first. */
static void drop_oldest(struct containers *containers)
{
	struct container *oldest = NULL;

	index_for_each(&containers->by_id, at)
		if ((*at)->gone && (!oldest || (*at)->gone < oldest->gone))
			oldest = *at;
	if (!oldest)
		return;
	index_remove(&containers->by_id,
		     index_find(&containers->by_id, hash_of(oldest->id), each, each == oldest));
	free(oldest);
	containers->gone_count--;
}

static bool put(struct containers *containers, const struct docker_container *container)
{
	struct container *kept = find(containers, container->id.ptr);

	if (!kept && container->is_gone)
		return true;
	if (!kept) {
		if (containers->by_id.len >= CONTAINERS_MAX)
			drop_oldest(containers);
		if (containers->by_id.len >= CONTAINERS_MAX)
			return false;
		kept = heap_new(struct container);
		memcpy(kept->id, container->id.ptr, ID_LEN);
		*index_at(NULL, &containers->by_id, hash_of(kept->id), each, each == kept) = kept;
	}
	kept->list = containers->list;
	set_gone(containers, kept, container->is_gone);
	if (containers->gone_count > CONTAINERS_GONE_MAX)
		drop_oldest(containers);
	if (container->is_gone)
		return true; /* the event has no names */
	copy_text(kept->names.name, container->name);
	copy_text(kept->names.image, container->image);
	copy_text(kept->names.compose_service, container->compose_service);
	copy_text(kept->names.compose_project, container->compose_project);
	return true;
}

bool containers_put(struct containers *containers, const struct docker_container *container)
{
	pthread_mutex_lock(&containers->lock);
	bool has_room = put(containers, container);
	pthread_mutex_unlock(&containers->lock);
	return has_room;
}

void containers_list_begin(struct containers *containers)
{
	pthread_mutex_lock(&containers->lock);
	containers->list++;
	pthread_mutex_unlock(&containers->lock);
}

void containers_list_end(struct containers *containers)
{
	pthread_mutex_lock(&containers->lock);
	index_for_each(&containers->by_id, at)
		if ((*at)->list != containers->list)
			set_gone(containers, *at, true);
	while (containers->gone_count > CONTAINERS_GONE_MAX)
		drop_oldest(containers);
	pthread_mutex_unlock(&containers->lock);
}

bool containers_find(struct containers *containers, str id, struct container_names *ret_names)
{
	if (id.len != ID_LEN)
		return false;
	pthread_mutex_lock(&containers->lock);

	const struct container *found = find(containers, id.ptr);

	if (found)
		*ret_names = found->names;
	pthread_mutex_unlock(&containers->lock);
	return found;
}

size_t containers_count(struct containers *containers)
{
	pthread_mutex_lock(&containers->lock);
	size_t count = containers->by_id.len - containers->gone_count;
	pthread_mutex_unlock(&containers->lock);
	return count;
}
