// SPDX-License-Identifier: Apache-2.0
/*
 * build_worker - a child process that builds one symbol table from an untrusted debug file.
 *
 * It is a program of its own, which links little and so starts fast, and a SANDBOX_PARSER
 * ("sandbox/sandbox.h"): it has the descriptors of its job and nothing else. The first job passes
 * the debug file and an empty file for the table. If the debug file refers to a file of dwz, the
 * report is BUILD_NEEDS_ALT, and a second job passes that file, or no descriptor. After BUILD_DONE
 * the process exits, so its memory does not grow.
 */
#pragma once

#include "elf/build_id.h"
#include "wire/symbolize.h"

struct build_job {
	char unused; /* a job is its descriptors */
};

enum build_stage { BUILD_NEEDS_ALT, BUILD_DONE };

struct build_report {
	enum build_stage stage;
	struct build_id alt_id;  /* at BUILD_NEEDS_ALT */
	enum name_reason reason; /* at BUILD_DONE; NAME_KNOWN: the table is written */
	char why[256];
};

#define BUILD_WORKER_PROGRAM "decima-symbolizer-builder"
