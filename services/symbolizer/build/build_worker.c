// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/build/build_worker.h"

#include "base/clock.h"
#include "client/debuginfod.h"
#include "symbolizer/build/servers.h"
#include "symbolizer/symbolizer_limits.h"
#include "symbols/symbol_build.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char mode[] = "read-debug-files";

struct worker_context {
	int socket;
	const char *directory;
	struct servers servers;
	struct debuginfod debuginfod;
	uint32_t skipped_servers; /* of the current job; bit i is server i */
};

bool build_worker_is_requested(int argc, char **argv)
{
	return argc == 5 && str_eq(str_from(argv[1]), str_from(mode));
}

static void set_limit(__rlimit_resource_t resource, uint64_t max)
{
	struct rlimit limit = { .rlim_cur = max, .rlim_max = max };

	(void)setrlimit(resource, &limit); /* fails if the parent set a lower limit, which stays */
}

static void set_limits(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails instead */
	(void)setpriority(PRIO_PROCESS, 0, 10);
	set_limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they reserve terabytes */
	set_limit(RLIMIT_AS, BUILD_MEMORY_MAX);
#endif
	set_limit(RLIMIT_FSIZE, DEBUG_FILE_MAX);
	/* For the worker's whole life: it exits after its first file, and a miss costs 1 ms. */
	set_limit(RLIMIT_CPU, BUILD_SECONDS);
}

static bool send_report(const struct worker_context *context, const struct build_report *report)
{
	return send(context->socket, report, sizeof(*report), MSG_NOSIGNAL) ==
	       (ssize_t)sizeof(*report);
}

/* Query one server. A server that hung is skipped for the remainder of this job and for a while
 * afterwards: each query would take FETCH_STALL_SECONDS while other files wait. */
