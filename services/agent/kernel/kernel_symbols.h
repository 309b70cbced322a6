// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_symbols - symbolizes kernel addresses: the kernel, its modules, BPF programs.
 *
 * Kernel frames are symbolized in the agent, because only this host knows its kernel's addresses,
 * and only while it runs. The table is read from /proc/kallsyms. Sideband events report BPF
 * programs and trampolines that come and go. The table is read again after a change of
 * /proc/modules or after an unknown address. At the start a thread of its own reads it, so that
 * sampling can begin; the first search waits for its end. Agent thread only. The struct must not
 * move until kernel_symbols_close().
 */
#pragma once

#include "agent/kernel/kallsyms_internal.h"
#include "agent/process/sideband_record.h"
#include "base/err.h"

#include <pthread.h>
#include <stdio.h>

struct kernel_symbols_dynamic;

struct kernel_symbols {
	size_t count;
	uint64_t reloads, unknown, over_limit; /* cumulative; unknown: addresses without a symbol */
	bool hidden; /* the kernel hides its addresses: all names are "[hidden]" */
	/* private */
	struct kallsyms table;
	struct kernel_symbols_dynamic *dynamic; /* sorted by address */
	size_t dynamic_count;
	uint64_t modules_hash, loaded_ms;
	bool missed;
	/* The first load. The thread writes `first` alone. */
	pthread_t thread;
	bool is_loading, has_thread;
	struct kernel_symbols_load {
		FILE *file;
		struct kallsyms table;
		bool is_truncated;
	} first;
};

/* Begins to read the table. ERR_IO, ERR_NOT_FOUND: /proc/kallsyms cannot be opened; there is
 * nothing to close. If the kernel hides its addresses, a warning is logged later. */
bool kernel_symbols_open(struct kernel_symbols *symbols, struct err *err) MUST_CHECK;

/* Frees the memory. Accepts a zeroed struct. */
void kernel_symbols_close(struct kernel_symbols *symbols);

/* Applies a SIDEBAND_KSYMBOL record: a symbol was added or removed. The name is copied. Beyond
 * KSYMBOLS_MAX a new symbol is not kept and is counted. */
void kernel_symbols_apply(struct kernel_symbols *symbols, const struct sideband_record *record);

/*
 * Reads the table again if it may be outdated, at most every KALLSYMS_REFRESH_MS. Called between
 * intervals, because it invalidates the texts of kernel_symbols_find(). A failure is logged, and
 * the old table stays.
 */
void kernel_symbols_refresh(struct kernel_symbols *symbols);

/* The texts borrow from the table until the next kernel_symbols_apply() or
 * kernel_symbols_refresh(). */
struct kernel_symbol {
	str name;   /* "[unknown]": no symbol; "[hidden]": the kernel hides its addresses */
	str module; /* "[kernel.kallsyms]", "[nf_tables]", "[bpf]" */
};

/* Cannot fail: the name of an unknown address is "[unknown]". */
struct kernel_symbol kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address);
