// SPDX-License-Identifier: Apache-2.0
/*
 * demangle - turns the linker's name of a function into its name in the source. Any thread.
 */
#pragma once

#include "base/str.h"

/*
 * "_Z1fi" becomes "f(int)"; both manglings of Rust become names such as "core::fmt::write".
 * Suffixes that the compiler added (".cold", ".isra.0") are kept in libiberty's form: " [clone
 * .cold]". Returns system_name itself if it cannot be demangled, is longer than DEMANGLE_MAX bytes,
 * or its demangled form is longer than DEMANGLED_MAX bytes; otherwise the result is in the arena.
 * Cannot fail.
 */
str demangle(str system_name, struct arena *arena);
