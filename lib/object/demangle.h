// SPDX-License-Identifier: Apache-2.0
/*
 * demangle - what a function is called in its source, out of what the linker calls it.
 */
#pragma once

#include "base/str.h"

/*
 * "f(int)" of "_Z1fi", "core::fmt::write" of Rust's both manglings; the name itself where it is no
 * such name, or beyond DEMANGLE_MAX. Suffixes of parts that the compiler made (".cold", ".isra.0")
 * stay, as libiberty writes them: " [clone .cold]". In the arena, or system_name itself.
 */
str demangle(str system_name, struct arena *arena);
