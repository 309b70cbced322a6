/*
 * The BPF program itself, compiled for the host: this file plays the kernel.
 */
#include "../../bpf/sampler.bpf.c"
#include "test.h"

#include <string.h>

static struct task_struct leader = {
	.start_boottime = 77, .self_exec_id = 3, .comm = "nginx", .group_leader = &leader
};
static struct mm_struct {
	int unused;
} memory;
static struct task_struct task = { .group_leader = &leader, .comm = "worker", .mm = &memory };
static struct sample_record made, sent;
static uint64_t pid_tgid, sent_bytes, counted[SAMPLER_COUNT_COUNT];
static long kernel_bytes, user_bytes;
static bool ring_full;

uint64_t bpf_get_current_pid_tgid(void)
{
	return pid_tgid;
}
uint64_t bpf_get_current_task(void)
{
	return (uint64_t)&task;
}
uint64_t bpf_get_current_cgroup_id(void)
{
	return 9;
}
uint64_t bpf_ktime_get_ns(void)
{
	return 1000;
}
uint32_t bpf_get_smp_processor_id(void)
{
	return 1;
}
long bpf_get_current_comm(void *to, uint32_t room)
{
	memcpy(to, task.comm, room);
	return 0;
}
long bpf_probe_read_kernel(void *to, uint32_t room, const void *from)
{
	memcpy(to, from, room);
	return 0;
}
long bpf_get_stack(void *ctx, void *to, uint32_t room, uint64_t flags)
{
	long bytes = flags & BPF_F_USER_STACK ? user_bytes : kernel_bytes;

	(void)ctx;
	assert_true(bytes <= (long)room);
	if (bytes > 0)
		memset(to, flags & BPF_F_USER_STACK ? 'u' : 'k', (size_t)bytes);
	return bytes;
}
void *bpf_map_lookup_elem(void *map, const void *key)
{
	uint32_t index = *(const uint32_t *)key;

	if (map == &counts) {
		assert_true(index < SAMPLER_COUNT_COUNT);
		return &counted[index];
	}
	return &made;
}
long bpf_ringbuf_output(void *ring, void *data, uint64_t size, uint64_t flags)
{
	assert_true(ring == &samples);
	assert_true(flags == BPF_RB_NO_WAKEUP);
	assert_true(size <= sizeof(struct sample_record));
	if (ring_full)
		return -11;
	memcpy(&sent, data, size);
	sent_bytes = size;
	return 0;
}

static void tick(uint32_t tgid, uint32_t tid, long kernel, long user)
{
	struct bpf_perf_event_data ctx = { 0 };

	memset(counted, 0, sizeof(counted));
	memset(&made, 0xee, sizeof(made)); /* what the tick before left there */
	memset(&sent, 0, sizeof(sent));
	sent_bytes = 0;
	pid_tgid = (uint64_t)tgid << 32 | tid;
	kernel_bytes = kernel;
	user_bytes = user;
	assert_int_equal(sample(&ctx), 0);
}

static void sends_both_stacks_and_no_more_bytes_than_they_have(void **state)
{
	(void)state;
	tick(100, 101, 16, 24);

	assert_int_equal(counted[TICK_SENT], 1);
	assert_int_equal(sent_bytes, offsetof(struct sample_record, frames) + 40);
	assert_int_equal(sent.kernel_frames, 2);
	assert_int_equal(sent.user_frames, 3);
	assert_memory_equal(sent.frames, "kkkkkkkkkkkkkkkkuuuuuuuuuuuuuuuuuuuuuuuu", 40);
	assert_int_equal(sent.user_end, USER_END_FRAME_POINTERS);
}

static void tells_the_process_by_its_leader_and_the_thread_by_itself(void **state)
{
	(void)state;
	tick(100, 101, 16, 24);

	assert_int_equal(sent.time_ns, 1000);
	assert_int_equal(sent.start_ns, 77);
	assert_int_equal(sent.exec_id, 3);
	assert_int_equal(sent.cgroup_id, 9);
	assert_int_equal(sent.tgid, 100);
	assert_int_equal(sent.tid, 101);
	assert_int_equal(sent.cpu, 1);
	assert_int_equal(sent.flags, 0);
	assert_int_equal(sent.reserved, 0);
	assert_string_equal(sent.comm, "nginx");
	assert_string_equal(sent.thread_comm, "worker");
}

