// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/collect.h"

#include "base/clock.h"
#include "profile/limits.h"
#include "profile/profile_type.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum { OWN_LABELS_MAX = 10, NUMBER_MAX = 24 };

/* The labels of a series, or of a sample: ours and the external ones. */
struct label_list {
	struct label items[OWN_LABELS_MAX + LABELS_MAX];
	size_t len;
};

const char *const collect_step_names[COLLECT_STEP_COUNT] = { COLLECT_STEPS(NAMED_TEXT) };

void collect_init(struct collect *collect, const struct collect_options *options)
{
	*collect = (struct collect){ .options = *options };
	collect_begin(collect, 0);
}

void collect_done(struct collect *collect)
{
	series_budget_done(&collect->series);
	arena_free(&collect->arena);
	arena_free(&collect->scratch);
	*collect = (struct collect){ 0 };
}

void collect_begin(struct collect *collect, int64_t unix_offset_ns)
{
	arena_reset(&collect->arena);
	collect->texts = (struct map){ .arena = &collect->arena };
	sample_set_init(&collect->set, &collect->arena);
	collect->unix_offset_ns = unix_offset_ns;
}

/* Texts are untrusted: bytes that are not UTF-8, and NUL, become '?'. Returns `text` if it has
 * none.
 */
static str clean_text(struct collect *collect, str text)
{
	bool utf8 = str_is_utf8(text);

	if (utf8 && !memchr(text.ptr, 0, text.len))
		return text;

	str copy = str_copy(&collect->arena, text);
	char *bytes = (char *)(uintptr_t)copy.ptr;

	for (size_t i = 0; i < copy.len; i++)
		if (bytes[i] == 0 || (!utf8 && (unsigned char)bytes[i] >= 0x80))
			bytes[i] = '?';
	return copy;
}

/* Copies a text into the interval's arena. A text is copied once: a user can make all frames of a
 * program have a path of thousands of bytes. */
static str own_text(struct collect *collect, str text)
{
	const char *known = text.len ? map_get(&collect->texts, text) : "";

	if (known)
		return (str){ known, text.len };

	str key = str_copy(&collect->arena, text);
	str clean = clean_text(collect, key);

	*map_at(&collect->texts, key) = (void *)(uintptr_t)clean.ptr;
	return clean;
}

/* sample_set_frame() borrows texts; the texts of a new frame are copied. */
static uint32_t add_frame(struct collect *collect, const struct frame *frame)
{
	size_t before = collect->set.frames.len;
	uint32_t index = sample_set_frame(&collect->set, frame);

	if (index == before) {
		struct frame *fresh = &collect->set.frames.items[index];

		fresh->path = own_text(collect, fresh->path);
		fresh->build_id = own_text(collect, fresh->build_id);
		fresh->function = own_text(collect, fresh->function);
	}
	return index;
}

static uint32_t add_kernel_frame(struct collect *collect, struct kernel_symbols *kernel,
				 uint64_t address)
{
	struct kernel_symbol symbol = kernel_symbols_find(kernel, address);

	return add_frame(collect, &(struct frame){ .type = STR("kernel"),
						   .path = symbol.module,
						   .function = symbol.name });
}

static uint32_t add_user_frame(struct collect *collect, const struct mappings *mappings,
			       uint64_t address, uint64_t time_ns)
{
	struct frame frame = { .type = STR("native"), .address = address };
	const struct mapping *mapping = mappings ? mappings_find(mappings, address) : NULL;

	if (mapping && mapping->executable) {
		struct executable *executable = executable_of(mapping->executable);

		if (executable->sampled_ns < time_ns)
			executable->sampled_ns = time_ns;
		frame.path = str_from(mapping->executable->path);
		frame.build_id = str_from(executable->build_id);
		frame.address = address - mapping->start + mapping->file_offset;
		/* If the file could not be read, the file offset stays: in most files it is equal
		 * to the address. */
		(void)!elf_file_address(executable->segments, executable->segment_count,
					frame.address, &frame.address);
	}
	return add_frame(collect, &frame);
}

/* All frames except the first are return addresses: address - 1 lies in the call. */
static uint64_t address_of(const uint64_t *frames, size_t i)
{
	return frames[i] - (i > 0);
}

/* Stands for the frames that are missing. */
static uint32_t add_truncation(struct collect *collect, const char *side, const char *reason)
{
	char text[FRAME_TRUNCATED_MAX];
	int len = snprintf(text, sizeof(text), "[truncated: %s_%s]", side, reason);

	return add_frame(collect, &(struct frame){ .type = STR(FRAME_TYPE_TRUNCATED),
						   .function = { text, (size_t)len } });
}

