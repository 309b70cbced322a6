// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/capture/brief_processes_internal.h"
#include "agent/capture/timeline_internal.h"
#include "base/heap.h"
#include "base/map.h"
#include "bpf/unwind_machine.h"

enum { ITEMS_MIN = 64 };

const char *const timeline_stack_drop_names[STACK_DROP_COUNT] = {
	[STACK_NO_SAMPLE] = "stack_part_no_sample",
	[STACK_GAP] = "stack_part_gap",
	[STACK_TIMELINE_FULL] = "stack_part_timeline_full",
};

static struct arena *arena_of(struct timeline *timeline)
{
	return &timeline->arenas[timeline->current];
}

static void add(struct timeline *timeline, uint64_t time_ns, bool is_sample, const void *what)
{
	if (timeline->len == timeline->cap) {
		timeline->cap = timeline->cap ? timeline->cap * 2 : ITEMS_MIN;
		timeline->items =
			heap_resize(timeline->items, timeline->cap, sizeof(*timeline->items));
	}
	timeline->items[timeline->len++] = (struct timeline_item){ .time_ns = time_ns,
								   .number = timeline->number++,
								   .is_sample = is_sample,
								   .arena = timeline->current,
								   .what = what };
}

void timeline_add_event(struct timeline *timeline, const struct sideband_record *record)
{
	struct arena *arena = arena_of(timeline);

	if (arena->size > TIMELINE_BYTES_MAX) {
		timeline->dropped_events++;
		return;
	}

	struct sideband_record *copy = arena_new(arena, struct sideband_record);

	*copy = *record;
	copy->path = str_copy(arena, record->path);
	add(timeline, record->time_ns, false, copy);
}

void timeline_add_sample(struct timeline *timeline, const struct sample_record *record,
			 size_t bytes)
{
	struct arena *arena = arena_of(timeline);

	if (arena->size > TIMELINE_BYTES_MAX) {
		timeline->dropped_samples++;
		return;
	}

	void *copy = arena_alloc(arena, bytes, 1, _Alignof(struct sample_record));

	memcpy(copy, record, bytes);
	add(timeline, record->time_ns, true, copy);
}

/* The sample that this record continues: same time, CPU and thread. NULL: there is none. */
static struct timeline_item *continued_by(struct timeline *timeline,
					  const struct sample_record *record)
{
	for (size_t i = timeline->len; i > 0; i--) {
		struct timeline_item *item = &timeline->items[i - 1];
		const struct sample_record *sample = item->what;

		if (item->time_ns == record->time_ns && item->is_sample &&
		    sample->cpu == record->cpu && sample->tid == record->tid)
			return item;
	}
	return NULL;
}

/* True if the record's bytes follow directly after the sample's stack, within the limit. */
static bool is_contiguous(const struct sample_record *sample, const struct sample_record *record)
{
	return sample->stack_bytes &&
	       unwind_stack_from(sample) + sample->stack_bytes ==
		       sample_registers(record)->general[UNWIND_STACK_POINTER] &&
	       sample->stack_bytes + record->stack_bytes <= SAMPLE_STACK_WHOLE_MAX;
}

void timeline_add_stack(struct timeline *timeline, const struct sample_record *record)
{
	struct arena *arena = arena_of(timeline);
	struct timeline_item *item = continued_by(timeline, record);

	enum timeline_stack_drop drop = STACK_DROP_COUNT;

	if (!item)
		drop = STACK_NO_SAMPLE;
	else if (!is_contiguous(item->what, record))
		drop = STACK_GAP;
	else if (arena->size > TIMELINE_BYTES_MAX)
		drop = STACK_TIMELINE_FULL;
	if (drop != STACK_DROP_COUNT) {
		timeline->dropped_stacks[drop]++;
		return;
	}

	size_t before = sample_bytes(item->what), more = record->stack_bytes;
	char *whole = arena_alloc(arena, before + more, 1, _Alignof(struct sample_record));
	struct sample_record *sample = (void *)whole;

	memcpy(whole, item->what, before);
	memcpy(whole + before, sample_registers(record) + 1, more);
	sample->stack_bytes = (uint16_t)(sample->stack_bytes + more);
	item->what = sample;
	item->arena = timeline->current;
}

static int compare(const void *a, const void *b)
{
	const struct timeline_item *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->is_sample != right->is_sample)
		return left->is_sample ? 1 : -1;
	return (int32_t)(left->number - right->number) < 0 ? -1 : 1;
}

static bool is_event(const struct timeline_item *item, enum sideband_type type)
{
	const struct sideband_record *record = item->what;

	return !item->is_sample && record->type == type;
}

