// SPDX-License-Identifier: Apache-2.0
/*
 * The inside of a worker.
 */
#include "worker.h"

#include "base/clock.h"
#include "client/debuginfod.h"
#include "object/symbol_build.h"
#include "servers.h"
#include "symbolizer_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

static const char meant[] = "read-debug-files";

struct work {
	int socket;
	const char *directory;
	struct servers servers;
	struct debuginfod debuginfod;
	uint32_t left_alone; /* by the order that is worked on */
};

bool worker_is_meant(int argc, char **argv)
{
	return argc == 5 && str_eq(str_from(argv[1]), str_from(meant));
}

static void set_limit(__rlimit_resource_t what, uint64_t most)
{
	struct rlimit limit = { .rlim_cur = most, .rlim_max = most };

	(void)setrlimit(what, &limit); /* a lower one of whoever started us holds */
}

static void restrain(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGXFSZ, SIG_IGN); /* a write beyond fails instead */
	(void)setpriority(PRIO_PROCESS, 0, 10);
	set_limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which reserve terabytes */
	set_limit(RLIMIT_AS, WORK_MEMORY_MAX);
#endif
	set_limit(RLIMIT_FSIZE, DEBUG_FILE_MAX);
	/* All of a worker's life: it ends with its first table, and a miss costs a millisecond. */
	set_limit(RLIMIT_CPU, BUILD_SECONDS);
}

static bool report(const struct work *work, const struct work_report *said)
{
	return send(work->socket, said, sizeof(*said), MSG_NOSIGNAL) == (ssize_t)sizeof(*said);
}

/* One server's answer. One that hung is not asked again for this file, nor soon for others: each
 * question would take FETCH_STALL_SECONDS, and other files wait. */
static enum debuginfod_answer ask(struct work *work, size_t server, const struct build_id *id,
				  enum debuginfod_kind kind, int *ret_fd, struct work_report *said)
{
	uint64_t began_ns = clock_monotonic_ns();
	struct err err = { 0 };
	enum debuginfod_answer answer;

	if (work->left_alone >> server & 1) {
		snprintf(said->why, sizeof(said->why), "%s did not answer a moment ago",
			 work->servers.urls[server]);
		return DEBUGINFOD_UNAVAILABLE;
	}
	answer = debuginfod_fetch(&work->debuginfod, work->servers.urls[server], id->text, kind,
				  ret_fd, &err);
	if (answer != DEBUGINFOD_CAME && answer != DEBUGINFOD_ABSENT)
		snprintf(said->why, sizeof(said->why), "%s", err.msg);
	if (answer == DEBUGINFOD_UNAVAILABLE &&
	    clock_monotonic_ns() - began_ns > HUNG_SECONDS * NS_PER_SECOND) {
		said->hung |= UINT32_C(1) << server;
		work->left_alone |= said->hung;
	}
	return answer;
}

/* The file that dwz moved parts of this one's DWARF to; -1: it needs none, or there is none. Then
 * names are lacking, and it is worth to look again later. */
static int fetch_alt(struct work *work, int fd, struct work_report *said)
{
	struct build_id id;
	int alt = -1;

	if (!symbol_table_alt_id(fd, &id))
		return -1;
	for (size_t i = 0; i < work->servers.count; i++)
		if (ask(work, i, &id, DEBUGINFOD_DEBUGINFO, &alt, said) == DEBUGINFOD_CAME)
			return alt;
	said->is_second_best = true;
	return -1;
}

/* From the first server that has it; one that failed leaves open whether there is a better file. */
static bool fetch(struct work *work, const struct build_id *id, int *ret_fd,
		  struct work_report *said)
{
	bool has_failed = false, is_large = false;

	for (enum debuginfod_kind kind = 0; kind < DEBUGINFOD_KIND_COUNT && !has_failed; kind++)
		for (size_t i = 0; i < work->servers.count; i++) {
			enum debuginfod_answer answer = ask(work, i, id, kind, ret_fd, said);

			if (answer == DEBUGINFOD_CAME) {
				said->is_second_best = kind == DEBUGINFOD_EXECUTABLE;
				return true;
			}
			is_large |= answer == DEBUGINFOD_TOO_LARGE;
			has_failed |= answer == DEBUGINFOD_UNAVAILABLE;
		}
	said->reason =
		has_failed ? NAME_UNAVAILABLE : (is_large ? NAME_TOO_LARGE : NAME_NO_DEBUG_INFO);
	return false;
}

