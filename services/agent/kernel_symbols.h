// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_symbols - the names of kernel addresses: the kernel, its modules, BPF programs.
 *
 * Kernel code is named at once, because only this host, and only now, knows what lies where. The
 * table comes from /proc/kallsyms; BPF programs and trampolines that come and go are told by the
 * side band; a change of /proc/modules or an address nobody knows brings a new table. Agent thread
 * only.
 */
#pragma once

#include "base/err.h"
#include "kallsyms.h"
#include "sideband_record.h"

struct kernel_symbols_dynamic;

struct kernel_symbols {
	size_t count;
	uint64_t reloads, unknown, over_limit; /* cumulative */
	bool hidden; /* the kernel hides its addresses: nothing can be named */
	/* private */
	struct kallsyms table;
	struct kernel_symbols_dynamic *dynamic; /* sorted by address */
	size_t dynamic_count;
	uint64_t modules_hash, loaded_ms;
	bool missed;
};

bool kernel_symbols_open(struct kernel_symbols *symbols, struct err *err) MUST_CHECK;
void kernel_symbols_close(struct kernel_symbols *symbols);

/* A SIDE_BAND_KSYMBOL record. */
void kernel_symbols_apply(struct kernel_symbols *symbols, const struct side_band_record *record);

/* Read the table anew if there is a reason to; now and then, between intervals. */
void kernel_symbols_refresh(struct kernel_symbols *symbols);

struct kernel_symbol {
	str name;   /* good until the next apply or refresh */
	str module; /* "[kernel.kallsyms]", "[nf_tables]", "[bpf]" */
};

/* Never fails: what is not known is called so. */
struct kernel_symbol kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address);
