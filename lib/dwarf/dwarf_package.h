// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_package - finds the split unit of a skeleton unit in a package (.dwp).
 *
 * With -gsplit-dwarf the executable has skeleton units: addresses, range lists before DWARF 5, and
 * line tables. The entries of each unit are in a .dwo file; dwp and llvm-dwp join these files to a
 * package, whose index (.debug_cu_index) has the parts of its sections that belong to a unit.
 * DWARF 5 and the GNU extension of DWARF 4 have the same structure.
 *
 * A unit of another program is never returned: the 64-bit id of the unit, a hash that the compiler
 * made of its contents, must match. One thread.
 */
#pragma once

#include "dwarf/dwarf_file.h"

/*
 * The split unit of a loaded skeleton unit: loaded, with a struct dwarf_file of its own in the
 * package's arena, whose sections are the unit's parts of the package, and the executable's
 * addresses, ranges and lines. It borrows from both files. Adds its work to *steps: the probes of
 * the index, and the bytes of the unit, which a malicious index returns for many skeletons. NULL:
 * the package does not have the unit, or it is malformed.
 */
struct dwarf_unit *dwarf_package_find(const struct dwarf_file *package,
				      const struct dwarf_unit *skeleton, uint64_t *steps);
