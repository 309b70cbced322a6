// SPDX-License-Identifier: Apache-2.0
#include "server/http/socket.h"

#include "base/liveness.h"
#include "base/str.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

DEFINE_CLEANUP(struct addrinfo *, freeaddrinfo)

/* Split "host:port". An empty host means all addresses. */
static bool split(const char *address, char *host, size_t host_cap, char *port, size_t port_cap,
		  struct err *err)
{
	const char *colon = strrchr(address, ':');
	uint64_t number;

	if (!colon || !str_to_u64(str_from(colon + 1), &number) || number > UINT16_MAX)
		return err_set(
			err, ERR_INVALID,
			"address \"%s\" does not have the form 127.0.0.1:7070, :7070 or [::1]:7070",
			address);

	str name = { address, (size_t)(colon - address) };

	if (name.len >= 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']')
		name = (str){ name.ptr + 1, name.len - 2 };
	else if (str_find(name, STR(":")) != SIZE_MAX)
		return err_set(err, ERR_INVALID, "IPv6 address in \"%s\" needs [brackets]",
			       address);
	if (name.len >= host_cap || strlen(colon + 1) >= port_cap)
		return err_set(err, ERR_INVALID, "address \"%s\" is too long", address);
	if (name.len)
		memcpy(host, name.ptr, name.len);
	host[name.len] = 0;
	memcpy(port, colon + 1, strlen(colon + 1) + 1);
	return true;
}

static bool resolve(const char *address, bool to_listen, struct addrinfo **ret_found,
		    struct err *err)
{
	char host[256], port[8];
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0) };

	if (!split(address, host, sizeof(host), port, sizeof(port), err))
		return false;

	int failed = getaddrinfo(host[0] ? host : NULL, port, &hints, ret_found);

	if (failed)
		return err_set(err, ERR_IO, "resolve address \"%s\": %s", address,
			       gai_strerror(failed));
	return true;
}

/* -1: see errno. */
static int listen_on(const struct addrinfo *where)
{
	AUTO_FD fd = socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int yes = 1, no = 0;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (where->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (bind(fd, where->ai_addr, where->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0)
		return -1;
	return fd_take(&fd);
}

static uint16_t port_of(int fd)
{
	struct sockaddr_in6 address = { 0 }; /* the port is at the same offset as in sockaddr_in */
	socklen_t len = sizeof(address);

	getsockname(fd, (struct sockaddr *)&address, &len);
	return ntohs(address.sin6_port);
}

/* IPv6 first: its wildcard address accepts IPv4 as well. */
bool socket_listen(const char *address, int *ret_fd, uint16_t *ret_port, struct err *err)
{
	CLEANUP(freeaddrinfop) struct addrinfo *found = NULL;
	static const int families[] = { AF_INET6, AF_INET };

	if (!resolve(address, true, &found, err))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		for (struct addrinfo *where = found; where; where = where->ai_next) {
			int fd = where->ai_family == families[i] ? listen_on(where) : -1;

			if (fd >= 0) {
				*ret_fd = fd;
				*ret_port = port_of(fd);
				return true;
			}
		}
	}
	return err_errno(err, "listen on %s", address);
}

bool socket_connect(const char *address, uint64_t timeout_ms, int *ret_fd, struct err *err)
{
	CLEANUP(freeaddrinfop) struct addrinfo *found = NULL;
	struct timeval timeout = { .tv_sec = (time_t)(timeout_ms / 1000),
				   .tv_usec = (suseconds_t)(timeout_ms % 1000 * 1000) };

	if (!resolve(address, false, &found, err))
		return false;
	for (struct addrinfo *where = found; where; where = where->ai_next) {
		AUTO_FD fd = socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
		if (connect(fd, where->ai_addr, where->ai_addrlen) == 0) {
			*ret_fd = fd_take(&fd);
			return true;
		}
	}
	return err_errno(err, "connect to %s", address);
}

bool socket_discard(int fd, uint64_t max, uint64_t pause_ms)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	uint64_t received = 0;
	char room[16 << 10];

	while (received <= max && poll(&polled, 1, liveness_wait_ms(pause_ms)) > 0) {
		ssize_t n = recv(fd, room, sizeof(room), MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return true;
		received += n > 0 ? (uint64_t)n : 0;
	}
	return received <= max;
}
