// SPDX-License-Identifier: GPL-2.0
/*
 * registers - the user-mode registers of the current thread.
 *
 * The kernel saves them at the top of the thread's kernel stack when the thread enters the kernel.
 * If the tick interrupts user mode, the interrupt itself has saved the registers there. BPF only.
 */
#pragma once

#include "kernel.h"
#include "sample.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf_perf_event.h>

enum registers_found { REGISTERS_NONE, REGISTERS_FOUND, REGISTERS_32BIT };

#if defined(__TARGET_ARCH_arm64)

enum { PSTATE_MODE = 0xf, PSTATE_32BIT = 0x10 };

static __always_inline bool registers_in_user_mode(const bpf_user_pt_regs_t *at_tick)
{
	return !(at_tick->pstate & PSTATE_MODE);
}

/* REGISTERS_NONE: the thread was never in user mode, or the bytes there are not registers. */
static __always_inline enum registers_found registers_kind(const bpf_user_pt_regs_t *user)
{
	if (user->pstate & PSTATE_MODE || user->pc == 0)
		return REGISTERS_NONE;
	return user->pstate & PSTATE_32BIT ? REGISTERS_32BIT : REGISTERS_FOUND;
}

static __always_inline void registers_copy(struct sample_registers *to,
					   const bpf_user_pt_regs_t *user)
{
	to->pc = user->pc;
	for (int i = 0; i < 31; i++)
		to->general[i] = user->regs[i];
	to->general[31] = user->sp;
}

#else

enum { PRIVILEGE_USER = 3, USER32_CODE_SEGMENT = 0x23 };

static __always_inline bool registers_in_user_mode(const bpf_user_pt_regs_t *at_tick)
{
	return (at_tick->cs & PRIVILEGE_USER) == PRIVILEGE_USER;
}

static __always_inline enum registers_found registers_kind(const bpf_user_pt_regs_t *user)
{
	if ((user->cs & PRIVILEGE_USER) != PRIVILEGE_USER || user->rip == 0)
		return REGISTERS_NONE;
	return user->cs == USER32_CODE_SEGMENT ? REGISTERS_32BIT : REGISTERS_FOUND;
}

static __always_inline void registers_copy(struct sample_registers *to,
					   const bpf_user_pt_regs_t *user)
{
	uint64_t *general = to->general;

	to->pc = user->rip;
	general[0] = user->rax;
	general[1] = user->rdx;
	general[2] = user->rcx;
	general[3] = user->rbx;
	general[4] = user->rsi;
	general[5] = user->rdi;
	general[6] = user->rbp;
	general[7] = user->rsp;
	general[8] = user->r8;
	general[9] = user->r9;
	general[10] = user->r10;
	general[11] = user->r11;
	general[12] = user->r12;
	general[13] = user->r13;
	general[14] = user->r14;
	general[15] = user->r15;
}

#endif

/* In a kernel built with another stack size the registers lie elsewhere. The bytes that are read
 * then fail the check in registers_kind(). */
enum { KERNEL_STACK_BYTES = 16384 };

static __always_inline enum registers_found registers_read(struct sample_registers *to,
							   bool has_task_pt_regs)
{
	bpf_user_pt_regs_t user = { 0 };
	const void *from;

	if (has_task_pt_regs) {
		from = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	} else {
		struct task_struct *task = (void *)bpf_get_current_task();

		from = (char *)BPF_CORE_READ(task, stack) + KERNEL_STACK_BYTES - sizeof(user);
	}
	if (bpf_probe_read_kernel(&user, sizeof(user), from))
		return REGISTERS_NONE;

	enum registers_found found = registers_kind(&user);

	if (found != REGISTERS_NONE)
		registers_copy(to, &user);
	return found;
}
