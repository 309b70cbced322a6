// SPDX-License-Identifier: Apache-2.0
/*
 * sandbox_filter - the system calls of a process that parses files.
 *
 * No call of the list creates anything that outlives the process, opens a file by name, or reaches
 * another process. Descriptors come in by recvmsg() only. fstat() is newfstatat() in glibc, so the
 * metadata of a path can be read; its contents cannot.
 */
#include "sandbox/sandbox_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Those that one architecture has not are left out by libseccomp. */
static const int allowed[] = {
	/* descriptors that it was given, and files in memory */
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(pread64),
	SCMP_SYS(preadv),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	SCMP_SYS(pwrite64),
	SCMP_SYS(pwritev),
	SCMP_SYS(lseek),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(ftruncate),
	SCMP_SYS(close),
	SCMP_SYS(memfd_create),
	/* jobs and responses */
	SCMP_SYS(recvmsg),
	SCMP_SYS(recvfrom),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sendto),
	/* memory */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(futex),
	/* time, and what glibc asks the system: qsort() for the memory */
	SCMP_SYS(clock_gettime),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(getrandom),
	SCMP_SYS(sysinfo),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(sched_yield),
	/* the end */
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
#ifdef SANDBOX_SANITIZED
	SCMP_SYS(sigaltstack),
#endif
};

/* Calls of which one argument is checked: (argument & mask) == value. */
struct checked_call {
	int call;
	unsigned int argument;
	uint64_t mask, value;
};

static int rules_add(scmp_filter_ctx filter)
{
	const struct checked_call checked[] = {
		{ SCMP_SYS(mmap), 2, PROT_EXEC, 0 },
		{ SCMP_SYS(mprotect), 2, PROT_EXEC, 0 },
		/* Not F_SETOWN, which makes the kernel send signals to another process. */
		{ SCMP_SYS(fcntl), 1, UINT32_MAX, F_GETFL },
		{ SCMP_SYS(fcntl), 1, UINT32_MAX, F_GETFD },
		{ SCMP_SYS(fcntl), 1, UINT32_MAX, F_DUPFD_CLOEXEC },
		/* abort() sends its signal; newer malloc()s name their memory */
		{ SCMP_SYS(tgkill), 0, UINT32_MAX, (uint64_t)getpid() },
		{ SCMP_SYS(prctl), 0, UINT32_MAX, PR_SET_VMA },
	};
	int failed = 0;

	for (size_t i = 0; i < ARRAY_LEN(allowed) && !failed; i++)
		failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; i < ARRAY_LEN(checked) && !failed; i++)
		failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, checked[i].call, 1,
					  SCMP_CMP64(checked[i].argument, SCMP_CMP_MASKED_EQ,
						     checked[i].mask, checked[i].value));
	return failed;
}

bool sandbox_filter_load(struct err *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int failed = filter ? 0 : -ENOMEM;

	if (!failed)
		failed = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!failed)
		failed = rules_add(filter);
	if (!failed)
		failed = seccomp_load(filter);
	seccomp_release(filter);
	if (!failed)
		return true;
	errno = -failed;
	return err_errno(err, "restrict system calls with seccomp");
}
