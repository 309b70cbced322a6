// SPDX-License-Identifier: GPL-2.0
/*
 * sampler - one record per perf tick: the running thread, its kernel stack and its user stack.
 *
 * The record is built in per-CPU scratch (sample_scratch.h) and sent without a wake-up: the agent
 * polls. If the walk knows too little about a stack, a copy of the stack is shipped with the record
 * (shipped_stack.h).
 *
 * A tick is never dropped because its process is new or unknown: the record holds what is known.
 *
 * Two programs do the same; the agent loads one of them. sample() walks the user stack in
 * bpf_loop() (Linux 5.17 and later). sample_by_calls() walks it by tail calls, FRAMES_PER_CALL
 * frames a call.
 */
#include "kernel.h"
#include "registers.h"
#include "sample.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

/* Set before the program is loaded: the verifier skips code that these constants disable. */
READ_ONLY bool has_task_pt_regs;
READ_ONLY bool may_guess;
READ_ONLY bool ship_all_stacks; /* for tests: ship also each stack that is walked here */

struct unwind_cached_rule;
static struct unwind_cached_rule *rule_cache_slot(uint64_t number);

#define UNWIND_MAY_GUESS       may_guess
#define UNWIND_RULE_CACHE_SLOT rule_cache_slot
#include "process_lookup.h"
#include "sample_scratch.h"
#include "shipped_stack.h"
#include "unwind.h"
#include "unwind_maps.h"

char LICENSE[] SEC("license") = "GPL";

enum {
	KERNEL_ROOM = KERNEL_FRAMES_MAX * sizeof(uint64_t),
	FRAMES_ROOM = KERNEL_FRAMES_MAX + USER_FRAMES_MAX,
	TAIL_CALLS_MAX = 33, /* the kernel's bound */
	FRAMES_PER_CALL = 7,
	WALK_ROUNDS = 2 * USER_FRAMES_MAX, /* some frames take several rounds */
};
_Static_assert(TAIL_CALLS_MAX *FRAMES_PER_CALL >= 200,
	       "the depth that is documented for Linux 5.10");

/* A cache of rules, kept from tick to tick. */
struct rule_cache {
	struct unwind_cached_rule rules[UNWIND_RULE_CACHE_SIZE];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, uint32_t);
	__type(value, struct rule_cache);
	__uint(max_entries, 1);
} rule_cache SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, uint32_t);
	__type(value, uint64_t);
	__uint(max_entries, SAMPLER_COUNT_COUNT);
} counts SEC(".maps");

/*
 * The number of kernel frames from which on a stack counts as truncated: the lower of
 * kernel.perf_event_max_stack and the room in the record. The agent sets it before it loads this.
 */
uint32_t frames_max = KERNEL_FRAMES_MAX;

/* Increased by the agent, see unwind_maps.h. */
struct unwind_generation generation;

static __always_inline void count(enum sampler_count what)
{
	uint32_t index = what;
	uint64_t *value = bpf_map_lookup_elem(&counts, &index);

	if (value)
		*value += 1;
}

/* The walk is the first member of the scratch. */
static __always_inline bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes,
					     uint64_t from)
{
	struct scratch *scratch = (struct scratch *)walk;

	return stack_window_read(&scratch->window, to, bytes, from);
}

static struct unwind_cached_rule *rule_cache_slot(uint64_t number)
{
	uint32_t first = 0;
	struct rule_cache *of = bpf_map_lookup_elem(&rule_cache, &first);

	return of ? &of->rules[number & (UNWIND_RULE_CACHE_SIZE - 1)] : NULL;
}

static __always_inline void fill_task(struct sample_record *out, struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	uint64_t pid_tgid = bpf_get_current_pid_tgid();

	out->time_ns = bpf_ktime_get_ns();
	out->start_ns = BPF_CORE_READ(leader, start_boottime);
	out->exec_id = BPF_CORE_READ(leader, self_exec_id);
	out->cgroup_id = bpf_get_current_cgroup_id();
	out->owner_start_ns = 0;
	out->tgid = (uint32_t)(pid_tgid >> 32);
	out->tid = (uint32_t)pid_tgid;
	out->cpu = bpf_get_smp_processor_id();
	out->flags = BPF_CORE_READ(task, flags) & PF_KTHREAD ? SAMPLE_KERNEL_THREAD : 0;
	out->kernel_frames = out->user_frames = 0;
	out->user_end = USER_END_NONE;
	out->stack_bytes = 0;
	bpf_probe_read_kernel(out->comm, sizeof(out->comm), &leader->comm);
	bpf_get_current_comm(out->thread_comm, sizeof(out->thread_comm));
}

/* A tick in user mode has no kernel stack; calling bpf_get_stack() would cost two microseconds. */
static __always_inline void read_kernel_stack(struct bpf_perf_event_data *ctx,
					      struct sample_record *out)
{
	if (registers_in_user_mode(&ctx->regs))
		return;

	long bytes = bpf_get_stack(ctx, out->frames, KERNEL_ROOM, 0);

	if (bytes > 0)
		out->kernel_frames =
			(uint16_t)(at_most((uint64_t)bytes, KERNEL_ROOM) / sizeof(uint64_t));
	if (out->kernel_frames >= frames_max)
		out->flags |= SAMPLE_KERNEL_TOO_DEEP;
}