static enum debuginfod_outcome query_server(struct worker_context *context, size_t server,
					    const struct build_id *id, enum debuginfod_kind kind,
					    int *ret_fd, struct build_report *report)
{
	uint64_t began_ns = clock_monotonic_ns();
	struct err err = { 0 };
	enum debuginfod_outcome result;

	if (context->skipped_servers >> server & 1) {
		snprintf(report->why, sizeof(report->why), "%s did not respond a moment ago",
			 context->servers.urls[server]);
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

/* Fetch the file to which dwz moved parts of this file's DWARF. -1: the file needs no such file, or
 * no server has it. In the second case names are missing, so the table is a fallback. */
static int fetch_alt(struct worker_context *context, int fd, struct build_report *report)
{
	struct build_id id;
	int alt = -1;

	if (!symbol_build_alt_id(fd, &id))
		return -1;
	for (size_t i = 0; i < context->servers.count; i++)
		if (query_server(context, i, &id, DEBUGINFOD_DEBUGINFO, &alt, report) ==
		    DEBUGINFOD_FETCHED)
			return alt;
	report->is_fallback = true;
	return -1;
}

/* Fetch from the first server that has the debug file, else the executable. If a server failed, it
 * may have a debug file, so the executable is not fetched. */
static bool fetch(struct worker_context *context, const struct build_id *id, int *ret_fd,
		  struct build_report *report)
{
	bool has_failed = false, is_large = false;

	for (enum debuginfod_kind kind = 0; kind < DEBUGINFOD_KIND_COUNT && !has_failed; kind++)
		for (size_t i = 0; i < context->servers.count; i++) {
			enum debuginfod_outcome result =
				query_server(context, i, id, kind, ret_fd, report);

			if (result == DEBUGINFOD_FETCHED) {
				report->is_fallback = kind == DEBUGINFOD_EXECUTABLE;
				return true;
			}
			is_large |= result == DEBUGINFOD_TOO_LARGE;
			has_failed |= result == DEBUGINFOD_UNAVAILABLE;
		}
	report->reason =
		has_failed ? NAME_UNAVAILABLE : (is_large ? NAME_TOO_LARGE : NAME_NO_DEBUG_INFO);
	return false;
}

static void build(const struct worker_context *context, int fd, int alt_fd,
		  struct build_report *report)
{
	struct symbol_build_options options = { .memory_max = BUILD_MEMORY_MAX / 2,
						.alt_fd = alt_fd };
	char path[PATH_MAX];
	struct err err = { 0 };

	snprintf(path, sizeof(path), "%s/table", context->directory);

	AUTO_FD out = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

	if (out < 0) {
		err_errno(&err, "create %s", path);
		report->reason = NAME_UNAVAILABLE;
	} else if (symbol_build(&options, fd, out, &err)) {
		report->reason = NAME_KNOWN;
		return;
	} else {
		report->reason = err.code == ERR_LIMIT
					 ? NAME_TOO_LARGE
					 : (err.code == ERR_IO ? NAME_UNAVAILABLE : NAME_MALFORMED);
	}
	snprintf(report->why, sizeof(report->why), "%s", err.msg);
}

/* False: this was the last job. */
static bool run_job(struct worker_context *context, const struct build_job *job)
{
	struct build_report report = { .stage = BUILD_DONE };
	uint64_t began_ns = clock_monotonic_ns();
	AUTO_FD fd = -1;
	AUTO_FD alt_fd = -1;
	struct stat stat;

	context->skipped_servers = job->skipped_servers;
	if (!fetch(context, &job->id, &fd, &report))
		return send_report(context, &report);
	alt_fd = fetch_alt(context, fd, &report);
	report.stage = BUILD_FETCHED;
	report.bytes = fstat(fd, &stat) == 0 ? (uint64_t)stat.st_size : 0;
	report.duration_ns = clock_monotonic_ns() - began_ns;
	if (!send_report(context, &report))
		return false;
	began_ns = clock_monotonic_ns();
	report.stage = BUILD_DONE;
	build(context, fd, alt_fd, &report);
	report.duration_ns = clock_monotonic_ns() - began_ns;
	send_report(context, &report);
	return false;
}

int build_worker_main(int argc, char **argv)
{
	struct worker_context context = { .directory = argv[3] };
	struct build_job job;
	struct err err = { 0 };
	uint64_t socket_fd;
	char cache[PATH_MAX];

	(void)argc;
	prctl(PR_SET_NAME, "decima-symbolizer"); /* instead of "exe", from /proc/self/exe */
	set_limits();
	snprintf(cache, sizeof(cache), "%s/cache", context.directory);
	if (!str_to_u64(str_from(argv[2]), &socket_fd) || socket_fd > INT_MAX ||
	    !servers_parse(&context.servers, argv[4], &err))
		return 1;
	context.socket = (int)socket_fd;
	if ((mkdir(cache, 0750) && errno != EEXIST) ||
	    !debuginfod_open(&context.debuginfod,
			     &(struct debuginfod_options){ .cache = cache,
							   .max_bytes = DEBUG_FILE_MAX,
							   .timeout_seconds = FETCH_SECONDS,
							   .stall_seconds = FETCH_STALL_SECONDS },
			     &err)) {
		fprintf(stderr, "decima-symbolizer: worker: %s\n", err.msg);
		return 1;
	}
	while (recv(context.socket, &job, sizeof(job), 0) == (ssize_t)sizeof(job) &&
	       run_job(&context, &job)) {
	}
	return 0; /* the exit frees all resources */
}

bool build_worker_start(struct build_worker *worker, const char *directory, const char *servers,
			struct err *err)
{
	int ends[2];
	char number[16];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err_errno(err, "create a socket for a worker");
	snprintf(number, sizeof(number), "%d", ends[1]);

	const char *argv[] = { "decima-symbolizer", mode, number, directory, servers, NULL };
	pid_t pid = fork();

	if (pid == 0) { /* only functions that are safe after a fork from a multithreaded process */
		sigset_t none;

		sigemptyset(&none);
		pthread_sigmask(SIG_SETMASK, &none, NULL);
		fcntl(ends[1], F_SETFD, 0);
		execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err_errno(err, "start a worker");
	}
	*worker = (struct build_worker){ .pid = pid, .socket = ends[0] };
	return true;
}

int build_worker_stop(struct build_worker *worker)
{
	int status = 0;

	if (!worker->pid)
		return 0;
	if (waitpid(worker->pid, &status, WNOHANG) != worker->pid) {
		kill(worker->pid, SIGKILL);
		while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR) {
		}
		status = 0;
	}
	close(worker->socket);
	*worker = (struct build_worker){ 0 };
	return status;
}
