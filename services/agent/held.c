// SPDX-License-Identifier: Apache-2.0
#include "held.h"

#include "agent_limits.h"
#include "base/clock.h"
#include "heap.h"

const char *const held_end_names[HELD_END_COUNT] = {
	[HELD_LOADED] = "loaded",
	[HELD_NO_TABLE] = "no_table",
	[HELD_TIMED_OUT] = "timed_out",
	[HELD_STOPPED] = "stopped",
};

struct held_sample {
	struct held_sample *next;
	struct process process;              /* with references to its images and its cgroup */
	const struct executable *executable; /* the image's */
	uint64_t since_ns;
	size_t bytes;
	struct sample_record record; /* as much of it as there is, and its tail */
};

bool held_is_long(uint64_t since_ns, uint64_t now_ns)
{
	return now_ns >= since_ns + HELD_MS_MAX * NS_PER_MS;
}

bool held_keep(struct held *held, const struct sample_record *record, const struct process *process,
	       const struct executable *executable, uint64_t since_ns)
{
	size_t record_bytes = sample_bytes(record);
	size_t bytes = offsetof(struct held_sample, record) + record_bytes;

	if (held->bytes + bytes > HELD_BYTES_MAX) {
		held->refused++;
		return false;
	}

	struct held_sample *sample = heap_new(bytes, 0);

	sample->process = (struct process){
		.pid = process->pid,
		.parent_pid = process->parent_pid,
		.image = process_image_share(process->image),
		.before = process_image_share(process->before),
		.cgroup = process_cgroup_share(process->cgroup),
	};
	sample->executable = executable;
	sample->since_ns = since_ns;
	sample->bytes = bytes;
	memcpy((char *)sample + offsetof(struct held_sample, record), record, record_bytes);
	*(held->first ? held->last : &held->first) = sample;
	held->last = &sample->next;
	held->count++;
	held->bytes += bytes;
	return true;
}

static void drop(struct held *held, struct held_sample *sample)
{
	held->count--;
	held->bytes -= sample->bytes;
	process_image_give(sample->process.image);
	process_image_give(sample->process.before);
	process_cgroup_give(sample->process.cgroup);
	free(sample);
}

/* Whether it need not wait any more. */
static bool is_over(const struct held_sample *sample, uint64_t now_ns, enum held_end *ret_end)
{
	const struct unwind_table *table = &sample->executable->unwind;

	if (unwind_table_is_coming(table)) {
		*ret_end = HELD_TIMED_OUT;
		return held_is_long(sample->since_ns, now_ns);
	}
	*ret_end = table->state == UNWIND_TABLE_LOADED ? HELD_LOADED : HELD_NO_TABLE;
	return true;
}

/* What stays is linked anew, in its order; what is held again meanwhile has its place in it. */
static void give_back(struct held *held, uint64_t now_ns, bool stops, const struct held_sink *sink)
{
	struct held_sample *next = TAKE(held->first);

	while (next) {
		struct held_sample *sample = next;
		enum held_end end = HELD_STOPPED;

		next = TAKE(sample->next);
		if (!stops && !is_over(sample, now_ns, &end)) {
			*(held->first ? held->last : &held->first) = sample;
			held->last = &sample->next;
			continue;
		}
		held->ends[end]++;
		sink->sample(sink->self, &sample->record, &sample->process, sample->since_ns);
		drop(held, sample);
	}
}

void held_run(struct held *held, uint64_t now_ns, const struct held_sink *sink)
{
	give_back(held, now_ns, false, sink);
}

void held_stop(struct held *held, const struct held_sink *sink)
{
	give_back(held, 0, true, sink);
}

void held_done(struct held *held)
{
	while (held->first) {
		struct held_sample *sample = held->first;

		held->first = sample->next;
		drop(held, sample);
	}
	*held = (struct held){ 0 };
}
