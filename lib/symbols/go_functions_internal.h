// SPDX-License-Identifier: Apache-2.0
/*
 * go_functions - reads functions from .gopclntab into the symbol model.
 *
 * A Go program needs .gopclntab to print its own stacks, so a stripped program still has it. It has
 * the files, the lines and, since Go 1.20, the first line of each function and the inlined calls.
 * Inlined calls are read only if the file has the program's data; a debug file may lack it. Go 1.16
 * and later. One thread.
 */
#pragma once

#include "symbols/symbol_model_internal.h"

/*
 * Adds functions, inlined calls and lines to the model. If the file is not a Go program, or its
 * version is unknown, nothing is added. ERR_LIMIT: the model exceeds its bounds, or a section is
 * larger than GO_TABLE_MAX.
 */
bool go_functions_read(int fd, const struct elf_sections *sections, struct symbol_model *model,
		       struct err *err) MUST_CHECK;
