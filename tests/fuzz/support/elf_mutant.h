// SPDX-License-Identifier: Apache-2.0
/*
 * elf_mutant - changes fields of a valid ELF file, so that it stays almost valid.
 *
 * A random change of a byte rarely passes the first checks of a parser. A mutant differs from a
 * valid file in a few fields (elf_fields.h), whose values are those that break parsers: 0, 1, the
 * largest, one more and one less, sizes beyond the file, offsets that point backwards or to
 * themselves, and the values of other fields. The fuzzers mutate with it, the unit tests try
 * mutants of the corpus, and tests/integration/test_mutants.py gives mutants to the real services.
 *
 * Equal arguments make equal mutants. Any thread.
 */
#pragma once

#include "support/elf_fields.h"

/*
 * Changes one to four fields of the image; fields that a program needs to run are left as they are
 * if it `has_to_run`. Returns the new length, which is at most len: now and then the file is cut.
 * *ret_kinds, if not NULL, is a bit for each kind of a changed field (1 << enum elf_field_kind),
 * and ELF_MUTANT_CUT.
 */
size_t elf_mutate(char *image, size_t len, uint64_t seed, bool has_to_run, uint32_t *ret_kinds);

enum { ELF_MUTANT_CUT = 1 << ELF_FIELD_COUNT };

enum { ELF_MUTANT_ID_BYTES = 20 };

/* Replaces the GNU build id of the image. False: it has none of 20 bytes. */
bool elf_mutant_identify(char *image, size_t len, const char id[static ELF_MUTANT_ID_BYTES]);
