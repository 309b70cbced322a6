// SPDX-License-Identifier: Apache-2.0
/*
 * kallsyms - a compact table of the kernel's functions, built from lines of /proc/kallsyms. Pure.
 *
 *     while (...)
 *             kallsyms_add(&table, line);
 *     kallsyms_finish(&table);
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
void kallsyms_finish(struct kallsyms *table);
void kallsyms_done(struct kallsyms *table);

/* Finds the function that contains the address; the texts borrow from the table. False: there is no
 * function within 256 KB below the address. */
bool kallsyms_find(const struct kallsyms *table, uint64_t address, str *ret_name,
		   str *ret_module) MUST_CHECK;
