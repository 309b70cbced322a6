// SPDX-License-Identifier: Apache-2.0
/*
 * run_mapped - runs a function of a file that the kernel does not execute as a program.
 *
 *     run_mapped FILE OFFSET BYTES ADDRESS FUNCTION
 *
 * Maps BYTES of the file from OFFSET on, executable, at ADDRESS, and calls the function at the
 * address FUNCTION, which takes and returns nothing and uses only its stack. Numbers are
 * hexadecimal; OFFSET and ADDRESS are those of a page.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	unsigned long numbers[4];
	void (*function)(void);
	int file;

	for (int i = 0; argc == 6 && i < 4; i++)
		if (sscanf(argv[2 + i], "%lx", &numbers[i]) !=
		    1) /* NOLINT(cert-err34-c): of a test */
			argc = 0;
	file = argc == 6 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	if (file < 0) {
		fprintf(stderr, "usage: run_mapped FILE OFFSET BYTES ADDRESS FUNCTION\n");
		return EXIT_FAILURE;
	}
	if (mmap((void *)numbers[2], numbers[1], /* NOLINT(performance-no-int-to-ptr): an address */
		 PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE, file,
		 (off_t)numbers[0]) == MAP_FAILED) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	memcpy(&function, &numbers[3], sizeof(function));
	function();
	return EXIT_SUCCESS;
}
