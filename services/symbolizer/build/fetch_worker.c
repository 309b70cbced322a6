// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/build/fetch_worker.h"

#include "base/clock.h"
#include "client/debuginfod.h"
#include "client/server_list.h"
#include "sandbox/sandbox_child.h"
#include "sandbox/sandbox_message.h"
#include "symbolizer/symbolizer_limits.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

struct worker_context {
	struct server_list servers;
	struct debuginfod debuginfod;
	uint32_t skipped_servers; /* of the current job; bit i is server i */
};

/* Query one server. A server that hung is skipped for the remainder of this job and for a while
 * afterwards: each query would take FETCH_STALL_SECONDS while other files wait. */
static enum debuginfod_outcome query_server(struct worker_context *context, size_t server,
					    const struct build_id *id, enum debuginfod_kind kind,
					    int *ret_fd, struct fetch_report *report)
{
	uint64_t began_ns = clock_monotonic_ns();
	struct err err = { 0 };
	enum debuginfod_outcome result;

	if (context->skipped_servers >> server & 1) {
		snprintf(report->why, sizeof(report->why), STR_FMT " did not respond a moment ago",
			 STR_ARG(context->servers.shown[server]));
		return DEBUGINFOD_UNAVAILABLE;
	}
	result = debuginfod_fetch(&context->debuginfod, context->servers.urls[server], id->text,
				  kind, ret_fd, &err);
	if (result != DEBUGINFOD_FETCHED && result != DEBUGINFOD_ABSENT)
		snprintf(report->why, sizeof(report->why), "%s", err.msg);
	if (result == DEBUGINFOD_UNAVAILABLE &&
	    clock_monotonic_ns() - began_ns > HUNG_SECONDS * NS_PER_SECOND) {
		report->hung |= UINT32_C(1) << server;
		context->skipped_servers |= report->hung;
	}
	return result;
}

/* Fetch from the first server that has the debug file, else the executable. If a server failed, it
 * may have a debug file, so the executable is not fetched. */
static void fetch(struct worker_context *context, const struct fetch_job *job, int *ret_fd,
		  struct fetch_report *report)
{
	size_t kinds = job->is_debug_file ? DEBUGINFOD_DEBUGINFO + 1 : DEBUGINFOD_KIND_COUNT;
	bool has_failed = false, is_large = false;

	for (enum debuginfod_kind kind = 0; kind < kinds && !has_failed; kind++)
		for (size_t i = 0; i < context->servers.count; i++) {
			enum debuginfod_outcome result =
				query_server(context, i, &job->id, kind, ret_fd, report);

			if (result == DEBUGINFOD_FETCHED) {
				report->is_fallback = kind == DEBUGINFOD_EXECUTABLE;
				report->reason = NAME_KNOWN;
				return;
			}
			is_large |= result == DEBUGINFOD_TOO_LARGE;
			has_failed |= result == DEBUGINFOD_UNAVAILABLE;
		}
	report->reason =
		has_failed ? NAME_UNAVAILABLE : (is_large ? NAME_TOO_LARGE : NAME_NO_DEBUG_INFO);
}

static bool run_job(struct worker_context *context, const struct fetch_job *job)
{
	struct fetch_report report = { 0 };
	uint64_t began_ns = clock_monotonic_ns();
	AUTO_FD fd = -1;
	struct stat stat;

	context->skipped_servers = job->skipped_servers;
	fetch(context, job, &fd, &report);
	report.bytes = fd >= 0 && fstat(fd, &stat) == 0 ? (uint64_t)stat.st_size : 0;
	report.duration_ns = clock_monotonic_ns() - began_ns;

	const int fds[SANDBOX_FDS_MAX] = { fd, -1, -1 };

	return sandbox_message_send(SANDBOX_SOCKET, &report, sizeof(report), fds);
}

static bool open_client(struct debuginfod *debuginfod, const char *directory, struct err *err)
{
	static char cache[PATH_MAX]; /* borrowed by the client */
	const struct debuginfod_options options = { .cache = cache,
						    .max_bytes = DEBUG_FILE_MAX,
						    .timeout_seconds = FETCH_SECONDS,
						    .stall_seconds = FETCH_STALL_SECONDS };

	snprintf(cache, sizeof(cache), "%s/cache", directory);
	if (mkdir(cache, 0750) && errno != EEXIST)
		return err_errno(err, "create %s", cache);
	return debuginfod_open(debuginfod, &options, err);
}

int fetch_worker_main(const char *directory, const char *servers)
{
	const struct sandbox_rules rules = { .profile = SANDBOX_HELPER,
					     .name = "symbols-fetch",
					     .address_space_max = FETCH_MEMORY_MAX,
					     .file_max = DEBUG_FILE_MAX,
					     .nice = WORKER_NICE };
	struct worker_context context = { 0 };
	struct fetch_job job;
	struct err err = { 0 };

	signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails instead */
	if (!sandbox_enter(&rules))
		return 1;
	if (!server_list_parse(&context.servers, servers, &err) ||
	    !open_client(&context.debuginfod, directory, &err)) {
		fprintf(stderr, "decima-symbolizer: worker: %s\n", err.msg);
		return 1;
	}
	while (sandbox_message_receive(SANDBOX_SOCKET, &job, sizeof(job), NULL) &&
	       run_job(&context, &job)) {
	}
	return 0; /* the exit frees all resources */
}
