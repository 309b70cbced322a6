// SPDX-License-Identifier: Apache-2.0
/*
 * bpf_helpers - the BPF helper functions, implemented by the test instead of the kernel.
 *
 * First on the include path when a unit test includes a .bpf.c file. So the code that runs in the
 * kernel runs here unchanged, under the sanitizers.
 */
#pragma once

#include <stdint.h>

#define SEC(name)
#define __uint(name, val)  int(*name)[val]
#define __type(name, val)  __typeof__(val) *name
#define __array(name, val) __typeof__(val) *name[]
#define barrier_var(var)   ((void)(var))

enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_AVAIL_DATA = 0, BPF_RB_RING_SIZE = 1 };

struct task_struct;

void *bpf_map_lookup_elem(void *map, const void *key);
uint64_t bpf_get_current_pid_tgid(void);
uint64_t bpf_get_current_task(void);
uint64_t bpf_get_current_cgroup_id(void);
uint64_t bpf_ktime_get_ns(void);
uint32_t bpf_get_smp_processor_id(void);
long bpf_get_current_comm(void *to, uint32_t room);
struct task_struct *bpf_get_current_task_btf(void);
long bpf_task_pt_regs(struct task_struct *of);
long bpf_loop(uint32_t rounds, void *callback, void *data, uint64_t flags);
long bpf_tail_call(void *ctx, void *programs, uint32_t index);
uint64_t bpf_ringbuf_query(void *ring, uint64_t flags);
long bpf_probe_read_user(void *to, uint32_t room, const void *from);
long bpf_probe_read_kernel(void *to, uint32_t room, const void *from);
long bpf_get_stack(void *ctx, void *to, uint32_t room, uint64_t flags);
long bpf_ringbuf_output(void *ring, void *data, uint64_t size, uint64_t flags);