static void keeps_a_kernel_thread_and_asks_for_no_user_stack(void **state)
{
	(void)state;
	task.flags = PF_KTHREAD;
	task.mm = NULL;
	tick(2, 2, 16, 24);
	task.flags = 0;
	task.mm = &memory;

	assert_int_equal(counted[TICK_SENT], 1);
	assert_int_equal(sent.flags, SAMPLE_KERNEL_THREAD);
	assert_int_equal(sent.kernel_frames, 2);
	assert_int_equal(sent.user_frames, 0);
	assert_int_equal(sent.user_end, USER_END_NONE);
	assert_int_equal(counted[CUT_USER_READ_FAULT], 0);
}

static void keeps_a_process_at_its_end_that_has_no_memory_any_more(void **state)
{
	(void)state;
	task.mm = NULL;
	tick(100, 100, 16, 24);
	task.mm = &memory;

	assert_int_equal(counted[TICK_SENT], 1);
	assert_int_equal(sent.flags, 0);
	assert_int_equal(sent.user_end, USER_END_NONE);
	assert_int_equal(counted[CUT_USER_READ_FAULT], 0);
}

static void keeps_a_process_whose_stacks_cannot_be_read(void **state)
{
	(void)state;
	tick(100, 100, -14, -14);

	assert_int_equal(counted[TICK_SENT], 1);
	REASON_MOVED("agent.user_read_fault", counted[CUT_USER_READ_FAULT], 1);
	assert_int_equal(sent_bytes, offsetof(struct sample_record, frames));
	assert_int_equal(sent.user_end, USER_END_READ_FAULT);
}

static void counts_stacks_that_fill_their_room_as_cut(void **state)
{
	(void)state;
	tick(100, 100, KERNEL_ROOM, USER_ROOM);

	assert_int_equal(counted[TICK_SENT], 1);
	REASON_MOVED("agent.kernel_too_deep", counted[CUT_KERNEL_TOO_DEEP], 1);
	assert_int_equal(counted[CUT_USER_TOO_DEEP], 1);
	assert_int_equal(sent_bytes, sizeof(struct sample_record));
	assert_int_equal(sent.user_end, USER_END_TOO_DEEP);
}

/* kernel.perf_event_max_stack may be lower than our room. */
static void counts_stacks_that_the_kernel_itself_cuts(void **state)
{
	(void)state;
	frames_max = 16;
	tick(100, 100, 16 * sizeof(uint64_t), 15 * sizeof(uint64_t));
	assert_int_equal(counted[CUT_KERNEL_TOO_DEEP], 1);
	assert_int_equal(counted[CUT_USER_TOO_DEEP], 0);
	tick(100, 100, 15 * sizeof(uint64_t), 16 * sizeof(uint64_t));
	frames_max = KERNEL_FRAMES_MAX;

	assert_int_equal(counted[CUT_KERNEL_TOO_DEEP], 0);
	assert_int_equal(counted[CUT_USER_TOO_DEEP], 1);
	assert_int_equal(sent.user_end, USER_END_TOO_DEEP);
}

static void counts_a_full_ring_as_lost_and_nothing_else(void **state)
{
	(void)state;
	ring_full = true;
	tick(100, 100, KERNEL_ROOM, USER_ROOM);
	ring_full = false;

	assert_int_equal(counted[TICK_RING_FULL], 1);
	assert_int_equal(counted[TICK_SENT], 0);
	assert_int_equal(counted[CUT_USER_TOO_DEEP], 0);
}

static void skips_idle_but_counts_it(void **state)
{
	(void)state;
	tick(0, 0, 16, 24);

	assert_int_equal(counted[TICK_IDLE], 1);
	assert_int_equal(sent_bytes, 0);
}

RUN_TESTS(TEST(sends_both_stacks_and_no_more_bytes_than_they_have),
	  TEST(tells_the_process_by_its_leader_and_the_thread_by_itself),
	  TEST(keeps_a_kernel_thread_and_asks_for_no_user_stack),
	  TEST(keeps_a_process_at_its_end_that_has_no_memory_any_more),
	  TEST(keeps_a_process_whose_stacks_cannot_be_read),
	  TEST(counts_stacks_that_fill_their_room_as_cut),
	  TEST(counts_stacks_that_the_kernel_itself_cuts),
	  TEST(counts_a_full_ring_as_lost_and_nothing_else), TEST(skips_idle_but_counts_it))
