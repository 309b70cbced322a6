// SPDX-License-Identifier: Apache-2.0
/*
 * flood - floods the kernel's records of mappings, and makes /proc/PID/maps long.
 *
 *     flood FILE HOLDERS MAPPINGS SECONDS
 *
 * HOLDERS processes each map a page of FILE MAPPINGS times, executable, and then use a little CPU
 * time. When all are ready, it prints "ready" and, for SECONDS, maps and unmaps an executable page
 * in a loop. At the end it prints how often it did that. All processes end with it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static volatile uint64_t sink;

static void *map(int file)
{
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(EXIT_FAILURE);
	}
	return at;
}

/* The same page each time: neighbours in memory are not merged. Then awake 5 ms in 100. */
static void hold(int file, long mappings, int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (long i = 0; i < mappings; i++)
		map(file);
	if (write(ready, "r", 1) != 1)
		_exit(EXIT_FAILURE);
	for (;;) {
		for (int i = 0; i < 2000000; i++)
			sink += (uint64_t)i;
		usleep(95000);
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	uint64_t count = 0;
	int file, ready[2];
	double seconds;
	long holders, mappings;
	char byte;

	if (argc != 5 || pipe(ready) || (file = open(argv[1], O_RDONLY)) < 0 ||
	    sscanf(argv[2], "%ld", &holders) != 1 ||  /* NOLINT(cert-err34-c): a test gives them */
	    sscanf(argv[3], "%ld", &mappings) != 1 || /* NOLINT(cert-err34-c): likewise */
	    sscanf(argv[4], "%lf", &seconds) != 1) {  /* NOLINT(cert-err34-c): likewise */
		fprintf(stderr, "usage: flood FILE HOLDERS MAPPINGS SECONDS\n");
		return EXIT_FAILURE;
	}
	for (long i = 0; i < holders; i++)
		if (fork() == 0)
			hold(file, mappings, ready[1]);
	close(ready[1]);
	for (long i = 0; i < holders; i++)
		if (read(ready[0], &byte, 1) != 1)
			return EXIT_FAILURE;
	puts("ready");
	fflush(stdout);
	for (double end = now() + seconds; now() < end; count++)
		munmap(map(file), PAGE);
	printf("%llu\n", (unsigned long long)count);
	return EXIT_SUCCESS;
}
