// SPDX-License-Identifier: Apache-2.0
/*
 * kallsyms - a compact table of the kernel's functions, made of the lines of /proc/kallsyms. Pure.
 *
 *     while (...)
 *             kallsyms_add(&table, line);
 *     kallsyms_finish(&table);
 */
#pragma once

#include "agent_limits.h"
#include "base/str.h"

struct kallsyms_symbol {
	uint64_t address;
	uint32_t name; /* offset in `names` */
	uint16_t module;
	uint16_t name_len;
};

struct kallsyms {
	struct kallsyms_symbol *symbols; /* sorted once finished */
	size_t count;
	bool hidden; /* addresses were given as 0: kernel.kptr_restrict, or no right to see them */
	/* private */
	size_t cap, names_len, names_cap, module_count, module_cap;
	char *names;
	uint32_t *modules; /* offsets of "[name]", NUL-terminated; 0 is the kernel itself */
};

/* A line as "ffffffff81000000 T _text" or "... t name\t[module]"; data and markers are left out. */
void kallsyms_add(struct kallsyms *table, str line);
void kallsyms_finish(struct kallsyms *table);
void kallsyms_done(struct kallsyms *table);

/* The function that holds the address. False: none that could. */
bool kallsyms_find(const struct kallsyms *table, uint64_t address, str *ret_name,
		   str *ret_module) MUST_CHECK;
