// SPDX-License-Identifier: Apache-2.0
/* Who owns a process of another user needs root: a process of root starts it. */
#include "agent/process/owner.h"
#include "agent/process/process.h"
#include "support/test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum { NOBODY = 65534, OF_NAMESPACE = 100007, NO_PROCESS = 0x7ffffff0 };

static struct share_owner owner(uint32_t pid, uint32_t parent_pid, struct process_cgroup *cgroup)
{
	struct process process = { .pid = pid, .parent_pid = parent_pid, .cgroup = cgroup };

	return owner_of_process(&process);
}

static void a_domain_is_the_owner(void **state)
{
	struct process_cgroup of_user = { .names = { .domain = STR("user-1000.slice"),
						     .unit = STR("user@1000.service") } };
	struct process_cgroup of_container = { .names = { .domain = STR("0123") } };

	(void)state;
	assert_int_equal(owner(1, 0, &of_user).class_of, OWNER_USER);
	assert_int_equal(owner(1, 0, &of_container).class_of, OWNER_CONTAINER);
	assert_true(owner(1, 0, &of_user).id != owner(1, 0, &of_container).id);
	assert_true(owner(2, 0, &of_container).id == owner(1, 0, &of_container).id);
}

static void without_a_domain_it_is_the_user_of_the_process_or_of_its_parent(void **state)
{
	struct process_cgroup cron = { .names = { .unit = STR("cron.service") } };
	uint32_t self = (uint32_t)getpid();

	(void)state;
	assert_int_equal(owner(self, 0, NULL).class_of, geteuid() ? OWNER_USER : OWNER_ROOT);
	assert_int_equal(owner(NO_PROCESS, self, NULL).id, owner(self, 0, NULL).id);
	assert_int_equal(owner(NO_PROCESS, 0, NULL).class_of, OWNER_USER);
	assert_true(owner(NO_PROCESS, 0, NULL).id != owner(self, 0, NULL).id);
	assert_true(owner(self, 0, &cron).id != owner(self, 0, NULL).id);
}

static void the_owner_of_a_process_that_is_gone_is_the_one_known_before(void **state)
{
	struct process process = { .pid = NO_PROCESS,
				   .owner = { .id = 5, .class_of = OWNER_USER } };

	(void)state;
	assert_int_equal(owner_of_process(&process).id, 5);
}

static void wait_for_byte(int fd)
{
	char byte;

	assert_int_equal(read(fd, &byte, 1), 1);
}

/* A child of NOBODY, which waits until it is killed; in a user namespace, as another user there. */
static pid_t start_child(bool in_namespace)
{
	int ready[2], go[2];
	char path[64];
	pid_t pid;

	assert_int_equal(pipe(ready) | pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		char byte;

		if (setuid(NOBODY) || (in_namespace && unshare(CLONE_NEWUSER)) ||
		    write(ready[1], "r", 1) != 1 || read(go[0], &byte, 1) != 1 ||
		    (in_namespace && setuid(OF_NAMESPACE - 100000)) || write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	wait_for_byte(ready[0]);
	if (in_namespace) {
		snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);

		AUTO_FD map = open(path, O_WRONLY | O_CLOEXEC);

		assert_int_equal(write(map, "0 100000 65536\n", 15), 15);
	}
	assert_int_equal(write(go[1], "g", 1), 1);
	wait_for_byte(ready[0]);
	close(ready[0]);
	close(go[0]);
	close(go[1]);
	return pid;
}

static struct share_owner owner_of_child(bool in_namespace)
{
	pid_t pid = start_child(in_namespace);
	struct share_owner its = owner((uint32_t)pid, 0, NULL);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return its;
}

static void the_users_of_a_namespace_are_the_user_who_made_it(void **state)
{
	struct share_owner outside, inside;

	(void)state;
	if (geteuid() != 0)
		skip();
	outside = owner_of_child(false);
	inside = owner_of_child(true);
	assert_int_equal(inside.id, outside.id);
	assert_int_equal(inside.class_of, OWNER_USER);
	assert_true(outside.id != owner((uint32_t)getpid(), 0, NULL).id);
}

RUN_TESTS(TEST(a_domain_is_the_owner),
	  TEST(without_a_domain_it_is_the_user_of_the_process_or_of_its_parent),
	  TEST(the_owner_of_a_process_that_is_gone_is_the_one_known_before),
	  TEST(the_users_of_a_namespace_are_the_user_who_made_it))
