// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/capture/deferred_samples_internal.h"
#include "base/clock.h"
#include "base/heap.h"

const char *const deferred_end_names[DEFERRED_END_COUNT] = {
	[DEFERRED_READ] = "read",         [DEFERRED_LOADED] = "loaded",
	[DEFERRED_NO_TABLE] = "no_table", [DEFERRED_TIMED_OUT] = "timed_out",
	[DEFERRED_STOPPED] = "stopped",
};

struct deferred_sample {
	struct deferred_sample *next;
	struct process process;              /* with references to its images and its cgroup */
	const struct executable *executable; /* kept alive by the image's mappings */
	bool is_for_file;                    /* it waits for the file, not for its table */
	uint64_t since_ns;
	size_t bytes;
	struct sample_record record; /* only its used bytes, and its tail */
};

bool deferred_sample_is_overdue(uint64_t since_ns, uint64_t now_ns)
{
	return now_ns >= since_ns + DEFERRED_MS_MAX * NS_PER_MS;
}

bool deferred_samples_add(struct deferred_samples *deferred, const struct sample_record *record,
			  const struct process *process, const struct executable *executable,
			  uint64_t since_ns)
{
	size_t record_bytes = sample_bytes(record);
	size_t bytes = offsetof(struct deferred_sample, record) + record_bytes;

	deferred->shares.size = DEFERRED_BYTES_MAX;
	if (!shares_take(&deferred->shares, process->owner, bytes)) {
		deferred->rejected++;
		return false;
	}

	struct deferred_sample *sample = heap_zeroed(bytes, 1);

	sample->process = (struct process){
		.pid = process->pid,
		.parent_pid = process->parent_pid,
		.owner = process->owner,
		.image = process_image_reference(process->image),
		.before = process_image_reference(process->before),
		.cgroup = process_cgroup_reference(process->cgroup),
	};
	memcpy(sample->process.comm, process->comm, sizeof(process->comm));
	sample->executable = executable;
	sample->is_for_file = executable_is_pending(executable);
	sample->since_ns = since_ns;
	sample->bytes = bytes;
	memcpy((char *)sample + offsetof(struct deferred_sample, record), record, record_bytes);
	*(deferred->first ? deferred->last : &deferred->first) = sample;
	deferred->last = &sample->next;
	deferred->count++;
	deferred->bytes += bytes;
	return true;
}

static void release_room(struct deferred_samples *deferred, const struct deferred_sample *sample)
{
	deferred->count--;
	deferred->bytes -= sample->bytes;
	shares_release(&deferred->shares, sample->process.owner, sample->bytes);
}

static void free_sample(struct deferred_sample *sample)
{
	process_image_release(sample->process.image);
	process_image_release(sample->process.before);
	process_cgroup_release(sample->process.cgroup);
	free(sample);
}

/* True if the wait has ended; *ret_end is the reason. */
static bool is_over(const struct deferred_sample *sample, uint64_t now_ns,
		    enum deferred_end *ret_end)
{
	const struct unwind_table *table = &sample->executable->unwind;

	if (sample->is_for_file ? executable_is_pending(sample->executable)
				: unwind_table_is_pending(table)) {
		*ret_end = DEFERRED_TIMED_OUT;
		return deferred_sample_is_overdue(sample->since_ns, now_ns);
	}
	*ret_end = table->state == UNWIND_TABLE_LOADED ? DEFERRED_LOADED : DEFERRED_NO_TABLE;
	if (sample->is_for_file)
		*ret_end = DEFERRED_READ;
	return true;
}

/* Hands out samples. The others are linked anew in their order; a sample that the sink adds again
 * takes its place among them. */
static void hand_out(struct deferred_samples *deferred, uint64_t now_ns, bool stops,
		     const struct deferred_sink *sink)
{
	struct deferred_sample *next = TAKE(deferred->first);

	while (next) {
		struct deferred_sample *sample = next;
		enum deferred_end end = DEFERRED_STOPPED;

		next = TAKE(sample->next);
		if (!stops && !is_over(sample, now_ns, &end)) {
			*(deferred->first ? deferred->last : &deferred->first) = sample;
			deferred->last = &sample->next;
			continue;
		}
		deferred->ends[end]++;
		release_room(deferred, sample); /* the sink may add it again */
		sink->sample(sink->self, &sample->record, &sample->process, sample->since_ns);
		free_sample(sample);
	}
}

void deferred_samples_run(struct deferred_samples *deferred, uint64_t now_ns,
			  const struct deferred_sink *sink)
{
	hand_out(deferred, now_ns, false, sink);
}

void deferred_samples_stop(struct deferred_samples *deferred, const struct deferred_sink *sink)
{
	hand_out(deferred, 0, true, sink);
}

void deferred_samples_done(struct deferred_samples *deferred)
{
	while (deferred->first) {
		struct deferred_sample *sample = deferred->first;

		deferred->first = sample->next;
		release_room(deferred, sample);
		free_sample(sample);
	}
	shares_done(&deferred->shares);
	*deferred = (struct deferred_samples){ 0 };
}
