// SPDX-License-Identifier: Apache-2.0
/*
 * run_mutants - feeds mutants of the files of a directory to a fuzzer's entry, without a fuzzer.
 *
 *     run_mutants DIRECTORY COUNT [FIRST]
 *
 * COUNT mutants of each file, from the seed FIRST (0) on. If one breaks the parser, it is written
 * to mutant-NAME-SEED in the current directory.
 */
#include "base/hash.h"
#include "support/elf_mutant.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* of the sanitizers' runtime, if there is one */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

enum { FILE_MAX = 4 << 20 };

static struct {
	char name[300];
	const char *image;
	size_t len;
} current;

static void mutant_save(void)
{
	static const char written[] = ": the mutant is in this file\n";
	int fd = open(current.name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, current.image, current.len) != (ssize_t)current.len ||
	    write(STDERR_FILENO, current.name, strlen(current.name)) < 0 ||
	    write(STDERR_FILENO, written, sizeof(written) - 1) < 0)
		_exit(EXIT_FAILURE);
}

static void aborted(int number)
{
	mutant_save();
	signal(number, SIG_DFL);
	raise(number);
}

static void mutant_run(const char *name, str file, uint64_t seed)
{
	/* Just as long as the input, so that a sanitizer sees a read past its end. */
	char *image = malloc(file.len + 1), *exact;
	size_t len;

	memcpy(image, file.ptr, file.len);
	len = elf_mutate(image, file.len, hash_seeded(str_from(name), seed), false, NULL);
	exact = malloc(len ? len : 1);
	memcpy(exact, image, len);
	free(image);
	snprintf(current.name, sizeof(current.name), "mutant-%s-%ju", name, (uintmax_t)seed);
	current.image = exact;
	current.len = len;
	LLVMFuzzerTestOneInput((uint8_t *)exact, len);
	free(exact);
}

static size_t file_read(const char *directory, const char *name, char *room)
{
	char path[4096];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	if (!file) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(1);
	}
	len = fread(room, 1, FILE_MAX, file);
	fclose(file);
	return len;
}

int main(int argc, char **argv)
{
	static char room[FILE_MAX];
	uint64_t count, first = 0, done = 0;
	DIR *directory = argc > 2 ? opendir(argv[1]) : NULL;

	if (!directory || !str_to_u64(str_from(argv[2]), &count) ||
	    (argc > 3 && !str_to_u64(str_from(argv[3]), &first))) {
		fprintf(stderr, "run_mutants DIRECTORY COUNT [FIRST]\n");
		return 2;
	}
	signal(SIGABRT, aborted);
	signal(SIGSEGV, aborted);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(mutant_save);
	for (struct dirent *entry; (entry = readdir(directory));) {
		str file = { room, 0 };

		if (entry->d_name[0] == '.')
			continue;
		file.len = file_read(argv[1], entry->d_name, room);
		for (uint64_t i = 0; i < count; i++, done++)
			mutant_run(entry->d_name, file, first + i);
	}
	closedir(directory);
	printf("%ju mutants\n", (uintmax_t)done);
	return done ? 0 : 1; /* an empty corpus tests nothing */
}
