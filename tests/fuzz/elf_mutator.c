// SPDX-License-Identifier: Apache-2.0
/*
 * elf_mutator - libFuzzer's mutations of an ELF file: of its fields, and now and then of any bytes.
 */
#include "support/elf_mutant.h"

enum { ANY_BYTES = 4 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
	size_t len = seed % ANY_BYTES ? elf_mutate((char *)data, size, seed, false, NULL) : 0;

	return len ? len : LLVMFuzzerMutate(data, size, size_max);
}