/*
 * The number of user frames to keep. If a function uses the frame pointer for other data, the walk
 * reaches addresses in no mapping: the first of these and all frames after it are dropped. The leaf
 * is always kept, because it is the thread's program counter.
 */
static size_t user_frames_of(struct collect *collect, const struct sample_record *record,
			     const struct mappings *mappings, const uint64_t *user)
{
	size_t len = record->user_frames;

	if (len && !(mappings && mappings_find(mappings, user[0])))
		collect->unmapped++;
	for (size_t i = 1; mappings && i < len; i++) {
		if (mappings_find(mappings, address_of(user, i)))
			continue;
		collect->truncated_unmapped++;
		return i;
	}
	return len;
}

/* Kernel and user frames are leaf first in the record; the first user frame is where the thread
 * entered the kernel. Where frames are missing, a frame says why. */
static uint32_t add_stack(struct collect *collect, const struct sample_record *record,
			  const struct process *process, struct kernel_symbols *kernel)
{
	uint32_t frames[KERNEL_FRAMES_MAX + USER_FRAMES_MAX + 2];
	const uint64_t *user = record->frames + record->kernel_frames;
	const struct mappings *mappings =
		process && record->user_frames ? process_mappings(process, user[0]) : NULL;
	size_t len = 0, user_len = user_frames_of(collect, record, mappings, user);

	if (user_len < record->user_frames)
		frames[len++] = add_truncation(collect, "user", "unmapped");
	else if (record->user_end > USER_END_COMPLETE)
		frames[len++] = add_truncation(collect, "user", user_end_names[record->user_end]);
	for (size_t i = user_len; i > 0; i--)
		frames[len++] =
			add_user_frame(collect, mappings, address_of(user, i - 1), record->time_ns);
	if (record->flags & SAMPLE_KERNEL_TOO_DEEP)
		frames[len++] = add_truncation(collect, "kernel", "too_deep");
	for (size_t i = record->kernel_frames; i > 0; i--)
		frames[len++] =
			add_kernel_frame(collect, kernel, address_of(record->frames, i - 1));
	return sample_set_stack(&collect->set, frames, len);
}

static void add_label(struct label_list *list, const char *name, str value)
{
	if (!value.len)
		return;
	assert(list->len < OWN_LABELS_MAX);
	list->items[list->len++] = (struct label){ str_from(name), value };
}

static str comm_text(const char *comm)
{
	return (str){ comm, strnlen(comm, COMM_SIZE) };
}

static str number_text(char *room, uint64_t value)
{
	return (str){ room, (size_t)snprintf(room, NUMBER_MAX, "%" PRIu64, value) };
}

static struct labels own_labels(struct collect *collect, struct labels labels)
{
	struct label *items = arena_array(&collect->arena, struct label, labels.len);

	for (size_t i = 0; i < labels.len; i++)
		items[i] = (struct label){ own_text(collect, labels.items[i].name),
					   own_text(collect, labels.items[i].value) };
	return (struct labels){ items, labels.len };
}

/* `names` is memory for the texts; the caller keeps it as long as the list. */
static void add_container(struct label_list *list, struct containers *containers, str id,
			  struct container_names *names)
{
	if (!containers || !containers_find(containers, id, names))
		return;
	add_label(list, "container", str_from(names->name));
	add_label(list, "image", str_from(names->image));
	add_label(list, "compose_service", str_from(names->compose_service));
	add_label(list, "compose_project", str_from(names->compose_project));
}

/* Below the slice of a login user, names of containers are names that this user chooses. */
static bool names_its_container(const struct cgroup_names *cgroup)
{
	return cgroup && cgroup->domain.len && !str_eq(cgroup->domain, cgroup->container_id);
}

/* True if the process chooses the label, or who started it. */
static bool is_chosen(str name, enum series_fate fate, const struct cgroup_names *cgroup)
{
	static const char *const by_process[] = { "comm", "exe", "cgroup" };
	static const char *const of_container[] = { "container_id", "container", "image",
						    "compose_service", "compose_project" };
	bool is_of_host = fate == SERIES_OF_HOST;

	for (size_t i = 0; i < ARRAY_LEN(by_process); i++)
		if (str_eq(name, str_from(by_process[i])))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(of_container); i++)
		if (str_eq(name, str_from(of_container[i])))
			return is_of_host || names_its_container(cgroup);
	return is_of_host && str_eq(name, STR("unit"));
}

