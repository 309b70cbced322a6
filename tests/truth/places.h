// SPDX-License-Identifier: Apache-2.0
/*
 * places - what lies where in a captured process: files, their unwind tables, lists of mappings.
 *
 * Tables are built by lib/object from the files, as the agent does it; they and the lists lie in
 * one space of pages, which a walk on the host asks by number as the BPF programs do.
 */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "capture.h"
#include "object/elf_file.h"
#include "object/unwind_file.h"
#include "unwind_maps.h"

/* A file that code is mapped from. */
struct module {
	const char *path;
	int fd; /* -1: there is none, code was generated */
	struct elf_file elf;
	struct unwind_file file;
	uint64_t table; /* number of the first page of its table; 0: none */
	const char *why_no_table;
};

struct place {
	uint64_t start, end, file_offset, bias;
	struct module *module;
};

/* One process' mappings; `changed` counts what happened to them. */
struct process_places {
	uint32_t pid;
	uint64_t changed;
	VEC(struct place) places; /* sorted by start, none overlap */
	/* of our walk: the list in pages, as of `listed` changes */
	uint64_t listed;
	struct unwind_process list;
	/* of libdwfl's: as of `reported` changes */
	uint64_t reported;
	void *dwfl;
};

struct places {
	struct arena *arena;
	VEC(const uint8_t *) pages; /* by number; the first is nobody's */
	VEC(struct module *) modules;
	VEC(struct process_places *) processes;
};

void places_init(struct places *places, struct arena *arena);

/* The process of that pid, made if it is new. */
struct process_places *places_process(struct places *places, uint32_t pid);

/* A mapping, a fork, an exec. */
void places_apply(struct places *places, const struct capture_event *event);

/* Writes the list of mappings into pages, if that has not been done since they changed. */
const struct unwind_process *places_list(struct places *places, struct process_places *process);

/* The mapping of an address, or NULL. */
const struct place *places_find(const struct process_places *process, uint64_t address);
