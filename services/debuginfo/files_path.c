// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/files_path.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

struct files_path files_path_of(const struct build_id *id)
{
	const char *hex = id->is_hash ? id->text + strlen("htlhash:") : id->text;
	struct files_path path;

	snprintf(path.shard, sizeof(path.shard), "files/%.2s", hex);
	snprintf(path.directory, sizeof(path.directory), "files/%.2s/%s%s", hex,
		 id->is_hash ? "htlhash-" : "", hex + 2);
	return path;
}

uint64_t files_path_generation(const char *entry, const char *name)
{
	str remainder = str_from(entry);
	uint64_t generation;

	if (!str_starts_with(remainder, str_from(name)))
		return 0;
	remainder = str_skip(remainder, strlen(name));
	if (!str_starts_with(remainder, STR("-")) ||
	    !str_to_u64(str_skip(remainder, 1), &generation))
		return 0;
	return generation;
}

void files_path_each_entry(int above, const char *path, files_path_visit *visit, void *self)
{
	int fd = openat(above, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (!stream) {
		if (fd >= 0)
			close(fd);
		return;
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own */
	for (const struct dirent *entry; (entry = readdir(stream));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			visit(self, dirfd(stream), entry->d_name);
	closedir(stream);
}
