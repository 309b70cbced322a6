// SPDX-License-Identifier: GPL-2.0
/*
 * sampler - one record per perf tick: who was running, and both stacks.
 *
 * The record is put together in per-CPU scratch, because the ring buffer can only reserve a size
 * the verifier knows, and is sent without waking the reader, who polls. The scratch belongs to
 * this program alone: a tick can interrupt any other program on the same CPU.
 *
 * A tick is never dropped because its process is new or unknown: whatever can be said goes out.
 */
#include "kernel.h"
#include "sample.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

char LICENSE[] SEC("license") = "GPL";

enum {
	KERNEL_ROOM = KERNEL_FRAMES_MAX * sizeof(uint64_t),
	USER_ROOM = USER_FRAMES_MAX * sizeof(uint64_t),
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, uint32_t);
	__type(value, struct sample_record);
	__uint(max_entries, 1);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SAMPLE_RING_BYTES_MIN);
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, uint32_t);
	__type(value, uint64_t);
	__uint(max_entries, SAMPLER_COUNT_COUNT);
} counts SEC(".maps");

/*
 * The kernel gives no more than kernel.perf_event_max_stack frames, nor more than we have room for.
 * The agent says the lower of the two before it loads this; a stack of so many is not whole.
 */
uint32_t frames_max = KERNEL_FRAMES_MAX;
_Static_assert(KERNEL_FRAMES_MAX == USER_FRAMES_MAX, "one bound for both sides");

static __always_inline bool is_cut(uint64_t bytes)
{
	return bytes >= frames_max * sizeof(uint64_t);
}

static __always_inline void count(enum sampler_count what)
{
	uint32_t index = what;
	uint64_t *value = bpf_map_lookup_elem(&counts, &index);

	if (value)
		*value += 1;
}

static __always_inline void tell_task(struct sample_record *out, struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	uint64_t pid_tgid = bpf_get_current_pid_tgid();

	out->time_ns = bpf_ktime_get_ns();
	out->start_ns = BPF_CORE_READ(leader, start_boottime);
	out->exec_id = BPF_CORE_READ(leader, self_exec_id);
	out->cgroup_id = bpf_get_current_cgroup_id();
	out->tgid = (uint32_t)(pid_tgid >> 32);
	out->tid = (uint32_t)pid_tgid;
	out->cpu = bpf_get_smp_processor_id();
	out->flags = BPF_CORE_READ(task, flags) & PF_KTHREAD ? SAMPLE_KERNEL_THREAD : 0;
	out->reserved = 0;
	bpf_probe_read_kernel(out->comm, sizeof(out->comm), &leader->comm);
	bpf_get_current_comm(out->thread_comm, sizeof(out->thread_comm));
}

/*
 * What the compiler knows of a value it does not check again, but the verifier of older kernels
 * forgets: it is told once more, where the compiler cannot see that it is told twice.
 */
static __always_inline uint64_t at_most(uint64_t value, uint64_t max)
{
	barrier_var(value);
	if (value > max)
		return max;
	barrier_var(value);
	return value;
}

/* Bytes of stack written at `to`, or 0: no stack on that side, or it could not be read. */
static __always_inline uint64_t read_stack(void *ctx, void *to, uint32_t room, uint64_t flags)
{
	long bytes = bpf_get_stack(ctx, to, room, flags);

	return bytes > 0 ? at_most((uint64_t)bytes, room) : 0;
}

/*
 * The one place where a user stack is walked: by frame pointers, in the kernel's own helper, which
 * does not tell why it stopped. Unwinding by tables takes its place here.
 */
static __always_inline uint64_t walk_user(void *ctx, struct sample_record *out, void *to)
{
	uint64_t bytes = read_stack(ctx, to, USER_ROOM, BPF_F_USER_STACK);

	if (is_cut(bytes))
		out->user_end = USER_END_TOO_DEEP;
	else if (bytes)
		out->user_end = USER_END_FRAME_POINTERS;
	else
		out->user_end = USER_END_READ_FAULT;
	return bytes;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	uint32_t first = 0;
	uint64_t user = 0;

	if (bpf_get_current_pid_tgid() == 0) {
		count(TICK_IDLE);
		return 0;
	}

	struct sample_record *out = bpf_map_lookup_elem(&scratch, &first);

	if (!out)
		return 0; /* cannot be: the array has one element */
	tell_task(out, task);

	uint64_t kernel = read_stack(ctx, out->frames, KERNEL_ROOM, 0);

	/* Kernel threads, and processes that have given their memory back on their way out. */
	if (!BPF_CORE_READ(task, mm))
		out->user_end = USER_END_NONE;
	else
		user = walk_user(ctx, out, (char *)out->frames + kernel);
	out->kernel_frames = (uint16_t)(kernel / sizeof(uint64_t));
	out->user_frames = (uint16_t)(user / sizeof(uint64_t));

	uint64_t bytes = at_most(offsetof(struct sample_record, frames) + kernel + user,
				 sizeof(struct sample_record));

	if (bpf_ringbuf_output(&samples, out, bytes, BPF_RB_NO_WAKEUP) < 0) {
		count(TICK_RING_FULL);
		return 0;
	}
	count(TICK_SENT);
	if (is_cut(kernel))
		count(CUT_KERNEL_TOO_DEEP);
	if (out->user_end == USER_END_TOO_DEEP)
		count(CUT_USER_TOO_DEEP);
	if (out->user_end == USER_END_READ_FAULT)
		count(CUT_USER_READ_FAULT);
	return 0;
}
