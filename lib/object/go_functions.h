// SPDX-License-Identifier: Apache-2.0
/*
 * go_functions - the functions that a Go program knows itself by: .gopclntab, which it needs to
 * print its own stacks and so keeps when it is stripped.
 *
 * Files, lines, first lines, and from Go 1.20 on what was inlined, if the program's data is there
 * (a debug file may be without). Go 1.16 to this day.
 */
#pragma once

#include "symbol_model.h"

/* Nothing is added of what is no Go program, or of a version that we do not know. ERR_LIMIT: the
 * model is full. */
bool go_functions_read(int fd, const struct elf_sections *sections, struct symbol_model *model,
		       struct err *err) MUST_CHECK;
