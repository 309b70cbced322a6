// SPDX-License-Identifier: GPL-2.0
/*
 * sampler - one record per perf tick: who was running, and both stacks.
 *
 * The record is put together in per-CPU scratch, because the ring buffer can only reserve a size
 * the verifier knows, and is sent without waking the reader, who polls. The scratch belongs to
 * these programs alone: a tick can interrupt any other program on the same CPU, but no other tick.
 *
 * A tick is never dropped because its process is new or unknown: whatever can be said goes out.
 *
 * Two programs do the same; the agent loads one. sample() walks the user stack in bpf_loop()
 * (Linux 5.17); sample_by_calls() calls itself on, a few frames a call.
 */
#include "kernel.h"
#include "registers.h"
#include "sample.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

/* Said before it is loaded: what is not there, or not wanted, the verifier never looks at. */
READ_ONLY bool has_task_pt_regs;
READ_ONLY bool may_guess;
READ_ONLY uint64_t ns_per_travel = 1000000000 / TRAVELS_PER_SECOND_MIN;
READ_ONLY bool all_travel; /* each stack that is walked here goes along, too: for tests */

struct unwind_seen;
static struct unwind_seen *seen_at(uint64_t number);

#define UNWIND_MAY_GUESS may_guess
#define UNWIND_SEEN_AT   seen_at
#include "unwind.h"
#include "unwind_maps.h"

char LICENSE[] SEC("license") = "GPL";

enum {
	KERNEL_ROOM = KERNEL_FRAMES_MAX * sizeof(uint64_t),
	FRAMES_ROOM = KERNEL_FRAMES_MAX + USER_FRAMES_MAX,
	TAIL_CALLS_MAX = 33, /* the kernel's bound */
	FRAMES_PER_CALL = 7,
	WALK_ROUNDS = 2 * USER_FRAMES_MAX, /* some frames take more than one */
	WINDOW_BYTES = 512,                /* of the user stack that are read at once */
	WINDOW_WORDS = WINDOW_BYTES / sizeof(uint64_t),
	LINE_BYTES = 64,
};
#define WINDOW_NOWHERE (1ULL << 63) /* no address of a thread */
_Static_assert(TAIL_CALLS_MAX *FRAMES_PER_CALL >= 200, "what is promised of Linux 5.10");

/* A record, room for what may follow it, and the walk that makes it. */
struct scratch {
	struct unwind walk;
	struct {
		uint64_t from; /* WINDOW_NOWHERE: nothing was read, or cannot be */
		bool is_useless;
		uint64_t words[WINDOW_WORDS];
	} window;
	struct {
		uint32_t tgid, generation; /* generation.lists when it was found */
		struct unwind_process process;
	} last;                                  /* the process that was found last */
	uint64_t travels_at_ns, travels_left_ns; /* each stack that travels takes ns_per_travel */
	uint64_t stack_more; /* where the stack goes on that has been sent; 0: nowhere */
	struct sample_record record;
	uint8_t tail[SAMPLE_TAIL_MAX];
};
_Static_assert(sizeof(struct scratch) <= 32768, "a per-CPU map value is at most 32 KB");
_Static_assert(offsetof(struct scratch, tail) ==
		       offsetof(struct scratch, record) + sizeof(struct sample_record),
	       "one run of bytes");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, uint32_t);
	__type(value, struct scratch);
	__uint(max_entries, 1);
} scratches SEC(".maps");

/* Rules that were found, from tick to tick. */
struct remembered {
	struct unwind_seen seen[UNWIND_SEEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, uint32_t);
	__type(value, struct remembered);
	__uint(max_entries, 1);
} remembered SEC(".maps");

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

struct unwind_segment {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_SEGMENT_PAGES);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, UNWIND_PAGE_BYTES);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_SEGMENTS_MAX);
	__type(key, uint32_t);
	__array(values, struct unwind_segment);
} unwind_segments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_PROCESSES_MAX);
	__type(key, uint32_t);
	__type(value, struct unwind_process);
} unwind_processes SEC(".maps");

/*
 * The kernel gives no more than kernel.perf_event_max_stack frames, nor more than we have room for.
 * The agent says the lower of the two before it loads this; a stack of so many is not whole.
 */
uint32_t frames_max = KERNEL_FRAMES_MAX;

/* Raised by the agent. */
struct unwind_generation generation;

