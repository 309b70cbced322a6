// SPDX-License-Identifier: Apache-2.0
/*
 * map_files - maps many files, executable, in few processes.
 *
 *     map_files DIRECTORY FILES HOLDERS
 *
 * HOLDERS processes map the files DIRECTORY/0 to DIRECTORY/(FILES - 1), each of them an equal part,
 * slowly enough that no process is muted, and then use a little CPU time. When all are ready, it
 * prints "ready". All processes end with it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PAGE = 4096, PAUSE_US = 1000 };

static volatile uint64_t sink;

static void map(const char *directory, long number)
{
	char path[4096];
	int file;

	snprintf(path, sizeof(path), "%s/%ld", directory, number);
	file = open(path, O_RDONLY);
	if (file < 0 ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	close(file);
	usleep(PAUSE_US);
}

/* Awake 5 ms in 100. */
static void hold(const char *directory, long first, long count, int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (long i = first; i < first + count; i++)
		map(directory, i);
	if (write(ready, "r", 1) != 1)
		_exit(EXIT_FAILURE);
	for (;;) {
		for (int i = 0; i < 2000000; i++)
			sink += (uint64_t)i;
		usleep(95000);
	}
}

int main(int argc, char **argv)
{
	long files, holders;
	int ready[2];
	char byte;

	if (argc != 4 || pipe(ready) ||
	    sscanf(argv[2], "%ld", &files) != 1 ||   /* NOLINT(cert-err34-c): a test gives them */
	    sscanf(argv[3], "%ld", &holders) != 1) { /* NOLINT(cert-err34-c): likewise */
		fprintf(stderr, "usage: map_files DIRECTORY FILES HOLDERS\n");
		return EXIT_FAILURE;
	}
	for (long i = 0; i < holders; i++)
		if (fork() == 0)
			hold(argv[1], files / holders * i, files / holders, ready[1]);
	close(ready[1]);
	for (long i = 0; i < holders; i++)
		if (read(ready[0], &byte, 1) != 1)
			return EXIT_FAILURE;
	puts("ready");
	fflush(stdout);
	pause();
	return EXIT_SUCCESS;
}
