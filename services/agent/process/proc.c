// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/proc_internal.h"

#include <fcntl.h>
#include <stdio.h>

enum { PROC_NAME_MAX = 64, FIRST_READ = 4096, KERNEL_THREAD_FLAG = 0x00200000 };

static str read_whole(struct arena *arena, int fd, size_t max)
{
	size_t cap = FIRST_READ, len = 0;
	char *bytes = arena_alloc(arena, cap, 1, 1);

	for (;;) {
		ssize_t n = read(fd, bytes + len, cap - len);

		if (n <= 0)
			return (str){ bytes, len };
		len += (size_t)n;
		if (len >= max)
			return (str){ bytes, len };
		if (len < cap)
			continue;

		char *bigger = arena_alloc(arena, cap * 2, 1, 1);

		memcpy(bigger, bytes, len);
		bytes = bigger;
		cap *= 2;
	}
}

str proc_read(struct arena *arena, uint32_t pid, const char *name, size_t max)
{
	char path[PROC_NAME_MAX];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);

	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? (str){ 0 } : read_whole(arena, fd, max);
}

str proc_exe(struct arena *arena, uint32_t pid)
{
	char path[PROC_NAME_MAX], target[4096];

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);

	ssize_t len = readlink(path, target, sizeof(target));
	str exe = { target, len > 0 ? (size_t)len : 0 };

	if (str_ends_with(exe, STR(" (deleted)")))
		exe.len -= sizeof(" (deleted)") - 1;
	return str_copy(arena, exe);
}

/* The text after the name. The name is in parentheses and may itself contain parentheses, so the
 * last one ends it. */
static str after_name(str text)
{
	for (size_t i = text.len; i > 0; i--)
		if (text.ptr[i - 1] == ')')
			return str_trim(str_skip(text, i));
	return (str){ 0 };
}

bool proc_stat_parse(str text, struct proc_stat *ret_stat)
{
	enum { PARENT = 4, FLAGS = 9, THREADS = 20, START = 22 };
	str rest = after_name(text);
	uint64_t fields[START + 1] = { 0 };

	str_cut(&rest, ' '); /* field 3, the state, is a letter */
	for (int i = PARENT; i <= START; i++) {
		str field = str_cut(&rest, ' ');
		bool wanted = i == PARENT || i == FLAGS || i == THREADS || i == START;

		if (wanted && !str_to_u64(field, &fields[i]))
			return false;
	}
	*ret_stat = (struct proc_stat){ .parent_pid = (uint32_t)fields[PARENT],
					.threads = (uint32_t)fields[THREADS],
					.start_ticks = fields[START],
					.kernel_thread = fields[FLAGS] & KERNEL_THREAD_FLAG };
	return true;
}

bool proc_stat_read(uint32_t pid, struct proc_stat *ret_stat)
{
	char path[PROC_NAME_MAX], text[1024];

	/* For /proc/PID/stat the kernel adds up the times of all threads. */
	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, pid);

	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));

	return len > 0 && proc_stat_parse((str){ text, (size_t)len }, ret_stat);
}