static __always_inline void count(enum sampler_count what)
{
	uint32_t index = what;
	uint64_t *value = bpf_map_lookup_elem(&counts, &index);

	if (value)
		*value += 1;
}

static __always_inline struct scratch *scratch_get(void)
{
	uint32_t first = 0;

	return bpf_map_lookup_elem(&scratches, &first); /* NULL cannot be: it has one element */
}

/*
 * Makes the window hold so many bytes from there on. It is of whole cache lines: those that are
 * cold come side by side, and the frames above find theirs. Where that cannot be, near the stack's
 * end, words are read one by one from then on.
 */
static __attribute__((noinline)) bool move_window(struct scratch *scratch, uint64_t from,
						  uint64_t bytes)
{
	uint64_t line = from & ~(uint64_t)(LINE_BYTES - 1);

	if (from - scratch->window.from <= WINDOW_BYTES - bytes && !(from & 7))
		return true;
	if (from & 7 || scratch->window.is_useless)
		return false;
	scratch->window.from = line;
	if (!bpf_probe_read_user(scratch->window.words, WINDOW_BYTES, (const void *)line))
		return true;
	scratch->window.from = WINDOW_NOWHERE;
	scratch->window.is_useless = true;
	return false;
}

/* The walk lies at the beginning of what else there is. */
static __always_inline bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes,
					     uint64_t from)
{
	struct scratch *scratch = (struct scratch *)walk;
	uint64_t *words = to, at;

	if (bytes > 2 * sizeof(uint64_t) || !move_window(scratch, from, bytes))
		return bpf_probe_read_user(to, bytes, (const void *)from) == 0;
	at = (from - scratch->window.from) / sizeof(uint64_t);
	words[0] = scratch->window.words[at & (WINDOW_WORDS - 1)];
	if (bytes > sizeof(uint64_t))
		words[1] = scratch->window.words[(at + 1) & (WINDOW_WORDS - 1)];
	return true;
}

static struct unwind_seen *seen_at(uint64_t number)
{
	uint32_t first = 0;
	struct remembered *of = bpf_map_lookup_elem(&remembered, &first);

	return of ? &of->seen[number & (UNWIND_SEEN - 1)] : NULL;
}

static const uint8_t *unwind_page(struct unwind *walk, uint64_t number)
{
	uint32_t segment = (uint32_t)(number / UNWIND_SEGMENT_PAGES);
	uint32_t page = number % UNWIND_SEGMENT_PAGES;
	void *pages = bpf_map_lookup_elem(&unwind_segments, &segment);

	(void)walk;
	return pages ? bpf_map_lookup_elem(pages, &page) : NULL;
}

static __always_inline void tell_task(struct sample_record *out, struct task_struct *task)
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

/* A tick in user mode has none; to ask would cost two microseconds. */
static __always_inline void take_kernel_stack(struct bpf_perf_event_data *ctx,
					      struct sample_record *out)
{
	if (registers_in_user_mode(&ctx->regs))
		return;

	long bytes = bpf_get_stack(ctx, out->frames, KERNEL_ROOM, 0);

	if (bytes > 0)
		out->kernel_frames =
			(uint16_t)(at_most((uint64_t)bytes, KERNEL_ROOM) / sizeof(uint64_t));
}

/* The mappings of a process, if they are here: its own, not those of one that had its pid. */
static __always_inline const struct unwind_process *process_of(uint32_t tgid, uint64_t start_ns,
							       uint64_t exec_id)
{
	const struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);

	if (!process || process->start_ns != start_ns || process->exec_id != exec_id)
		return NULL;
	return process;
}

/* A vfork child runs in the memory of its parent, and has no mappings of its own before its exec.
 */
static __always_inline const struct unwind_process *process_of_parent(struct sample_record *out,
								      struct task_struct *task)
{
	struct task_struct *parent = BPF_CORE_READ(task, group_leader, real_parent), *leader;

	if (BPF_CORE_READ(parent, mm) != BPF_CORE_READ(task, mm))
		return NULL;
	leader = BPF_CORE_READ(parent, group_leader);

	uint64_t start_ns = BPF_CORE_READ(leader, start_boottime);

	const struct unwind_process *process =
		process_of((uint32_t)BPF_CORE_READ(parent, tgid), start_ns,
			   BPF_CORE_READ(leader, self_exec_id));

	if (!process)
		out->owner_start_ns = start_ns;
	return process;
}