/* Sets labels to `other` if the owner of the process has made too many series. */
static void limit_series(struct collect *collect, const struct process *process, uint64_t time_ns,
			 struct label *items, struct labels labels)
{
	uint64_t id = series_id(STR(PROFILE_TYPE_CPU), labels, &collect->scratch);
	bool is_known = series_budget_knows(&collect->series, time_ns, id);

	arena_reset(&collect->scratch);
	if (is_known)
		return;

	const struct cgroup_names *cgroup =
		process && process->cgroup ? &process->cgroup->names : NULL;
	struct share_owner owner = process ? process->owner : (struct share_owner){ 0 };
	enum series_fate fate = series_budget_admit(&collect->series, owner, id);

	if (fate == SERIES_KEPT)
		return;
	collect->of_other_series[owner.class_of]++;
	for (size_t i = 0; i < labels.len; i++)
		if (is_chosen(items[i].name, fate, cgroup))
			items[i].value = STR("other");
}

static uint32_t add_series(struct collect *collect, const struct sample_record *record,
			   const struct process *process)
{
	const struct collect_options *options = &collect->options;
	struct label_list list = { .len = 0 };
	struct container_names names;
	size_t before = collect->set.series.len;

	add_label(&list, "node", options->node);
	add_label(&list, "comm",
		  comm_text(process && process->comm[0] ? process->comm : record->comm));
	if (process && process->image)
		add_label(&list, "exe", str_from(process->image->exe));
	if (process && process->cgroup) {
		add_label(&list, "cgroup", process->cgroup->names.path);
		add_label(&list, "container_id", process->cgroup->names.container_id);
		add_label(&list, "unit", process->cgroup->names.unit);
		add_container(&list, options->containers, process->cgroup->names.container_id,
			      &names);
	}
	limit_series(collect, process, record->time_ns, list.items,
		     labels_of(list.items, list.len));
	for (size_t i = 0; i < options->external.len && i < LABELS_MAX; i++)
		list.items[list.len++] = options->external.items[i];

	struct labels labels = labels_of(list.items, list.len);
	uint32_t index =
		sample_set_series(&collect->set, STR(PROFILE_TYPE_CPU), labels, options->period_ns);

	if (index == before)
		collect->set.series.items[index].labels = own_labels(collect, labels);
	return index;
}

static uint32_t add_sample_labels(struct collect *collect, const struct sample_record *record)
{
	char pid[NUMBER_MAX], tid[NUMBER_MAX], cpu[NUMBER_MAX];
	struct label_list list = { .len = 0 };
	size_t before = collect->set.label_sets.len;

	add_label(&list, "pid", number_text(pid, record->tgid));
	add_label(&list, "thread_id", number_text(tid, record->tid));
	add_label(&list, "thread_name", comm_text(record->thread_comm));
	add_label(&list, "cpu", number_text(cpu, record->cpu));
	if (record->flags & SAMPLE_GUESSED)
		add_label(&list, "unwind", str_from(collect_step_names[COLLECT_BY_GUESS]));

	struct labels labels = labels_of(list.items, list.len);
	uint32_t index = sample_set_labels(&collect->set, labels);

	if (index == before)
		collect->set.label_sets.items[index] = own_labels(collect, labels);
	return index;
}

static enum collect_step step_of(uint32_t flags)
{
	if (flags & SAMPLE_GUESSED)
		return COLLECT_BY_GUESS;
	return flags & SAMPLE_FRAME_POINTERS ? COLLECT_BY_FRAME_POINTERS : COLLECT_BY_TABLES;
}

void collect_sample(struct collect *collect, const struct sample_record *record,
		    const struct process *process, struct kernel_symbols *kernel)
{
	int64_t unix_ns = (int64_t)record->time_ns + collect->unix_offset_ns;

	if (record->stack_bytes)
		collect->ends_of_shipped[record->user_end]++;
	if (record->user_frames)
		collect->steps[step_of(record->flags)]++;
	sample_set_add(&collect->set,
		       (struct sample){ .series = add_series(collect, record, process),
					.stack = add_stack(collect, record, process, kernel),
					.labels = add_sample_labels(collect, record),
					.value = (int64_t)collect->options.period_ns,
					.time_ms = (uint64_t)unix_ns / NS_PER_MS });
}
