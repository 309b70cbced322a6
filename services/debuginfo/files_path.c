// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/files_path.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#define TRUSTED ".trusted"

struct files_path files_path_of(const struct build_id *id)
{
	const char *hex = id->is_hash ? id->text + strlen("htlhash:") : id->text;
	struct files_path path;

	snprintf(path.shard, sizeof(path.shard), "files/%.2s", hex);
	snprintf(path.directory, sizeof(path.directory), "files/%.2s/%s%s", hex,
		 id->is_hash ? "htlhash-" : "", hex + 2);
	return path;
}

void files_path_entry(const char *name, struct files_entry entry, char ret_text[FILES_ENTRY_MAX])
{
	snprintf(ret_text, FILES_ENTRY_MAX, "%s-%" PRIu64 "%s", name, entry.generation,
		 entry.is_trusted ? TRUSTED : "");
}

struct files_entry files_path_parse_entry(const char *text, const char *name)
{
	struct files_entry entry = { 0 };
	str rest = str_from(text);

	if (!str_starts_with(rest, str_from(name)))
		return entry;
	rest = str_skip(rest, strlen(name));
	if (!str_starts_with(rest, STR("-")))
		return entry;
	rest = str_skip(rest, 1);
	entry.is_trusted = str_ends_with(rest, STR(TRUSTED));
	if (entry.is_trusted)
		rest.len -= strlen(TRUSTED);
	if (!str_to_u64(rest, &entry.generation))
		entry.generation = 0;
	return entry;
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
