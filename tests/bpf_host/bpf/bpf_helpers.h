/*
 * bpf_helpers - the BPF helper calls, answered by the test instead of the kernel.
 *
 * First on the include path when a unit test includes a .bpf.c file, so that the very code that
 * ships in the kernel runs here under the sanitizers.
 */
#pragma once

#include <stdint.h>

#define SEC(name)
#define __uint(name, val) int(*name)[val]
#define __type(name, val) __typeof__(val) *name
#define barrier_var(var)  ((void)(var))

enum { BPF_F_USER_STACK = 1 << 8, BPF_RB_NO_WAKEUP = 1 };

void *bpf_map_lookup_elem(void *map, const void *key);
uint64_t bpf_get_current_pid_tgid(void);
uint64_t bpf_get_current_task(void);
uint64_t bpf_get_current_cgroup_id(void);
uint64_t bpf_ktime_get_ns(void);
uint32_t bpf_get_smp_processor_id(void);
long bpf_get_current_comm(void *to, uint32_t room);
long bpf_probe_read_kernel(void *to, uint32_t room, const void *from);
long bpf_get_stack(void *ctx, void *to, uint32_t room, uint64_t flags);
long bpf_ringbuf_output(void *ring, void *data, uint64_t size, uint64_t flags);
