// SPDX-License-Identifier: GPL-2.0
/*
 * kernel - the few kernel types we read, relocated at load time (CO-RE).
 *
 * Only the members we touch are declared; libbpf finds their real offsets in the running kernel's
 * BTF. This is why there is no 3 MB vmlinux.h in this repository.
 */
#pragma once

#include <linux/types.h> /* __u64, which libbpf's headers expect to find */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mm_struct;

enum { TASK_COMM_LEN = 16, PF_KTHREAD = 0x00200000 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct {
	unsigned int flags;
	int tgid;
	void *stack;
	unsigned int in_execve : 1; /* from before the memory is another's until it returns */
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	uint64_t start_boottime;
	uint64_t self_exec_id;
	char comm[TASK_COMM_LEN];
};

#pragma clang attribute pop

/* Of a variable that user space sets before the program is loaded, and nobody after. */
#ifndef READ_ONLY
#define READ_ONLY const volatile
#endif
