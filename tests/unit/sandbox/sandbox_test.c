// SPDX-License-Identifier: Apache-2.0
/*
 * A hostile process in a parser's place: this program starts itself, and the process attempts what
 * a malformed file could make a parser do. Each attempt gets nothing, and is counted by its reason.
 */
#include "base/clock.h"
#include "base/str.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_child.h"
#include "server/metrics/metrics.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { LEAKED = 77, MEMORY_MAX = 256 << 20, FILE_MAX = 1 << 16, RESPONSE_MS = 60000 };

struct job {
	size_t attempt;
	pid_t owner;
};

/* What an attempt got: 0 is nothing. */
struct response {
	long gained;
};

static long no(long result)
{
	return result < 0 ? 0 : 1;
}

static long wait_for_ever(void)
{
	static uint32_t word;

	return syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static long open_file(const struct job *job, int fd)
{
	(void)job, (void)fd;
	return no(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static long open_socket(const struct job *job, int fd)
{
	(void)job, (void)fd;
	return no(socket(AF_INET, SOCK_STREAM, 0));
}

static long start_process(const struct job *job, int fd)
{
	(void)job, (void)fd;
	return no(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static long start_thread(const struct job *job, int fd)
{
	(void)job, (void)fd;
	return no(syscall(SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0));
}

static long execute_program(const struct job *job, int fd)
{
	char *none[] = { NULL };

	(void)job, (void)fd;
	return no(execve("/bin/true", none, none));
}

static long execute_file(const struct job *job, int fd)
{
	char *none[] = { NULL };

	(void)job;
	return no(syscall(SYS_execveat, fd, "", none, none, AT_EMPTY_PATH));
}

static long trace_owner(const struct job *job, int fd)
{
	(void)fd;
	return no(ptrace(PTRACE_ATTACH, job->owner, NULL, NULL));
}

static long read_memory_of_owner(const struct job *job, int fd)
{
	(void)fd;
	return no(syscall(SYS_process_vm_readv, job->owner, NULL, 0, NULL, 0, 0));
}

static long kill_owner(const struct job *job, int fd)
{
	(void)fd;
	return no(kill(job->owner, SIGTERM));
}

static long kill_thread_of_owner(const struct job *job, int fd)
{
	(void)fd;
	return no(syscall(SYS_tgkill, job->owner, job->owner, SIGTERM));
}

/* The kernel would send the signal when a message arrives. */
static long signal_owner(const struct job *job, int fd)
{
	(void)fd;
	return no(fcntl(SANDBOX_SOCKET, F_SETOWN, job->owner));
}

static long become_root(const struct job *job, int fd)
{
	(void)job, (void)fd;
	return no(syscall(SYS_setuid, 0));
}

static long be_traceable(const struct job *job, int fd)
{
	(void)job, (void)fd;
	return no(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static long raise_limit(const struct job *job, int fd)
{
	const struct rlimit more = { RLIM_INFINITY, RLIM_INFINITY };

	(void)job, (void)fd;
	return no(setrlimit(RLIMIT_FSIZE, &more));
}

static long read_inherited(const struct job *job, int fd)
{
	char byte;

	(void)job, (void)fd;
	for (int i = 0; i < LEAKED + 1; i++)
		if (i != SANDBOX_SOCKET && i != fd && read(i, &byte, 1) > 0)
			return 1;
	return 0;
}

static long read_environment(const struct job *job, int fd)
{
	(void)job, (void)fd;
	return getenv("DECIMA_SECRET") != NULL; /* NOLINT(concurrency-mt-unsafe): one thread */
}

static long map_code(const struct job *job, int fd)
{
	(void)job, (void)fd;
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0) != MAP_FAILED;
}

static long use_memory(const struct job *job, int fd)
{
	char *volatile bytes;

	(void)job, (void)fd;
	for (size_t i = 0; i < MEMORY_MAX >> 16; i++) {
		bytes = malloc(1 << 16);
		if (!bytes)
			abort(); /* as an arena */
		bytes[0] = 1;
	}
	return 1;
}

static long spin(const struct job *job, int fd)
{
	(void)job, (void)fd;
	for (volatile bool is_running = true; is_running;) {
	}
	return 1;
}

static long spin_deaf(const struct job *job, int fd)
{
	signal(SIGXCPU, SIG_IGN);
	return spin(job, fd);
}

static long write_file(const struct job *job, int fd)
{
	static const char bytes[FILE_MAX / 4];

	(void)job;
	for (int i = 0; i < 8; i++)
		if (write(fd, bytes, sizeof(bytes)) < 0)
			return 0;
	return 1;
}

static long crash(const struct job *job, int fd)
{
	(void)job, (void)fd;
	signal(SIGSEGV, SIG_DFL);
	return raise(SIGSEGV);
}

static long fail_assertion(const struct job *job, int fd)
{
	(void)job, (void)fd;
	errno = 0;
	abort();
}

static long exit_with_3(const struct job *job, int fd)
{
	(void)job, (void)fd;
	_exit(3);
}

static long respond_longer(const struct job *job, int fd)
{
	char bytes[4 * sizeof(struct response)] = { 0 };

	(void)job, (void)fd;
	return !sandbox_message_send(SANDBOX_SOCKET, bytes, sizeof(bytes), NULL) || wait_for_ever();
}

static long respond_with_descriptor(const struct job *job, int fd)
{
	const struct response response = { 1 };
	const int fds[SANDBOX_FDS_MAX] = { fd, -1, -1 };

	(void)job;
	return !sandbox_message_send(SANDBOX_SOCKET, &response, sizeof(response), fds) ||
	       wait_for_ever();
}

static long close_socket(const struct job *job, int fd)
{
	(void)job, (void)fd;
	close(SANDBOX_SOCKET);
	return wait_for_ever();
}

static const struct attempt {
	const char *what;
	long (*attempt)(const struct job *job, int fd);
	enum sandbox_end end; /* STOPPED: the attempt fails, and the process responds */
} attempts[] = {
	{ "open a file", open_file, SANDBOX_END_FORBIDDEN },
	{ "open a socket", open_socket, SANDBOX_END_FORBIDDEN },
	{ "start a process", start_process, SANDBOX_END_FORBIDDEN },
	{ "start a thread", start_thread, SANDBOX_END_FORBIDDEN },
	{ "execute a program", execute_program, SANDBOX_END_FORBIDDEN },
	{ "execute a file of the job", execute_file, SANDBOX_END_FORBIDDEN },
	{ "trace the owner", trace_owner, SANDBOX_END_FORBIDDEN },
	{ "read the owner's memory", read_memory_of_owner, SANDBOX_END_FORBIDDEN },
	{ "kill the owner", kill_owner, SANDBOX_END_FORBIDDEN },
	{ "kill a thread of the owner", kill_thread_of_owner, SANDBOX_END_FORBIDDEN },
	{ "let the kernel signal the owner", signal_owner, SANDBOX_END_FORBIDDEN },
	{ "become root", become_root, SANDBOX_END_FORBIDDEN },
	{ "be traceable", be_traceable, SANDBOX_END_FORBIDDEN },
	{ "raise a limit", raise_limit, SANDBOX_END_FORBIDDEN },
	{ "map memory for code", map_code, SANDBOX_END_FORBIDDEN },
	{ "read an inherited descriptor", read_inherited, SANDBOX_END_STOPPED },
	{ "read the owner's environment", read_environment, SANDBOX_END_STOPPED },
	{ "use more memory than the limit", use_memory, SANDBOX_END_MEMORY },
	{ "use more CPU time than the limit", spin, SANDBOX_END_CPU_TIME },
	{ "ignore the signal of the limit", spin_deaf, SANDBOX_END_CPU_TIME },
	{ "write a larger file than the limit", write_file, SANDBOX_END_FILE_SIZE },
	{ "crash", crash, SANDBOX_END_CRASHED },
	{ "fail an assertion", fail_assertion, SANDBOX_END_CRASHED },
	{ "exit with an error", exit_with_3, SANDBOX_END_CRASHED },
	{ "respond with another length", respond_longer, SANDBOX_END_BAD_RESPONSE },
	{ "respond with a descriptor", respond_with_descriptor, SANDBOX_END_BAD_RESPONSE },
	{ "close the socket and live on", close_socket, SANDBOX_END_BAD_RESPONSE },
};

/* Which attempts the runtime of a sanitizer makes impossible to provoke. */
static bool is_skipped(const struct attempt *attempt)
{
#ifdef SANDBOX_SANITIZED
	return attempt->attempt == use_memory || attempt->attempt == read_environment;
#else
	(void)attempt;
	return false;
#endif
}

static void drop_kill(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];

	syscall(SYS_capget, &header, sets);
	sets[0].effective &= ~(1U << CAP_KILL);
	syscall(SYS_capset, &header, sets);
}

/* The process: one job. */
static int child_main(const char *mode)
{
	const struct sandbox_rules rules = { .profile = SANDBOX_PARSER,
					     .name = "hostile",
					     .uid = SANDBOX_UID,
					     .address_space_max = MEMORY_MAX,
					     .file_max = FILE_MAX,
					     .cpu_seconds_max = 1,
					     .nice = 10 };
	int fds[SANDBOX_FDS_MAX];
	struct response response;
	struct job job;

	if (!strcmp(mode, "silent"))
		return 0;
	if (!strcmp(mode, "without_stdin"))
		close(STDIN_FILENO);
	if (!strcmp(mode, "without_kill"))
		drop_kill();
	if (!sandbox_enter(&rules) ||
	    !sandbox_message_receive(SANDBOX_SOCKET, &job, sizeof(job), fds))
		_exit(1);
	response.gained = attempts[job.attempt].attempt(&job, fds[0]);
	_exit(!sandbox_message_send(SANDBOX_SOCKET, &response, sizeof(response), NULL));
}

static struct sandbox started(const char *mode)
{
	const char *arguments[] = { mode, NULL };
	const struct sandbox_options options = { .arguments = arguments };
	struct sandbox sandbox = { 0 };
	struct err err = { 0 };

	if (!sandbox_start(&sandbox, &options, &err))
		fail_msg("%s", err.msg);
	return sandbox;
}

static bool make_attempt(struct sandbox *sandbox, size_t attempt)
{
	const struct job job = { attempt, getpid() };
	AUTO_FD file = memfd_create("file", MFD_CLOEXEC);
	const int fds[SANDBOX_FDS_MAX] = { file, -1, -1 };

	return sandbox_send(sandbox, &job, sizeof(job), fds);
}

static int64_t counted(enum sandbox_end end)
{
	return metric_get_at(sandbox_metrics[0], end);
}

static void each_attempt_gets_nothing_and_is_counted(void **state)
{
	AUTO_FD secret = memfd_create("secret", 0); /* without close-on-exec */

	(void)state;
	assert_true(write(secret, "secret", 6) == 6);
	assert_int_equal(lseek(secret, 0, SEEK_SET), 0);
	assert_int_equal(dup2(secret, LEAKED), LEAKED);
	setenv("DECIMA_SECRET", "secret", 1); /* NOLINT(concurrency-mt-unsafe): one thread */
	for (size_t i = 0; i < ARRAY_LEN(attempts); i++) {
		const struct attempt *attempt = &attempts[i];

		if (is_skipped(attempt))
			continue;

		struct sandbox sandbox = started("attempt");
		struct response response = { -1 };
		int64_t before = counted(attempt->end);

		assert_true(make_attempt(&sandbox, i));

		enum sandbox_reply reply = sandbox_wait(&sandbox, RESPONSE_MS, NULL, &response,
							sizeof(response), NULL);
		enum sandbox_end end = sandbox_stop(&sandbox, reply);

		if (end != attempt->end)
			fail_msg("%s: %s", attempt->what, sandbox_end_names[end]);
		if (end == SANDBOX_END_STOPPED &&
		    (reply != SANDBOX_RESPONDED || response.gained != 0))
			fail_msg("%s: gained %ld", attempt->what, response.gained);
		assert_int_equal(counted(attempt->end), before + 1);
	}
	close(LEAKED);
}

static void a_process_that_takes_too_long_is_killed(void **state)
{
	struct sandbox sandbox = started("attempt");
	int64_t before = counted(SANDBOX_END_TIMEOUT);
	struct response response;

	(void)state;
	assert_int_equal(sandbox_wait(&sandbox, 1, NULL, &response, sizeof(response), NULL),
			 SANDBOX_BUSY);
	assert_int_equal(sandbox_stop(&sandbox, SANDBOX_BUSY), SANDBOX_END_TIMEOUT);
	assert_int_equal(counted(SANDBOX_END_TIMEOUT), before + 1);
	assert_int_equal(sandbox.pid, 0);
	assert_int_equal(sandbox_stop(&sandbox, SANDBOX_BUSY), SANDBOX_END_STOPPED);
	assert_int_equal(counted(SANDBOX_END_TIMEOUT), before + 1);
}

static void a_process_that_another_one_kills_is_counted_apart(void **state)
{
	struct sandbox sandbox = started("attempt");
	int64_t before = counted(SANDBOX_END_KILLED);
	struct response response;

	(void)state;
	kill(sandbox.pid, SIGKILL);
	assert_int_equal(
		sandbox_wait(&sandbox, RESPONSE_MS, NULL, &response, sizeof(response), NULL),
		SANDBOX_DIED);
	assert_int_equal(sandbox_stop(&sandbox, SANDBOX_DIED), SANDBOX_END_KILLED);
	assert_int_equal(counted(SANDBOX_END_KILLED), before + 1);
}

static void a_start_fails_with_the_restriction_that_is_not_possible(void **state)
{
	static const struct {
		const char *program, *mode, *error;
		enum err_code code;
	} rows[] = {
		{ NULL, "without_stdin", "close the standard output", ERR_IO },
		{ NULL, "silent", "does not respond", ERR_IO },
		{ "no-such-program", "", "no-such-program", ERR_NOT_FOUND },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *arguments[] = { rows[i].mode, NULL };
		struct sandbox sandbox = { 0 };
		struct err err = { 0 };

		assert_false(sandbox_start(&sandbox,
					   &(struct sandbox_options){ .program = rows[i].program,
								      .arguments = arguments },
					   &err));
		assert_non_null(strstr(err.msg, rows[i].error));
		assert_int_equal(err.code, rows[i].code);
		assert_int_equal(sandbox.pid, 0);
	}
}

static void a_start_ends_when_it_is_cancelled(void **state)
{
	struct sandbox sandbox = { 0 };
	struct cancel cancel = { .fd = -1 };
	const char *arguments[] = { "attempt", NULL };
	struct err err;

	(void)state;
	assert_true(cancel_open(&cancel, &err));
	cancel_request(&cancel);
	assert_false(sandbox_start(
		&sandbox, &(struct sandbox_options){ .arguments = arguments, .cancel = &cancel },
		&err));
	assert_int_equal(err.code, ERR_CANCELLED);
	assert_int_equal(sandbox.pid, 0);
	cancel_close(&cancel);
}

/* The value of a line of /proc/PID/status. */
static const char *status_of(pid_t pid, const char *name, char text[static 64])
{
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);

	FILE *file = fopen(path, "re");

	assert_non_null(file);
	text[0] = 0;
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			snprintf(text, 64, "%.*s", (int)strcspn(line + strlen(name) + 2, "\n"),
				 line + strlen(name) + 2);
	fclose(file);
	return text;
}

static void a_parser_has_no_privileges(void **state)
{
	static const char no_capability[] = "0000000000000000";
	struct sandbox sandbox = started("attempt");
	char text[64], uids[64];

	(void)state;
	snprintf(uids, sizeof(uids), "%d\t%d\t%d\t%d", SANDBOX_UID, SANDBOX_UID, SANDBOX_UID,
		 SANDBOX_UID);
	if (geteuid() == 0 && !(sandbox.skipped >> SANDBOX_STEP_USER & 1)) {
		assert_string_equal(status_of(sandbox.pid, "Uid", text), uids);
		assert_string_equal(status_of(sandbox.pid, "Gid", text), uids);
		status_of(sandbox.pid, "Groups", text);
		assert_int_equal(strspn(text, " "), strlen(text));
	}
	if (!(sandbox.skipped >> SANDBOX_STEP_BOUNDING & 1))
		assert_string_equal(status_of(sandbox.pid, "CapBnd", text), no_capability);
	assert_string_equal(status_of(sandbox.pid, "CapPrm", text), no_capability);
	assert_string_equal(status_of(sandbox.pid, "CapEff", text), no_capability);
	assert_string_equal(status_of(sandbox.pid, "CapInh", text), no_capability);
	assert_string_equal(status_of(sandbox.pid, "CapAmb", text), no_capability);
	assert_string_equal(status_of(sandbox.pid, "NoNewPrivs", text), "1");
	assert_string_equal(status_of(sandbox.pid, "Seccomp", text), "2");
	assert_string_equal(status_of(sandbox.pid, "Name", text), "hostile");
	assert_int_equal(sandbox_stop(&sandbox, SANDBOX_RESPONDED), SANDBOX_END_STOPPED);
}

/* Without CAP_KILL the owner could not kill a process of another user. */
static void an_owner_without_the_capability_to_kill_keeps_the_user(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();

	struct sandbox sandbox = started("without_kill");
	char text[64];

	assert_true(sandbox.skipped >> SANDBOX_STEP_USER & 1);
	assert_string_equal(status_of(sandbox.pid, "Uid", text), "0\t0\t0\t0");
	assert_string_equal(status_of(sandbox.pid, "CapEff", text), "0000000000000000");
	assert_true(make_attempt(&sandbox, 0));
	assert_int_equal(sandbox_wait(&sandbox, RESPONSE_MS, NULL, &(struct response){ 0 },
				      sizeof(struct response), NULL),
			 SANDBOX_DIED);
	assert_int_equal(sandbox_stop(&sandbox, SANDBOX_DIED), SANDBOX_END_FORBIDDEN);
}

/* A process between us and the sandboxed one ends without stopping it. */
static void the_process_dies_with_its_owner(void **state)
{
	int ends[2];
	pid_t pid = 0;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);

	pid_t owner = fork();

	if (owner == 0) {
		struct sandbox sandbox = started("attempt");

		_exit(write(ends[1], &sandbox.pid, sizeof(sandbox.pid)) != sizeof(sandbox.pid));
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	assert_int_equal(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(waitpid(owner, NULL, 0), owner);
	assert_int_equal(waitpid(pid, NULL, 0), pid); /* otherwise it waits for a job for ever */
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	close(ends[0]);
	close(ends[1]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(each_attempt_gets_nothing_and_is_counted),
		TEST(a_process_that_takes_too_long_is_killed),
		TEST(a_process_that_another_one_kills_is_counted_apart),
		TEST(a_start_fails_with_the_restriction_that_is_not_possible),
		TEST(a_start_ends_when_it_is_cancelled),
		TEST(a_parser_has_no_privileges),
		TEST(an_owner_without_the_capability_to_kill_keeps_the_user),
		TEST(the_process_dies_with_its_owner),
	};

	return argc > 1 ? child_main(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
