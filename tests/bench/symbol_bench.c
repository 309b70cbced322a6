// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_bench - measures the build of a symbol table and lookups in it: run by
 * tests/bench/bench_symbols.py.
 *
 *     symbol_bench ELF TABLE ROUNDS LOOKUPS <ADDRESSES
 *
 * Addresses are hexadecimal, one per line. Prints a line for each round: milliseconds of CPU time
 * to build, to open, and for LOOKUPS lookups of the addresses in turn; then the number of lines
 * found, so that the compiler cannot remove the lookups.
 */
#include "base/vec.h"
#include "symbols/symbol_build.h"
#include "symbols/symbol_table.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

typedef VEC(uint64_t) addresses;

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static addresses addresses_read(struct arena *arena)
{
	addresses found = { 0 };
	char text[64];
	uint64_t address;

	while (fgets(text, sizeof(text), stdin))
		if (str_hex_to_u64(str_trim(str_from(text)), &address))
			*vec_push(arena, &found) = address;
	return found;
}

static uint64_t look_up(const struct symbol_table *table, const addresses *all, uint64_t count)
{
	struct symbol_line lines[SYMBOL_LINES_MAX];
	uint64_t found = 0;

	for (uint64_t i = 0; i < count; i++)
		found += symbol_table_find(table, all->items[i % all->len], lines);
	return found;
}

static bool round_run(const char *elf, const char *path, const addresses *all, uint64_t lookups,
		      struct err *err)
{
	AUTO_FD elf_fd = open(elf, O_RDONLY | O_CLOEXEC);
	AUTO_FD table_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct symbol_table table = { 0 };
	double start = cpu_ms(), built, opened, found_at;

	if (elf_fd < 0 || table_fd < 0)
		return err_errno(err, "open %s", elf_fd < 0 ? elf : path);
	if (!symbol_build(&(struct symbol_build_options){ 0 }, elf_fd, table_fd, err))
		return false;
	built = cpu_ms();
	if (!symbol_table_open(&table, table_fd, err))
		return false;
	opened = cpu_ms();
	look_up(&table, all, all->len); /* warm */
	found_at = cpu_ms();

	uint64_t found = look_up(&table, all, lookups);

	printf("%.3f %.3f %.3f %ju\n", built - start, opened - built, cpu_ms() - found_at,
	       (uintmax_t)found);
	symbol_table_close(&table);
	return true;
}

int main(int argc, char **argv)
{
	AUTO_ARENA arena = { 0 };
	uint64_t rounds, lookups;
	struct err err = { 0 };

	if (argc != 5 || !str_to_u64(str_from(argv[3]), &rounds) ||
	    !str_to_u64(str_from(argv[4]), &lookups)) {
		fprintf(stderr, "symbol_bench: ELF TABLE ROUNDS LOOKUPS <ADDRESSES\n");
		return 2;
	}

	addresses all = addresses_read(&arena);

	if (!all.len)
		return 2;
	for (uint64_t i = 0; i < rounds; i++)
		if (!round_run(argv[1], argv[2], &all, lookups, &err)) {
			fprintf(stderr, "symbol_bench: %s\n", err.msg);
			return 1;
		}
	return 0;
}
