// SPDX-License-Identifier: Apache-2.0
#include "client/debuginfod.h"

#include "client/shown_url.h"

#include <elfutils/debuginfod.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

/* Called periodically during a download; a result other than 0 aborts it. The library's own limit
 * is only sent to the server, which may ignore it. */
static int on_progress(debuginfod_client *client, long done, long all)
{
	const struct debuginfod *debuginfod = debuginfod_get_user_data(client);

	return (done > 0 && (uint64_t)done > debuginfod->options.max_bytes) ||
	       (all > 0 && (uint64_t)all > debuginfod->options.max_bytes);
}

static bool write_text(const char *directory, const char *name, const char *text, struct err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", directory, name);

	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	ssize_t len = (ssize_t)strlen(text);

	return (fd >= 0 && write(fd, text, (size_t)len) == len) || err_errno(err, "write %s", path);
}

/* Set an environment variable; NULL: unset it. */
static void set(const char *name, const char *text)
{
	if (text)
		setenv(name, text, 1); /* NOLINT(concurrency-mt-unsafe): there is one thread */
	else
		unsetenv(name); /* NOLINT(concurrency-mt-unsafe): likewise */
}

static void set_number(const char *name, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	set(name, text);
}

bool debuginfod_open(struct debuginfod *debuginfod, const struct debuginfod_options *options,
		     struct err *err)
{
	*debuginfod = (struct debuginfod){ .options = *options };
	if (!write_text(options->cache, "cache_miss_s", "0\n", err))
		return false;
	set(DEBUGINFOD_CACHE_PATH_ENV_VAR, options->cache);
	set_number(DEBUGINFOD_TIMEOUT_ENV_VAR, options->stall_seconds);
	set_number(DEBUGINFOD_MAXTIME_ENV_VAR, options->timeout_seconds);
	set_number(DEBUGINFOD_MAXSIZE_ENV_VAR, options->max_bytes);
	set_number(DEBUGINFOD_RETRY_LIMIT_ENV_VAR, 1);
	set(DEBUGINFOD_PROGRESS_ENV_VAR, NULL);
	set(DEBUGINFOD_VERBOSE_ENV_VAR, NULL);
	debuginfod->client = debuginfod_begin();
	if (!debuginfod->client)
		return err_set(err, ERR_IO, "cannot initialize libdebuginfod");
	debuginfod_set_user_data(debuginfod->client, debuginfod);
	debuginfod_set_progressfn(debuginfod->client, on_progress);
	return true;
}

void debuginfod_close(struct debuginfod *debuginfod)
{
	if (debuginfod->client)
		debuginfod_end(debuginfod->client);
	debuginfod->client = NULL;
}

/* A miss leaves an empty file in the cache, which is valid until the next second even with
 * cache_miss_s 0. */
static void remove_cached(const struct debuginfod *debuginfod, const char *build_id,
			  const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", debuginfod->options.cache, build_id, name);
	unlink(path);
}

enum debuginfod_outcome debuginfod_fetch(struct debuginfod *debuginfod, const char *server,
					 const char *build_id, enum debuginfod_kind kind,
					 int *ret_fd, struct err *err)
{
	static const struct {
		const char *name;
		int (*find)(debuginfod_client *client, const unsigned char *id, int len,
			    char **path);
	} kinds[DEBUGINFOD_KIND_COUNT] = {
		[DEBUGINFOD_DEBUGINFO] = { "debuginfo", debuginfod_find_debuginfo },
		[DEBUGINFOD_EXECUTABLE] = { "executable", debuginfod_find_executable },
	};
	AUTO_ARENA arena = { 0 };
	str shown = shown_url(str_from(server), &arena);
	AUTO_FD fd = -1;
	struct stat stat;

	set(DEBUGINFOD_URLS_ENV_VAR, server);
	remove_cached(debuginfod, build_id, kinds[kind].name);
	fd = kinds[kind].find(debuginfod->client, (const unsigned char *)build_id, 0, NULL);
	remove_cached(debuginfod, build_id, kinds[kind].name);
	if (fd == -ENOENT) {
		err_set(err, ERR_NOT_FOUND, STR_FMT " has no %s of %s", STR_ARG(shown),
			kinds[kind].name, build_id);
		return DEBUGINFOD_ABSENT;
	}
	if (fd < 0) {
		bool is_limit = fd == -EFBIG;

		errno = -fd;
		err_errno(err, "fetch %s of %s from " STR_FMT, kinds[kind].name, build_id,
			  STR_ARG(shown));
		return is_limit ? DEBUGINFOD_TOO_LARGE : DEBUGINFOD_UNAVAILABLE;
	}
	if (fstat(fd, &stat) == 0 && (uint64_t)stat.st_size > debuginfod->options.max_bytes) {
		err_set(err, ERR_LIMIT, "%s of %s is longer than %ju bytes", kinds[kind].name,
			build_id, (uintmax_t)debuginfod->options.max_bytes);
		return DEBUGINFOD_TOO_LARGE;
	}
	*ret_fd = fd_take(&fd);
	return DEBUGINFOD_FETCHED;
}
