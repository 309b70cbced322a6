// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/capture/timeline_internal.h"
#include "base/map.h"
#include "bpf/unwind_machine.h"

enum { TIMELINE_SAMPLE = 1u << 31 };

const char *const timeline_stack_drop_names[STACK_DROP_COUNT] = {
	[STACK_NO_SAMPLE] = "stack_part_no_sample",
	[STACK_GAP] = "stack_part_gap",
	[STACK_TIMELINE_FULL] = "stack_part_timeline_full",
};

static struct arena *arena_of(struct timeline *timeline)
{
	return &timeline->arenas[timeline->current];
}

static void add(struct timeline *timeline, uint64_t time_ns, uint32_t order, const void *what)
{
	*vec_push(arena_of(timeline), &timeline->items) =
		(struct timeline_item){ .time_ns = time_ns, .order = order, .what = what };
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
	add(timeline, record->time_ns, timeline->events++, copy);
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
	add(timeline, record->time_ns, TIMELINE_SAMPLE | timeline->samples++, copy);
}

/* The sample that this record continues: same time, CPU and thread. NULL: there is none. */
static struct timeline_item *continued_by(struct timeline *timeline,
					  const struct sample_record *record)
{
	for (size_t i = timeline->items.len; i > 0; i--) {
		struct timeline_item *item = &timeline->items.items[i - 1];
		const struct sample_record *sample = item->what;

		if (item->time_ns == record->time_ns && item->order & TIMELINE_SAMPLE &&
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
}

static int compare(const void *a, const void *b)
{
	const struct timeline_item *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static bool is_event(const struct timeline_item *item, enum sideband_type type)
{
	const struct sideband_record *record = item->what;

	return !(item->order & TIMELINE_SAMPLE) && record->type == type;
}

static str pid_key(const uint32_t *pid)
{
	return (str){ (const char *)pid, sizeof(*pid) };
}

/*
 * The kernel reports an exec before it maps the program, so a sample in between would have no
 * executable. Goes from the end to the beginning and gives each exec the path of the next map event
 * of its process.
 */
static void set_exec_paths(struct timeline *timeline, size_t count)
{
	struct map next = { .arena = arena_of(timeline) };

	for (size_t i = count; i > 0; i--) {
		struct timeline_item *item = &timeline->items.items[i - 1];
		/* The copies are ours: timeline_add_event() made them. */
		struct sideband_record *record = (void *)(uintptr_t)item->what;

		if (is_event(item, SIDEBAND_MAP) && str_starts_with(record->path, STR("/"))) {
			*map_at(&next, pid_key(&record->pid)) = record;
		} else if (is_event(item, SIDEBAND_EXEC)) {
			const struct sideband_record *map = map_get(&next, pid_key(&record->pid));

			if (map && !record->path.len)
				record->path = map->path;
		}
	}
}

/* Copies the waiting records to the other arena, so that this round's arena can be reset. */
static void keep_waiting(struct timeline *timeline, const struct timeline_item *items, size_t count)
{
	struct arena *old = arena_of(timeline);

	timeline->current = !timeline->current;
	memset(&timeline->items, 0, sizeof(timeline->items));
	timeline->events = timeline->samples = 0;
	for (size_t i = 0; i < count; i++)
		if (items[i].order & TIMELINE_SAMPLE)
			timeline_add_sample(timeline, items[i].what, sample_bytes(items[i].what));
		else
			timeline_add_event(timeline, items[i].what);
	arena_reset(old);
}

void timeline_run(struct timeline *timeline, uint64_t until_ns, const struct timeline_sink *sink)
{
	struct timeline_item *items = timeline->items.items;
	size_t count = timeline->items.len, i = 0;

	if (count)
		qsort(items, count, sizeof(*items), compare);
	set_exec_paths(timeline, count);
	for (; i < count && items[i].time_ns <= until_ns; i++)
		if (items[i].order & TIMELINE_SAMPLE)
			sink->sample(sink->self, items[i].what);
		else
			sink->event(sink->self, items[i].what);
	keep_waiting(timeline, items + i, count - i);
}

void timeline_done(struct timeline *timeline)
{
	arena_free(&timeline->arenas[0]);
	arena_free(&timeline->arenas[1]);
	*timeline = (struct timeline){ 0 };
}