/* Removes the events of brief processes, before they are sorted: thousands may come in a round. */
static void drop_brief(struct timeline *timeline)
{
	struct brief_processes brief = { .arena = &timeline->scratch };
	size_t kept = 0;

	for (size_t i = 0; i < timeline->len; i++)
		if (is_event(&timeline->items[i], SIDEBAND_FORK))
			brief_processes_start(&brief, timeline->items[i].what);
	for (size_t i = 0; i < timeline->len; i++) {
		const struct timeline_item *item = &timeline->items[i];
		const struct sample_record *sample = item->what;

		if (item->is_sample)
			brief_processes_need(&brief, sample->tgid);
		else
			brief_processes_end(&brief, item->what);
	}
	brief_processes_decide(&brief);
	for (size_t i = 0; i < timeline->len; i++)
		if (timeline->items[i].is_sample ||
		    !brief_processes_has(&brief, timeline->items[i].what))
			timeline->items[kept++] = timeline->items[i];
	timeline->brief_events += timeline->len - kept;
	timeline->len = kept;
}

/* Moves the items until until_ns into an array of their own, sorted. */
static struct timeline_item *take_ready(struct timeline *timeline, uint64_t until_ns,
					size_t *ret_count)
{
	struct timeline_item *ready =
		arena_array(&timeline->scratch, struct timeline_item, timeline->len);
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < timeline->len; i++)
		if (timeline->items[i].time_ns <= until_ns)
			ready[count++] = timeline->items[i];
		else
			timeline->items[kept++] = timeline->items[i];
	timeline->len = kept;
	if (count)
		qsort(ready, count, sizeof(*ready), compare);
	*ret_count = count;
	return ready;
}

static str pid_key(const uint32_t *pid)
{
	return (str){ (const char *)pid, sizeof(*pid) };
}

static bool maps_a_file(const struct timeline_item *item)
{
	const struct sideband_record *record = item->what;

	return is_event(item, SIDEBAND_MAP) && str_starts_with(record->path, STR("/"));
}

/* The first map event of each process among the items that wait. */
static void note_waiting(const struct timeline *timeline, struct map *next)
{
	for (size_t i = 0; i < timeline->len; i++) {
		const struct timeline_item *item = &timeline->items[i];

		if (!maps_a_file(item))
			continue;

		struct sideband_record *record = (void *)(uintptr_t)item->what;
		void **first = map_at(next, pid_key(&record->pid));

		if (!*first || ((struct sideband_record *)*first)->time_ns > record->time_ns)
			*first = record;
	}
}

static bool has_exec(const struct timeline_item *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_event(&items[i], SIDEBAND_EXEC))
			return true;
	return false;
}

/*
 * The kernel reports an exec before it maps the program, so a sample in between would have no
 * executable. Goes from the end to the beginning and gives each exec the path of the next map event
 * of its process.
 */
static void set_exec_paths(struct timeline *timeline, const struct timeline_item *items,
			   size_t count)
{
	struct map next = { .arena = &timeline->scratch };

	if (!has_exec(items, count))
		return;
	note_waiting(timeline, &next);
	for (size_t i = count; i > 0; i--) {
		/* The copies are ours: timeline_add_event() made them. */
		struct sideband_record *record = (void *)(uintptr_t)items[i - 1].what;

		if (maps_a_file(&items[i - 1])) {
			*map_at(&next, pid_key(&record->pid)) = record;
		} else if (is_event(&items[i - 1], SIDEBAND_EXEC)) {
			const struct sideband_record *map = map_get(&next, pid_key(&record->pid));

			if (map)
				record->path = map->path;
		}
	}
}

static void add_again(struct timeline *timeline, struct timeline_item item)
{
	if (item.is_sample)
		timeline_add_sample(timeline, item.what, sample_bytes(item.what));
	else
		timeline_add_event(timeline, item.what);
}

/*
 * What waits came since the last round, with few exceptions, so it stays where it is. The
 * exceptions are copied, so that the arena of the last round can be reset and used in the next one.
 */
static void keep_waiting(struct timeline *timeline)
{
	uint8_t last = !timeline->current;
	size_t count = timeline->len, kept = 0;

	for (size_t i = 0; i < count; i++)
		if (timeline->items[i].arena == last)
			add_again(timeline, timeline->items[i]);
	for (size_t i = 0; i < timeline->len; i++)
		if (timeline->items[i].arena != last)
			timeline->items[kept++] = timeline->items[i];
	timeline->len = kept;
	arena_reset(&timeline->arenas[last]);
	timeline->current = last;
}

void timeline_run(struct timeline *timeline, uint64_t until_ns, const struct timeline_sink *sink)
{
	struct timeline_item *items;
	size_t count;

	drop_brief(timeline);
	items = take_ready(timeline, until_ns, &count);
	set_exec_paths(timeline, items, count);
	for (size_t i = 0; i < count; i++)
		if (items[i].is_sample)
			sink->sample(sink->self, items[i].what);
		else
			sink->event(sink->self, items[i].what);
	keep_waiting(timeline);
	arena_reset(&timeline->scratch);
}

void timeline_done(struct timeline *timeline)
{
	arena_free(&timeline->arenas[0]);
	arena_free(&timeline->arenas[1]);
	arena_free(&timeline->scratch);
	free(timeline->items);
	*timeline = (struct timeline){ 0 };
}
