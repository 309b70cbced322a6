// SPDX-License-Identifier: GPL-2.0
/*
 * kernel - the few kernel types that the BPF programs read, relocated at load time (CO-RE).
 *
 * Only the members that the programs read are declared. libbpf finds their real offsets in the
 * running kernel's BTF, so this repository needs no vmlinux.h of 3 MB.
 */
#pragma once

#include <linux/types.h> /* __u64, which libbpf's headers need */
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
	unsigned int in_execve : 1; /* set before exec replaces the memory, until exec returns */
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	uint64_t start_boottime;
	uint64_t self_exec_id;
	char comm[TASK_COMM_LEN];
};

struct bpf_map {
	uint32_t id;
};

struct bpf_prog_aux {
	uint32_t used_map_cnt;
	struct bpf_map **used_maps;
};

struct bpf_prog {
	struct bpf_prog_aux *aux;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__bpf_prog {
	struct bpf_iter_meta *meta;
	struct bpf_prog *prog; /* NULL: after the last one */
};

#pragma clang attribute pop

/* For a variable that user space sets before the program is loaded and that never changes then. */
#ifndef READ_ONLY
#define READ_ONLY const volatile
#endif
