// SPDX-License-Identifier: Apache-2.0
/*
 * kallsyms - a compact table of the kernel's functions, built from lines of /proc/kallsyms.
 *
 *     while (...)
 *             kallsyms_add(&table, line);
 *     kallsyms_finish(&table);
 *
 * A zeroed struct is a valid, empty table; kallsyms_done() frees it. No I/O. One thread at a time.
 */
#pragma once

#include "agent/agent_limits.h"
#include "base/str.h"

struct kallsyms_symbol {
	uint64_t address;
	uint32_t name; /* offset in `names` */
	uint16_t module;
	uint16_t name_len;
};

struct kallsyms {
	struct kallsyms_symbol *symbols; /* sorted after kallsyms_finish() */
	size_t count;
	bool hidden; /* all addresses are 0: kernel.kptr_restrict, or a missing capability */
	/* private */
	size_t cap, names_len, names_cap, module_count, module_cap;
	char *names;
	uint32_t *modules; /* offsets of "[name]", NUL-terminated; 0 is the kernel itself */
};

/* Adds a line "ffffffff81000000 T _text" or "... t name\t[module]". Data symbols, markers and
 * malformed lines are ignored. */
void kallsyms_add(struct kallsyms *table, str line);

/* Sorts the table after the last kallsyms_add(). Of several names of one address the first that was
 * added is kept. */
void kallsyms_finish(struct kallsyms *table);

/* Frees the memory. The table is empty afterwards. */
void kallsyms_done(struct kallsyms *table);

/* Finds the function that contains the address. The texts borrow from the table until it changes.
 * False, with the outputs unchanged: no function begins within 256 KB below the address. */
bool kallsyms_find(const struct kallsyms *table, uint64_t address, str *ret_name,
		   str *ret_module) MUST_CHECK;
