// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/upload/debug_files_internal.h"
#include "elf/build_id.h"
#include "elf/debug_link.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { OWN_FD_PATH_MAX = 40 };

/*
 * The type is checked before the file is opened, since opening a device may have side effects. The
 * process that parses files proposes the path: by the magic number it gets no file but ELF files.
 */
static int open_regular(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	AUTO_FD place = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	char own[OWN_FD_PATH_MAX], magic[SELFMAG];
	struct stat stat;

	if (place < 0 || fstat(place, &stat) != 0 || !S_ISREG(stat.st_mode) || stat.st_size <= 0 ||
	    (uint64_t)stat.st_size > UPLOAD_FILE_BYTES_MAX)
		return -1;
	snprintf(own, sizeof(own), "/proc/self/fd/%d", place);

	AUTO_FD fd = open(own, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 || pread(fd, magic, SELFMAG, 0) != SELFMAG ||
	    memcmp(magic, ELFMAG, SELFMAG) != 0)
		return -1;
	return fd_take(&fd);
}

/* True if the file is as trusted as the mapped one: it is on the same file system, or on one that
 * root mounted for all, so its owner is not what a user's file system claims. */
static bool is_as_trusted(const struct debug_target *target, int fd)
{
	struct stat file, mapped;

	if (!target->is_trusted)
		return true;
	return fstat(fd, &file) == 0 && fstat(target->fd, &mapped) == 0 && file.st_uid == 0 &&
	       !(file.st_mode & (S_IWGRP | S_IWOTH)) &&
	       (target->is_own_root || file.st_dev == mapped.st_dev);
}

static bool has_build_id(const struct parsed_file *file, const char *text)
{
	struct build_id id;
	struct err err;

	return build_id_parse(str_from(text), &id, &err) && file->build_id_len &&
	       build_id_is(&id, file->build_id, file->build_id_len);
}

static struct debug_file not_found(void)
{
	return (struct debug_file){ .fd = -1, .package_fd = -1 };
}

/* Open a file by its path. `build_id` NULL: the caller checks the CRC. .fd is -1 if it is unusable.
 */
static struct debug_file open_debug_file(const struct debug_target *target, const char *build_id,
					 str path, struct arena *arena)
{
	const char *z = str_z(arena, path);
	AUTO_FD fd = open_regular(target->root, z);
	struct debug_file file = { .package_fd = -1, .path = z };
	struct err err;

	if (fd < 0 || !is_as_trusted(target, fd) ||
	    !file_parser_read(target->parser, fd, &file.parsed, &err) ||
	    (build_id && !has_build_id(&file.parsed, build_id)))
		return not_found();
	file.fd = fd_take(&fd);
	return file;
}

static bool is_hash(const char *build_id)
{
	return str_starts_with(str_from(build_id), STR("htlhash:"));
}

static struct debug_file find_by_id(const struct debug_target *target, const char *build_id,
				    struct arena *arena)
{
	if (is_hash(build_id) || strlen(build_id) <= 2)
		return not_found();
	return open_debug_file(
		target, build_id,
		str_format(arena, "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2),
		arena);
}

/* The directory of a path, without the slash at its end. */
static str directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (str){ path, slash ? (size_t)(slash - path) : 0 };
}

static struct debug_file find_by_link(const struct debug_target *target,
				      const struct parsed_file *own, struct arena *arena)
{
	static const char *const places[][2] = { { "", "" },
						 { "", "/.debug" },
						 { "/usr/lib/debug", "" } };
	str directory = directory_of(target->path);
	const char *id = is_hash(target->build_id) ? NULL : target->build_id;

	if (!*own->link_name)
		return not_found();
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		str path = str_format(arena, "%s" STR_FMT "%s/%s", places[i][0], STR_ARG(directory),
				      places[i][1], own->link_name);
		struct debug_file file = open_debug_file(target, id, path, arena);
		struct err err;
		uint32_t crc;

		if (file.fd < 0)
			continue;
		if (debug_link_crc(file.fd, &crc, &err) && crc == own->link_crc)
			return file;
		debug_file_close(&file);
	}
	return not_found();
}

void debug_file_close(struct debug_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->package_fd >= 0)
		close(file->package_fd);
	*file = not_found();
}

bool debug_file_select(const struct debug_target *target, const struct debug_file *file,
		       struct parsed_file *ret_parsed, struct err *err)
{
	struct file_parser *parser = target->parser;

	if (!file_parser_read(parser, file->fd, ret_parsed, err))
		return false;
	return file->package_fd < 0 ||
	       file_parser_add_package(parser, file->package_fd, ret_parsed, err);
}

/* Adds the package at path.dwp if there is one, and if both together may be uploaded. */
static bool add_package(const struct debug_target *target, const char *path,
			struct debug_file *file, struct arena *arena)
{
	str name = str_format(arena, "%s.dwp", path);
	AUTO_FD fd = open_regular(target->root, str_z(arena, name));
	struct debug_file with = *file;
	struct parsed_file parsed;
	struct err err;

	with.package_fd = fd;
	if (fd < 0 || !is_as_trusted(target, fd) ||
	    !debug_file_select(target, &with, &parsed, &err) ||
	    parsed.extract_size > UPLOAD_FILE_BYTES_MAX)
		return false;
	file->package_fd = fd_take(&fd);
	file->parsed.rank = parsed.rank;
	file->parsed.extract_size = parsed.extract_size;
	return true;
}

static void find_package(const struct debug_target *target, struct debug_file *file,
			 struct arena *arena)
{
	if (file->parsed.rank == DEBUG_SPLIT && !add_package(target, file->path, file, arena) &&
	    strcmp(file->path, target->path) != 0)
		(void)add_package(target, target->path, file, arena);
}

bool debug_files_find(const struct debug_target *target, struct arena *arena,
		      struct debug_file *ret_file, struct err *err)
{
	struct debug_file own = { .package_fd = -1, .path = target->path }, other;

	if (!file_parser_read(target->parser, target->fd, &own.parsed, err))
		return false;
	other = own.parsed.rank < DEBUG_DWARF ? find_by_id(target, target->build_id, arena)
					      : not_found();
	if (own.parsed.rank < DEBUG_DWARF && other.fd < 0)
		other = find_by_link(target, &own.parsed, arena);
	if (other.fd >= 0 && other.parsed.rank > own.parsed.rank) {
		*ret_file = other;
	} else {
		debug_file_close(&other);
		own.fd = fcntl(target->fd, F_DUPFD_CLOEXEC, 0);
		if (own.fd < 0)
			return err_errno(err, "duplicate a descriptor");
		*ret_file = own;
	}
	find_package(target, ret_file, arena);
	return true;
}

struct debug_file debug_files_find_common(const struct debug_target *target,
					  const struct debug_file *file, struct arena *arena,
					  const char **ret_build_id)
{
	const struct parsed_file *parsed = &file->parsed;

	if (!*parsed->alt_path || !*parsed->alt_build_id)
		return not_found();

	str link = str_from(parsed->alt_path), directory = directory_of(file->path);
	str path = *parsed->alt_path == '/' ? link
					    : str_format(arena, STR_FMT "/" STR_FMT,
							 STR_ARG(directory), STR_ARG(link));
	const char *build_id = str_z(arena, str_from(parsed->alt_build_id));
	struct debug_file found = open_debug_file(target, build_id, path, arena);

	*ret_build_id = build_id;
	return found.fd >= 0 ? found : find_by_id(target, build_id, arena);
}
