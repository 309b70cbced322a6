// SPDX-License-Identifier: Apache-2.0
/*
 * hold_memory - waits for a file system while it maps a file, and so holds the lock of its memory.
 *
 *     hold_memory FILE
 *
 * FILE is on a file system of tests/integration/held_memory.py. A second thread maps it over other
 * memory and hangs; meanwhile the first uses CPU time, until the process is killed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void *map_over(void *file)
{
	void *there = mmap(NULL, 2L * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mmap(there, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, *(int *)file, 0) == MAP_FAILED)
		perror("mmap");
	return NULL;
}

int main(int argc, char **argv)
{
	int cached = argc == 2 ? open(argv[1], O_RDWR) : -1;
	int direct = argc == 2 ? open(argv[1], O_RDWR | O_APPEND) : -1;
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, cached, 0);
	volatile uint64_t sink = 0;
	pthread_t thread;

	if (page == MAP_FAILED || direct < 0) {
		perror("hold_memory FILE");
		return EXIT_FAILURE;
	}
	page[0] = 1; /* to be written before the file is mapped through the other descriptor */
	if (pthread_create(&thread, NULL, map_over, &direct))
		return EXIT_FAILURE;
	for (;;)
		sink++;
}
