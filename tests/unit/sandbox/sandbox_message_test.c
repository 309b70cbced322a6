// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"
#include "sandbox/sandbox_message.h"
#include "support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

static size_t open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t count = 0;

	while (readdir(directory)) /* NOLINT(concurrency-mt-unsafe): one thread */
		count++;
	closedir(directory);
	return count;
}

static int setup(void **state)
{
	static int sockets[2];

	*state = sockets;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets);
}

static int teardown(void **state)
{
	int *sockets = *state;

	close(sockets[0]);
	return sockets[1] < 0 ? 0 : close(sockets[1]);
}

static void bytes_and_descriptors_arrive(void **state)
{
	const int *sockets = *state;

	for (int count = 0; count <= SANDBOX_FDS_MAX; count++) {
		int fds[SANDBOX_FDS_MAX] = { -1, -1, -1 }, got[SANDBOX_FDS_MAX];
		uint64_t bytes = 0;

		for (int i = 0; i < count; i++)
			fds[i] = memfd_create("message", MFD_CLOEXEC);
		assert_true(sandbox_message_send(sockets[0], &(uint64_t){ 42 }, 8, fds));
		assert_true(sandbox_message_receive(sockets[1], &bytes, 8, got));
		assert_int_equal(bytes, 42);
		for (int i = 0; i < SANDBOX_FDS_MAX; i++) {
			assert_int_equal(got[i] >= 0, i < count);
			if (i < count) {
				assert_int_equal(fcntl(got[i], F_GETFD), FD_CLOEXEC);
				close(got[i]);
				close(fds[i]);
			}
		}
	}
}

static void a_malformed_message_leaves_no_descriptor_open(void **state)
{
	const struct {
		size_t sent, expected;
		bool takes_descriptors;
	} rows[] = {
		{ 4, 8, true },
		{ 8, 4, true },
		{ 8, 8, false },
		{ 4, 8, false },
	};
	const int *sockets = *state;
	AUTO_FD file = memfd_create("message", MFD_CLOEXEC);
	const int fds[SANDBOX_FDS_MAX] = { file, file, -1 };
	size_t before = open_descriptors();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int got[SANDBOX_FDS_MAX] = { 7, 7, 7 };
		uint64_t bytes = 0;

		assert_true(sandbox_message_send(sockets[0], &bytes, rows[i].sent, fds));
		assert_false(sandbox_message_receive(sockets[1], &bytes, rows[i].expected,
						     rows[i].takes_descriptors ? got : NULL));
		assert_int_equal(got[0], 7);
		assert_int_equal(open_descriptors(), before);
	}
}

/* The kernel cuts off what does not fit; those that fit have arrived nevertheless. */
static void a_message_with_too_many_descriptors_is_rejected(void **state)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} control = { .header = { CMSG_LEN(8 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	const int *sockets = *state;
	int got[SANDBOX_FDS_MAX];
	uint64_t bytes = 0;
	struct iovec piece = { &bytes, sizeof(bytes) };
	struct msghdr message = { .msg_iov = &piece,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	size_t before = open_descriptors();

	for (size_t i = 0; i < 8; i++)
		memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &sockets[0], sizeof(int));
	assert_int_equal(sendmsg(sockets[0], &message, 0), sizeof(bytes));
	assert_false(sandbox_message_receive(sockets[1], &bytes, sizeof(bytes), got));
	assert_int_equal(open_descriptors(), before);
}

static void a_closed_peer_ends_the_messages(void **state)
{
	int *sockets = *state;
	uint64_t bytes = 0;

	close(sockets[1]);
	sockets[1] = -1;
	assert_false(sandbox_message_send(sockets[0], &bytes, sizeof(bytes), NULL));
	assert_false(sandbox_message_receive(sockets[0], &bytes, sizeof(bytes), NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bytes_and_descriptors_arrive, setup, teardown),
		cmocka_unit_test_setup_teardown(a_malformed_message_leaves_no_descriptor_open,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_message_with_too_many_descriptors_is_rejected,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_closed_peer_ends_the_messages, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