/* Most often it is the process of the last tick: where it was found last is warm. */
static __always_inline const struct unwind_process *find_process(struct scratch *scratch,
								 struct task_struct *task)
{
	struct sample_record *out = &scratch->record;
	const struct unwind_process *process = &scratch->last.process;
	uint32_t lists = scratch->walk.generation.lists;

	if (scratch->last.tgid == out->tgid && scratch->last.generation == lists &&
	    process->start_ns == out->start_ns && process->exec_id == out->exec_id)
		return process;
	process = process_of(out->tgid, out->start_ns, out->exec_id);
	if (!process)
		return process_of_parent(out, task);
	scratch->last.tgid = out->tgid;
	scratch->last.generation = lists;
	scratch->last.process = *process;
	return process;
}

/* Whose tick it is, and what the kernel does for it. Whether a user stack is to be walked. */
static __always_inline bool begin(struct bpf_perf_event_data *ctx, struct scratch *scratch)
{
	struct sample_record *out = &scratch->record;
	struct task_struct *task = (void *)bpf_get_current_task();

	tell_task(out, task);
	take_kernel_stack(ctx, out);
	scratch->walk.end = USER_END_NONE;
	scratch->walk.flags = 0;
	/* Kernel threads, and processes that have given their memory back on their way out. */
	if (!BPF_CORE_READ(task, mm))
		return false;

	enum registers_found found = registers_read(&scratch->walk.now, has_task_pt_regs);

	if (found == REGISTERS_32BIT)
		unwind_stop(&scratch->walk, USER_END_32BIT);
	if (found != REGISTERS_FOUND)
		return false;
	scratch->window.from = WINDOW_NOWHERE;
	scratch->window.is_useless = false;
	scratch->walk.generation = generation;
	unwind_begin(&scratch->walk, find_process(scratch, task));
	return true;
}

/* One frame more. False: there are no more, or no room for them. */
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
	unwind_part(walk);
	if (unwind_is_between(walk))
		return true;
	out->frames[at] = walk->shown;
	out->user_frames++;
	return walk->end == USER_END_NONE;
}

/* What stacks leave of the ring to samples, and more of a long one to other stacks. */
enum { STACK_SHARE = 2, MORE_SHARE = 4 };

static __always_inline bool has_room(uint64_t share)
{
	return bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA) * share <=
	       bpf_ringbuf_query(&samples, BPF_RB_RING_SIZE);
}

/* Tokens come with time. */
static __always_inline bool may_travel(struct scratch *scratch)
{
	uint64_t left = scratch->travels_left_ns, now = scratch->record.time_ns;

	left = at_most(left + (now - scratch->travels_at_ns),
		       (uint64_t)TRAVELS_BURST * ns_per_travel);
	scratch->travels_at_ns = now;
	scratch->travels_left_ns = left;
	if (left < ns_per_travel || !has_room(STACK_SHARE))
		return false;
	scratch->travels_left_ns = left - ns_per_travel;
	return true;
}

/*
 * The registers and the top of the stack, to the end of the first page of it that cannot be read,
 * behind the frames. Bytes that there are now.
 */
static __always_inline uint64_t add_stack(struct scratch *scratch, uint64_t tail)
{
	struct sample_record *out = &scratch->record;
	struct sample_registers *registers;
	uint64_t bytes = 0;

	tail = at_most(tail, sizeof(*out));
	scratch->stack_more = 0;
	registers = (void *)((char *)out + tail);
	/* The walk has changed its own. */
	if (registers_read(registers, has_task_pt_regs) != REGISTERS_FOUND)
		return tail;

	uint64_t from = registers->general[UNWIND_STACK_POINTER] & ~7ULL;
	char *to = (char *)(registers + 1);

	/* Up to the end of the page first, then whole pages. */
	for (int i = 0; i < SAMPLE_STACK_PIECES; i++) {
		uint64_t piece = SAMPLE_STACK_PIECE - ((from + bytes) & (SAMPLE_STACK_PIECE - 1));

		bytes = at_most(bytes, SAMPLE_STACK_BYTES_MAX - SAMPLE_STACK_PIECE);
		piece = at_most(piece, SAMPLE_STACK_PIECE);
		if (bpf_probe_read_user(to + bytes, (uint32_t)piece, (const void *)(from + bytes)))
			break;
		bytes += piece;
		if (i == SAMPLE_STACK_PIECES - 1)
			scratch->stack_more = from + bytes;
	}
	out->stack_bytes = (uint16_t)bytes;
	return bytes ? tail + sizeof(*registers) + bytes : tail;
}