static void build(const struct work *work, int fd, int alt_fd, struct work_report *said)
{
	struct symbol_table_options options = { .memory_max = WORK_MEMORY_MAX / 2,
						.alt_fd = alt_fd };
	char path[PATH_MAX];
	struct err err = { 0 };

	snprintf(path, sizeof(path), "%s/table", work->directory);

	AUTO_FD out = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

	if (out < 0) {
		err_errno(&err, "create %s", path);
		said->reason = NAME_UNAVAILABLE;
	} else if (symbol_table_build(&options, fd, out, &err)) {
		said->reason = NAME_KNOWN;
		return;
	} else {
		said->reason = err.code == ERR_LIMIT
				       ? NAME_TOO_LARGE
				       : (err.code == ERR_IO ? NAME_UNAVAILABLE : NAME_MALFORMED);
	}
	snprintf(said->why, sizeof(said->why), "%s", err.msg);
}

/* False: this was the last one. */
static bool serve(struct work *work, const struct work_order *order)
{
	struct work_report said = { .stage = WORK_DONE };
	uint64_t began_ns = clock_monotonic_ns();
	AUTO_FD fd = -1;
	AUTO_FD alt_fd = -1;
	struct stat stat;

	work->left_alone = order->left_alone;
	if (!fetch(work, &order->id, &fd, &said))
		return report(work, &said);
	alt_fd = fetch_alt(work, fd, &said);
	said.stage = WORK_FETCHED;
	said.bytes = fstat(fd, &stat) == 0 ? (uint64_t)stat.st_size : 0;
	said.took_ns = clock_monotonic_ns() - began_ns;
	if (!report(work, &said))
		return false;
	began_ns = clock_monotonic_ns();
	said.stage = WORK_DONE;
	build(work, fd, alt_fd, &said);
	said.took_ns = clock_monotonic_ns() - began_ns;
	report(work, &said);
	return false;
}

int worker_main(int argc, char **argv)
{
	struct work work = { .directory = argv[3] };
	struct work_order order;
	struct err err = { 0 };
	uint64_t socket_fd;
	char cache[PATH_MAX];

	(void)argc;
	prctl(PR_SET_NAME, "decima-symbolizer"); /* not "exe", as whom it was executed */
	restrain();
	snprintf(cache, sizeof(cache), "%s/cache", work.directory);
	if (!str_to_u64(str_from(argv[2]), &socket_fd) || socket_fd > INT_MAX ||
	    !servers_parse(&work.servers, argv[4], &err))
		return 1;
	work.socket = (int)socket_fd;
	if ((mkdir(cache, 0750) && errno != EEXIST) ||
	    !debuginfod_open(&work.debuginfod,
			     &(struct debuginfod_options){ .cache = cache,
							   .max_bytes = DEBUG_FILE_MAX,
							   .timeout_seconds = FETCH_SECONDS,
							   .stall_seconds = FETCH_STALL_SECONDS },
			     &err)) {
		fprintf(stderr, "decima-symbolizer: worker: %s\n", err.msg);
		return 1;
	}
	while (recv(work.socket, &order, sizeof(order), 0) == (ssize_t)sizeof(order) &&
	       serve(&work, &order)) {
	}
	return 0; /* whatever it holds goes with it */
}

bool worker_start(struct worker *worker, const char *directory, const char *servers,
		  struct err *err)
{
	int ends[2];
	char number[16];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err_errno(err, "make a worker's socket");
	snprintf(number, sizeof(number), "%d", ends[1]);

	const char *argv[] = { "decima-symbolizer", meant, number, directory, servers, NULL };
	pid_t pid = fork();

	if (pid == 0) { /* only what is safe after a fork from many threads */
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
	*worker = (struct worker){ .pid = pid, .socket = ends[0] };
	return true;
}
