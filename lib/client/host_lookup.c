// SPDX-License-Identifier: Apache-2.0
#include "client/host_lookup.h"

#include "base/clock.h"
#include "base/liveness.h"
#include "base/str.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>

static _Atomic unsigned int running;
static _Atomic uint64_t refused;

/* Shared by the caller and its thread; the last one frees it. */
struct lookup {
	_Atomic unsigned int references;
	int done; /* an eventfd: the thread has set the result */
	char *host;
	char port[8];
	struct addrinfo *addresses;
	int code; /* of getaddrinfo() */
};

static int resolve(struct lookup *lookup, int flags)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = flags | AI_NUMERICSERV };

	return getaddrinfo(lookup->host, lookup->port, &hints, &lookup->addresses);
}

static void release(struct lookup *lookup)
{
	if (--lookup->references)
		return;
	if (lookup->addresses)
		freeaddrinfo(lookup->addresses);
	if (lookup->done >= 0)
		close(lookup->done);
	free(lookup->host);
	free(lookup);
}

static void *run(void *self)
{
	struct lookup *lookup = self;
	uint64_t one = 1;

	lookup->code = resolve(lookup, 0);
	(void)!write(lookup->done, &one, sizeof(one));
	release(lookup);
	running--;
	return NULL;
}

static bool start(struct lookup *lookup, struct err *err)
{
	pthread_t thread;
	int failure;

	lookup->done = eventfd(0, EFD_CLOEXEC);
	if (lookup->done < 0)
		return err_errno(err, "resolve %s", lookup->host);
	if (++running > HOST_LOOKUPS_MAX) {
		running--;
		refused++;
		return err_set(err, ERR_BUSY, "resolve %s: earlier lookups of names still wait",
			       lookup->host);
	}
	lookup->references++;
	failure = pthread_create(&thread, NULL, run, lookup);
	if (failure) {
		lookup->references--;
		running--;
		errno = failure;
		return err_errno(err, "resolve %s", lookup->host);
	}
	pthread_detach(thread);
	return true;
}

static bool wait(const struct lookup *lookup, uint64_t deadline_ns, struct err *err)
{
	struct pollfd done = { .fd = lookup->done, .events = POLLIN };
	uint64_t now_ns, count;

	while ((now_ns = clock_monotonic_ns()) < deadline_ns)
		if (poll(&done, 1, liveness_wait_ms((deadline_ns - now_ns) / NS_PER_MS + 1)) > 0)
			return read(lookup->done, &count, sizeof(count)) == sizeof(count) ||
			       err_errno(err, "resolve %s", lookup->host);
	return err_set(err, ERR_TIMEOUT, "%s was not resolved in time", lookup->host);
}

bool host_lookup(const char *host, uint16_t port, uint64_t deadline_ns,
		 struct addrinfo **ret_addresses, struct err *err)
{
	struct lookup *lookup = calloc(1, sizeof(*lookup));
	bool good = true;

	if (!lookup || !(lookup->host = strdup(host)))
		abort(); /* out of memory */
	lookup->references = 1;
	lookup->done = -1;
	snprintf(lookup->port, sizeof(lookup->port), "%u", port);
	lookup->code = resolve(lookup, AI_NUMERICHOST);
	if (lookup->code == EAI_NONAME)
		good = start(lookup, err) && wait(lookup, deadline_ns, err);
	if (good && lookup->code)
		good = err_set(err, ERR_IO, "resolve %s: %s", host, gai_strerror(lookup->code));
	if (good) {
		*ret_addresses = lookup->addresses;
		lookup->addresses = NULL;
	}
	release(lookup);
	return good;
}

uint64_t host_lookups_refused(void)
{
	return refused;
}