/*
 * As much again of the stack that was sent, in a record of its own. Whether there is more. Global,
 * as walk_in_call(). What the record said before is gone.
 */
__attribute__((noinline)) int send_more(void)
{
	struct scratch *scratch = scratch_get();
	uint32_t pieces = 0;

	if (!scratch || !scratch->stack_more || !has_room(MORE_SHARE))
		return 0;

	struct sample_record *out = &scratch->record;
	struct sample_registers *registers = (void *)out->frames;
	char *to = (char *)(registers + 1);
	uint64_t from = scratch->stack_more;

	out->kernel_frames = out->user_frames = 0;
	out->user_end = USER_END_NONE;
	out->flags = SAMPLE_CONTINUES;
	__builtin_memset(registers, 0, sizeof(*registers));
	registers->general[UNWIND_STACK_POINTER] = from;
	for (; pieces < SAMPLE_STACK_PIECES; pieces++)
		if (bpf_probe_read_user(to + pieces * SAMPLE_STACK_PIECE, SAMPLE_STACK_PIECE,
					(const void *)(from + pieces * SAMPLE_STACK_PIECE)))
			break;
	if (!pieces)
		return 0;
	out->stack_bytes = (uint16_t)(pieces * SAMPLE_STACK_PIECE);
	scratch->stack_more = from + pieces * SAMPLE_STACK_PIECE;

	uint64_t bytes = offsetof(struct sample_record, frames) + sizeof(*registers) +
			 (uint64_t)pieces * SAMPLE_STACK_PIECE;

	return bpf_ringbuf_output(&samples, out, at_most(bytes, SAMPLE_BYTES_MAX),
				  BPF_RB_NO_WAKEUP) == 0 &&
	       pieces == SAMPLE_STACK_PIECES;
}

/* Of the task that runs. A kernel without the bit says no. */
static __always_inline bool is_in_exec(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return bpf_core_field_exists(task->in_execve) &&
	       BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
}

/*
 * While exec is at work the memory is the new program's and the registers are still the old one's:
 * nothing is there to walk, nor to take along. Asked only of a walk that did not leave its leaf.
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

static __always_inline void count_cuts(const struct sample_record *out)
{
	if (out->kernel_frames >= frames_max)
		count(CUT_KERNEL_TOO_DEEP);
	if (out->user_end >= USER_END_TOO_DEEP && !out->stack_bytes)
		count(CUT_USER_TOO_DEEP + (out->user_end - USER_END_TOO_DEEP));
}

static __always_inline int finish(struct scratch *scratch)
{
	struct sample_record *out = &scratch->record;

	explain_leaf(scratch);
	out->user_end = (uint16_t)scratch->walk.end;
	out->flags |= scratch->walk.flags;

	/* Out of what was listed: most often to what was mapped since, and the agent knows by then.
	 */
	if (out->user_end == USER_END_NO_MAPPING)
		out->flags |= SAMPLE_STACK_TRAVELS;

	uint64_t bytes = offsetof(struct sample_record, frames) +
			 sizeof(uint64_t) * ((uint64_t)out->kernel_frames + out->user_frames);
	bool travels = out->flags & SAMPLE_STACK_TRAVELS && may_travel(scratch);

	if (travels || all_travel)
		bytes = add_stack(scratch, bytes);
	if (bpf_ringbuf_output(&samples, out, at_most(bytes, SAMPLE_BYTES_MAX), BPF_RB_NO_WAKEUP) <
	    0) {
		count(TICK_RING_FULL);
		return 0;
	}
	count(TICK_SENT);
	if (out->flags & SAMPLE_STACK_TRAVELS)
		count(out->stack_bytes ? STACK_TRAVELLED : STACK_STAYED);
	count_cuts(out);
	if (travels && scratch->stack_more)
		for (int i = 1; i < SAMPLE_STACK_RECORDS; i++)
			if (!send_more())
				break;
	return 0;
}

/* What it is given lies on the stack: the verifier wants that. */
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

/* walk_in_calls(), put there by the agent. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(uint32_t));
} calls SEC(".maps");

/* Global, so that the verifier looks at it once, and not at each call. */
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
	unwind_stop(&scratch->walk, USER_END_TOO_DEEP); /* that was the last of the calls */
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
