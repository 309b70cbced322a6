// SPDX-License-Identifier: Apache-2.0
/*
 * run_corpus - feeds every file of the directories it is given to a fuzzer's entry, without a
 * fuzzer: what was found once is tried on every build.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_MAX = 4 << 20 };

static int file_run(const char *directory, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);

	FILE *file = fopen(path, "rb");
	/* Just as long as the input, so that a sanitizer sees a read past its end. */
	uint8_t *room = malloc(FILE_MAX);

	if (!file || !room) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(1);
	}

	size_t size = fread(room, 1, FILE_MAX, file);
	uint8_t *data = realloc(room, size ? size : 1);

	LLVMFuzzerTestOneInput(data, size);
	free(data);
	fclose(file);
	return 1;
}

int main(int argc, char **argv)
{
	int files = 0;

	for (int i = 1; i < argc; i++) {
		DIR *directory = opendir(argv[i]);

		for (struct dirent *entry; directory && (entry = readdir(directory));)
			if (entry->d_name[0] != '.')
				files += file_run(argv[i], entry->d_name);
		if (directory)
			closedir(directory);
	}
	printf("%d files\n", files);
	return files ? 0 : 1; /* an empty corpus tests nothing */
}
