// SPDX-License-Identifier: Apache-2.0
/*
 * spawn - starts many short-lived processes and prints the CPU time of each.
 *
 *     spawn SECONDS PER_SECOND COMMAND...    e.g. spawn 60 200 sh -c true
 *
 * PER_SECOND 0 starts the next when the one before has ended. At the end it prints, as JSON, its
 * own pid and for each child the pid, the start and end (CLOCK_MONOTONIC, seconds) and the CPU time
 * that the kernel accounts to it and to the children it waited for:
 *
 *     {"pid":1,"children":[[PID,START,END,CPU_SECONDS],...]}
 *
 * The CPU time is from wait4(), in microseconds.
 *
 *     spawn --log FILE COMMAND...    e.g. gcc -wrapper spawn,--log,FILE -c x.c
 *
 * runs one command and appends its own pid and the command's to the file. So a test can find the
 * parents of the processes that the gcc driver has waited for.
 */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct child {
	pid_t pid;
	double start, end, cpu;
};

enum { CHILDREN_MAX = 1 << 20 };

static struct child *children;
static size_t child_count, ended;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static pid_t run(char **command)
{
	pid_t pid;

	if (posix_spawnp(&pid, command[0], NULL, NULL, command, environ) != 0)
		exit(EXIT_FAILURE);
	return pid;
}

static void start(char **command)
{
	struct child *child = &children[child_count++];

	child->start = now();
	child->pid = run(command);
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* The newest child with that pid: pids are reused. */
static void end(pid_t pid, const struct rusage *usage)
{
	for (size_t i = child_count; i > 0; i--) {
		struct child *child = &children[i - 1];

		if (child->pid != pid || child->end > 0)
			continue;
		child->end = now();
		child->cpu = seconds(usage->ru_utime) + seconds(usage->ru_stime);
		ended++;
		return;
	}
}

static void collect_ended(int flags)
{
	struct rusage usage;
	pid_t pid;

	while (ended < child_count && (pid = wait4(-1, NULL, flags, &usage)) > 0)
		end(pid, &usage);
}

static void print_all(void)
{
	printf("{\"pid\":%d,\"children\":[", (int)getpid());
	for (size_t i = 0; i < child_count; i++)
		printf("%s[%d,%.6f,%.6f,%.6f]", i ? "," : "", (int)children[i].pid,
		       children[i].start, children[i].end, children[i].cpu);
	printf("]}\n");
}

static int run_and_log(const char *path, char **command)
{
	FILE *log = fopen(path, "ae");
	pid_t pid = run(command);
	int status = 0;

	if (log) {
		fprintf(log, "%d\n%d\n", (int)getpid(), (int)pid);
		fclose(log);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return EXIT_FAILURE;
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	double duration, per_second;

	if (argc > 3 && strcmp(argv[1], "--log") == 0)
		return run_and_log(argv[2], argv + 3);

	/* NOLINTNEXTLINE(cert-err34-c): a test's own arguments */
	if (argc < 4 || sscanf(argv[1], "%lf", &duration) != 1 ||
	    sscanf(argv[2], "%lf", &per_second) != 1) /* NOLINT(cert-err34-c): likewise */
		return EXIT_FAILURE;
	children = calloc(CHILDREN_MAX, sizeof(*children));
	if (!children)
		return EXIT_FAILURE;

	double begin = now();

	while (now() - begin < duration && child_count < CHILDREN_MAX) {
		start(argv + 3);
		if (per_second <= 0) {
			collect_ended(0);
			continue;
		}
		collect_ended(WNOHANG);

		double wait = begin + (double)child_count / per_second - now();

		if (wait > 0)
			usleep((useconds_t)(wait * 1e6));
	}
	collect_ended(0);
	print_all();
	return EXIT_SUCCESS;
}
