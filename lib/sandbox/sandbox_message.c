// SPDX-License-Identifier: Apache-2.0
#include "sandbox/sandbox_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(SANDBOX_FDS_MAX * sizeof(int))];
};

bool sandbox_message_send(int socket, const void *bytes, size_t len, const int *fds)
{
	union control control = { 0 };
	struct iovec piece = { (void *)(uintptr_t)bytes, len };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	size_t count = 0;

	while (fds && count < SANDBOX_FDS_MAX && fds[count] >= 0)
		count++;
	if (count) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(count * sizeof(int)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

/* The padding of the control bytes has room for more descriptors than were asked for. */
struct received_fds {
	int fds[sizeof(union control) / sizeof(int)];
	size_t count;
};

static struct received_fds descriptors_of(struct msghdr *message)
{
	struct received_fds received = { .fds = { -1, -1, -1 } };

	for (struct cmsghdr *passed = CMSG_FIRSTHDR(message); passed;
	     passed = CMSG_NXTHDR(message, passed)) {
		size_t len = passed->cmsg_len - CMSG_LEN(0);

		if (passed->cmsg_level != SOL_SOCKET || passed->cmsg_type != SCM_RIGHTS ||
		    received.count * sizeof(int) + len > sizeof(received.fds))
			continue;
		memcpy(&received.fds[received.count], CMSG_DATA(passed), len);
		received.count += len / sizeof(int);
	}
	return received;
}

bool sandbox_message_receive(int socket, void *ret_bytes, size_t len, int *ret_fds)
{
	union control control;
	struct iovec piece = { ret_bytes, len };
	struct msghdr message = { .msg_iov = &piece,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	ssize_t got;

	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_TRUNC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return false;

	struct received_fds received = descriptors_of(&message);
	size_t most = ret_fds ? SANDBOX_FDS_MAX : 0;

	if (got != (ssize_t)len || message.msg_flags & MSG_CTRUNC || received.count > most) {
		for (size_t i = 0; i < received.count; i++)
			close(received.fds[i]);
		return false;
	}
	if (ret_fds)
		memcpy(ret_fds, received.fds, SANDBOX_FDS_MAX * sizeof(int));
	return true;
}
