// SPDX-License-Identifier: Apache-2.0
/*
 * places - the address space of a captured process: files, their unwind tables, lists of mappings.
 *
 * lib/unwind builds the tables from the files, as in the agent. Tables and lists are in one
 * numbered space of pages; a walk on the host reads pages by number, as the BPF programs do.
 */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "bpf/unwind_maps.h"
#include "capture.h"
#include "elf/elf_file.h"
#include "unwind/unwind_file.h"

/* A file with mapped code. */
struct module {
	const char *path;
	int fd; /* -1: no file, generated code */
	struct elf_file elf;
	struct unwind_file file;
	uint64_t table; /* number of the first page of its table; 0: none */
	const char *why_no_table;
};

struct place {
	uint64_t start, end, file_offset, bias;
	struct module *module;
};

/* The mappings of a process; `changed` counts their changes. */
struct process_places {
	uint32_t pid;
	uint64_t changed;
	VEC(struct place) places; /* sorted by start, none overlap */
	/* for our walk: the list in pages, after `listed` changes */
	uint64_t listed;
	struct unwind_process list;
	/* for libdwfl: after `reported` changes */
	uint64_t reported;
	void *dwfl;
};

struct places {
	struct arena *arena;
	VEC(const uint8_t *) pages; /* by number; the first is unused */
	VEC(struct module *) modules;
	VEC(struct process_places *) processes;
};

void places_init(struct places *places, struct arena *arena);

/* The process with this pid, added if it is new. */
struct process_places *places_process(struct places *places, uint32_t pid);

/* Applies a mapping, a fork or an exec. */
void places_apply(struct places *places, const struct capture_event *event);

/* Writes the list of mappings into pages, if it has changed. */
const struct unwind_process *places_list(struct places *places, struct process_places *process);

/* The mapping of an address, or NULL. */
const struct place *places_find(const struct process_places *process, uint64_t address);
