// SPDX-License-Identifier: Apache-2.0
#include "agent/unwind/unwind_kernel_internal.h"
#include "base/heap.h"
#include "base/log.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SEGMENT_BYTES = UNWIND_SEGMENT_PAGES * UNWIND_PAGE_BYTES };
enum { CHANGES_MAX = 4 * UNWIND_SEGMENTS_MAX, BATCH_MAX = 256, CHANGES_WAIT_MS = 3600000 };

struct segment_change {
	uint32_t segment;
	int fd;
	bool drops; /* delete the segment and close its descriptor; false: insert it */
};

/* In one call since Linux 5.19; one by one before. */
static void insert(const struct unwind_kernel *kernel, const uint32_t *segments, const int *fds,
		   uint32_t count)
{
	uint32_t done = count;

	if (kernel->stopping)
		return;
	if (count > 1 && bpf_map_update_batch(kernel->segments_fd, segments, fds, &done, NULL) == 0)
		return;
	for (uint32_t i = 0; i < count; i++)
		if (bpf_map_update_elem(kernel->segments_fd, &segments[i], &fds[i], BPF_ANY) != 0)
			log_error("segment of unwind tables not inserted",
				  "segment=%u error=\"%s\"", segments[i],
				  strerror(errno)); /* NOLINT(concurrency-mt-unsafe) */
}

static void drop(const struct unwind_kernel *kernel, const struct segment_change *change)
{
	if (!kernel->stopping)
		(void)!bpf_map_delete_elem(kernel->segments_fd, &change->segment);
	close(change->fd);
}

/* Changes are applied in order: a segment may be deleted and then inserted again. */
static void *change_all(void *self)
{
	struct unwind_kernel *kernel = self;
	uint32_t segments[BATCH_MAX];
	int fds[BATCH_MAX];
	uint32_t count = 0;
	void *item;

	for (;;) {
		bool more = queue_pop(&kernel->changes, &item, count ? 0 : CHANGES_WAIT_MS);
		AUTO_FREE struct segment_change *change = more ? item : NULL;

		if (change && !change->drops) {
			segments[count] = change->segment;
			fds[count++] = change->fd;
		}
		if (count && (!change || change->drops || count == BATCH_MAX)) {
			insert(kernel, segments, fds, count);
			count = 0;
		}
		if (change && change->drops)
			drop(kernel, change);
		if (!change && queue_is_closed(&kernel->changes))
			return NULL;
	}
}

static bool push(struct unwind_kernel *kernel, uint32_t segment, int fd, bool drops)
{
	struct segment_change *change = heap_new(struct segment_change);

	*change = (struct segment_change){ .segment = segment, .fd = fd, .drops = drops };
	if (queue_push(&kernel->changes, change))
		return true;
	free(change);
	return false;
}

static bool add(void *self, uint32_t segment, struct err *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	struct unwind_kernel *kernel = self;
	AUTO_FD fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_segment", sizeof(uint32_t),
				    UNWIND_PAGE_BYTES, UNWIND_SEGMENT_PAGES, &options);

	if (fd < 0)
		return err_errno(err, "create a segment for unwind tables");
	if (!push(kernel, segment, fd, false))
		return err_set(err, ERR_LIMIT, "too many changes of segments wait for the kernel");
	kernel->fds[segment] = fd_take(&fd);
	return true;
}

static void drop_segment(void *self, uint32_t segment)
{
	struct unwind_kernel *kernel = self;
	struct segment_change change = { .segment = segment,
					 .fd = kernel->fds[segment],
					 .drops = true };

	kernel->fds[segment] = 0;
	if (kernel->stopping || !push(kernel, segment, change.fd, true))
		drop(kernel, &change);
}

static uint8_t *map(void *self, uint32_t segment)
{
	const struct unwind_kernel *kernel = self;
	void *pages = mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			   kernel->fds[segment], 0);

	return pages == MAP_FAILED ? NULL : pages;
}

static void unmap(void *self, uint8_t *pages)
{
	(void)self;
	munmap(pages, SEGMENT_BYTES);
}

static bool put_process(void *self, uint32_t tgid, const struct unwind_process *process)
{
	const struct unwind_kernel *kernel = self;

	return bpf_map_update_elem(kernel->processes_fd, &tgid, process, BPF_ANY) == 0;
}

static void drop_process(void *self, uint32_t tgid)
{
	const struct unwind_kernel *kernel = self;

	(void)!bpf_map_delete_elem(kernel->processes_fd, &tgid);
}

struct unwind_memory unwind_kernel_memory(struct unwind_kernel *kernel)
{
	return (struct unwind_memory){ .add = add,
				       .drop = drop_segment,
				       .map = map,
				       .unmap = unmap,
				       .put_process = put_process,
				       .drop_process = drop_process,
				       .self = kernel };
}

bool unwind_kernel_open(struct unwind_kernel *kernel, int segments_fd, int processes_fd,
			struct err *err)
{
	sigset_t all, before;

	*kernel =
		(struct unwind_kernel){ .segments_fd = segments_fd, .processes_fd = processes_fd };
	kernel->fds = heap_array(int, UNWIND_SEGMENTS_MAX);
	queue_init(&kernel->changes, CHANGES_MAX);
	sigfillset(&all); /* signals are the main thread's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	kernel->running = pthread_create(&kernel->thread, NULL, change_all, kernel) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!kernel->running)
		return err_set(err, ERR_IO, "start the thread that updates maps");
	pthread_setname_np(kernel->thread, "unwind_maps");
	return true;
}

void unwind_kernel_stop(struct unwind_kernel *kernel)
{
	kernel->stopping = true;
}

void unwind_kernel_close(struct unwind_kernel *kernel)
{
	if (!kernel->fds)
		return;
	queue_close(&kernel->changes);
	if (kernel->running)
		pthread_join(kernel->thread, NULL);
	queue_done(&kernel->changes);
	free(kernel->fds);
	*kernel = (struct unwind_kernel){ 0 };
}
