// SPDX-License-Identifier: Apache-2.0
/*
 * elf_mutants - writes mutants of programs: run by tests/integration/test_mutants.py.
 *
 *     elf_mutants SEED FIRST COUNT DIRECTORY FILE...
 *
 * Writes DIRECTORY/INDEX for COUNT indexes from FIRST on: a mutant of FILE number INDEX modulo
 * their number, with a build id of its own. SEED and INDEX determine it, whatever FIRST and COUNT
 * are. Three of four mutants should still run. Prints a line for each: index, tab, file, tab, the
 * kinds of the changed fields, with commas.
 */
#include "base/hash.h"
#include "support/elf_mutant.h"

#include <fcntl.h>
#include <stdio.h>

enum { FILE_MAX = 16 << 20, BROKEN = 4 };

static size_t file_read(const char *path, char *room)
{
	FILE *file = fopen(path, "rb");
	size_t len = file ? fread(room, 1, FILE_MAX, file) : 0;

	if (!file || len == 0 || len == FILE_MAX) {
		fprintf(stderr, "elf_mutants: cannot read %s, or it is too long\n", path);
		exit(1);
	}
	fclose(file);
	return len;
}

static void file_write(const char *path, str bytes)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, bytes.ptr, bytes.len) != (ssize_t)bytes.len) {
		fprintf(stderr, "elf_mutants: cannot write %s\n", path);
		exit(1);
	}
}

static void kinds_print(uint32_t kinds)
{
	const char *before = "\t";

	for (size_t i = 0; i < ELF_FIELD_COUNT; i++)
		if (kinds & 1U << i) {
			printf("%s%s", before, elf_field_names[i]);
			before = ",";
		}
	if (kinds & ELF_MUTANT_CUT)
		printf("%scut", before);
	printf("\n");
}

static void mutant_make(uint64_t seed, uint64_t index, const char *directory, const char *file)
{
	static char room[FILE_MAX];
	uint64_t own = hash_seeded_u64(index, seed);
	hash128 more = hash_128((str){ (char *)&own, sizeof(own) });
	char path[4096], id[ELF_MUTANT_ID_BYTES] = { 0 };
	uint32_t kinds;
	size_t len = file_read(file, room);

	memcpy(id, &more, sizeof(more));
	memcpy(id + sizeof(more), &index, sizeof(id) - sizeof(more));
	if (!elf_mutant_identify(room, len, id)) {
		fprintf(stderr, "elf_mutants: %s has no build id\n", file);
		exit(1);
	}
	len = elf_mutate(room, len, own, own % BROKEN != 0, &kinds);
	snprintf(path, sizeof(path), "%s/%ju", directory, (uintmax_t)index);
	file_write(path, (str){ room, len });
	printf("%ju\t%s\t", (uintmax_t)index, file);
	for (size_t i = 0; i < sizeof(id); i++)
		printf("%02x", (uint8_t)id[i]);
	kinds_print(kinds);
}

int main(int argc, char **argv)
{
	uint64_t seed, first, count;

	if (argc < 6 || !str_to_u64(str_from(argv[1]), &seed) ||
	    !str_to_u64(str_from(argv[2]), &first) || !str_to_u64(str_from(argv[3]), &count)) {
		fprintf(stderr, "elf_mutants SEED FIRST COUNT DIRECTORY FILE...\n");
		return 2;
	}
	for (uint64_t i = first; i < first + count; i++)
		mutant_make(seed, i, argv[4], argv[5 + i % (uint64_t)(argc - 5)]);
	return 0;
}
