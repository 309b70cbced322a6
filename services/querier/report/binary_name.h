// SPDX-License-Identifier: Apache-2.0
/*
 * binary_name - the name of a binary without its directory and version.
 *
 * The same program is found at other paths after each deployment (releases/7/shop, a Nix store),
 * and a shared library has its version in its name. So that a function is the same one before and
 * after, its binary is compared by this name. Pure; any thread. Results are parts of the arguments.
 */
#pragma once

#include "base/str.h"

/*
 * The last component of a path, without the " (deleted)" that the kernel appends to a file that was
 * removed: "/opt/7/shop (deleted)" is "shop". "[vdso]" and "[kernel.kallsyms]" stay as they are.
 */
str binary_base_name(str path);

/*
 * A base name without the version of a shared library: what follows ".so", if it is digits and
 * dots, and a "-" with digits and at least one dot before it. "libssl.so.3", "libssl.so.1.1" and
 * "libssl-2.31.so" are "libssl" with the suffix ".so". Other digits belong to the name:
 * "libpython3.11.so.1.0" is "libpython3.11", "ld-linux-x86-64.so.2" is "ld-linux-x86-64". A name
 * that is not a shared library's, like "python3.11", is all stem.
 */
struct unversioned_name {
	str stem, suffix;
};
struct unversioned_name binary_unversioned(str base_name);

/* Order of names without their versions; 0: they are one binary. */
int binary_name_compare(str base_name_a, str base_name_b);
