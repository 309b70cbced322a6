// SPDX-License-Identifier: Apache-2.0
/*
 * same_build - any file is compared with itself and with a mutant of it, in both directions, and
 * each contradiction has a reason.
 */
#include "base/hash.h"
#include "elf/same_build.h"
#include "support/elf_mutant.h"

#include <assert.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(int less, int more)
{
	struct err err = { 0 };

	assert(same_build_check(less, more, &err) || (err.code != ERR_NONE && err.msg[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FD fd = memfd_create("elf", MFD_CLOEXEC), other = memfd_create("mutant", MFD_CLOEXEC);
	AUTO_ARENA arena = { 0 };
	char *image = arena_array(&arena, char, size);
	size_t len;

	if (size)
		memcpy(image, data, size);
	if (fd < 0 || other < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	len = elf_mutate(image, size, hash_64((str){ image, size }), false, NULL);
	if (write(other, image, len) != (ssize_t)len)
		return 0;
	compare(fd, fd);
	compare(fd, other);
	compare(other, fd);
	return 0;
}