/* Fills in the task and the kernel stack. True if there is a user stack to walk. */
static __always_inline bool begin(struct bpf_perf_event_data *ctx, struct scratch *scratch)
{
	struct sample_record *out = &scratch->record;
	struct task_struct *task = (void *)bpf_get_current_task();

	fill_task(out, task);
	read_kernel_stack(ctx, out);
	scratch->walk.end = USER_END_NONE;
	scratch->walk.flags = 0;
	/* A kernel thread, or a process that has released its memory while it exits. */
	if (!BPF_CORE_READ(task, mm))
		return false;

	enum registers_found found = registers_read(&scratch->walk.now, has_task_pt_regs);

	if (found == REGISTERS_32BIT)
		unwind_stop(&scratch->walk, USER_END_32BIT);
	if (found != REGISTERS_FOUND)
		return false;
	stack_window_begin(&scratch->window);
	scratch->walk.generation = generation;
	unwind_begin(&scratch->walk, process_lookup(scratch, task));
	return true;
}

/* Adds one frame, or makes one round of a step. False: there are no more frames, or no room. */
static __always_inline bool walk_on(struct scratch *scratch)
{
	struct sample_record *out = &scratch->record;
	struct unwind *walk = &scratch->walk;
	uint32_t at = (uint32_t)out->kernel_frames + out->user_frames;

	if (walk->end != USER_END_NONE)
		return false;
	if (out->user_frames >= USER_FRAMES_MAX || at >= FRAMES_ROOM) {
		unwind_stop(walk, USER_END_TOO_DEEP);
		return false;
	}
	unwind_round(walk);
	if (unwind_is_between(walk))
		return true;
	out->frames[at] = walk->shown;
	out->user_frames++;
	return walk->end == USER_END_NONE;
}

/* True if the current task is in exec. A kernel without the bit: false. */
static __always_inline bool is_in_exec(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return bpf_core_field_exists(task->in_execve) &&
	       BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
}

/*
 * During exec the memory is already the new program's and the registers are still the old
 * program's: there is no stack to walk or to ship. Checked only if the walk ended at the leaf.
 */
static __always_inline void explain_leaf(struct scratch *scratch)
{
	struct unwind *walk = &scratch->walk;
	uint64_t word, from = walk->now.general[UNWIND_STACK_POINTER];

	if (walk->end <= USER_END_COMPLETE || scratch->record.user_frames != 1 || !is_in_exec() ||
	    !bpf_probe_read_user(&word, sizeof(word), (const void *)from))
		return;
	unwind_stop(walk, USER_END_EXEC);
	walk->flags = 0;
}

static __always_inline void count_truncations(const struct sample_record *out)
{
	if (out->flags & SAMPLE_KERNEL_TOO_DEEP)
		count(TRUNCATED_KERNEL_TOO_DEEP);
	if (out->user_end >= USER_END_TOO_DEEP && !out->stack_bytes)
		count(TRUNCATED_USER_TOO_DEEP + (out->user_end - USER_END_TOO_DEEP));
}

static __always_inline int finish(struct scratch *scratch)
{
	struct sample_record *out = &scratch->record;

	explain_leaf(scratch);
	out->user_end = (uint16_t)scratch->walk.end;
	out->flags |= scratch->walk.flags;

	/* The frame is in no listed mapping. Mostly that mapping is newer than the list, and the
	 * agent knows it by the time it reads the record. */
	if (out->user_end == USER_END_NO_MAPPING)
		out->flags |= SAMPLE_NEEDS_AGENT_WALK;

	uint64_t bytes = offsetof(struct sample_record, frames) +
			 sizeof(uint64_t) * ((uint64_t)out->kernel_frames + out->user_frames);
	bool is_shipped = out->flags & SAMPLE_NEEDS_AGENT_WALK && shipped_stack_begin(scratch);

	if (is_shipped || ship_all_stacks)
		bytes = shipped_stack_add(scratch, bytes, has_task_pt_regs);
	if (!scratch_send(scratch, bytes)) {
		count(TICK_RING_FULL);
		return 0;
	}
	count(TICK_SENT);
	if (out->flags & SAMPLE_NEEDS_AGENT_WALK)
		count(out->stack_bytes ? STACK_SHIPPED : STACK_NOT_SHIPPED);
	count_truncations(out);
	if (is_shipped && scratch->stack_more)
		for (int i = 1; i < SAMPLE_STACK_RECORDS; i++)
			if (!shipped_stack_send_more())
				break;
	return 0;
}

/* `data` points to the stack of the caller: the verifier requires that. */
static long walk_in_loop(uint32_t index, void *data)
{
	(void)index;
	return !walk_on(*(struct scratch **)data);
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct scratch *scratch = scratch_get();

	if (bpf_get_current_pid_tgid() == 0) {
		count(TICK_IDLE);
		return 0;
	}
	if (!scratch)
		return 0;
	if (begin(ctx, scratch))
		bpf_loop(WALK_ROUNDS, walk_in_loop, &scratch, 0);
	return finish(scratch);
}

/* Holds walk_in_calls(); the agent puts it in. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(uint32_t));
} calls SEC(".maps");

/* Global, so that the verifier checks it once and not at each call. */
__attribute__((noinline)) int walk_in_call(void)
{
	struct scratch *scratch = scratch_get();

	return scratch && walk_on(scratch);
}

SEC("perf_event")
int walk_in_calls(struct bpf_perf_event_data *ctx)
{
	struct scratch *scratch = scratch_get();

	if (!scratch)
		return 0;
	for (int i = 0; i < FRAMES_PER_CALL; i++)
		if (!walk_in_call())
			return finish(scratch);
	bpf_tail_call(ctx, &calls, 0);
	unwind_stop(&scratch->walk, USER_END_TOO_DEEP); /* no tail call is left */
	return finish(scratch);
}

SEC("perf_event")
int sample_by_calls(struct bpf_perf_event_data *ctx)
{
	struct scratch *scratch = scratch_get();

	if (bpf_get_current_pid_tgid() == 0) {
		count(TICK_IDLE);
		return 0;
	}
	if (!scratch)
		return 0;
	if (begin(ctx, scratch))
		bpf_tail_call(ctx, &calls, 0);
	return finish(scratch);
}
