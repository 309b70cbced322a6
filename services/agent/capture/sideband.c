// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/capture/sideband_internal.h"
#include "base/clock.h"
#include "base/heap.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

enum { RECORD_BYTES_MAX = 65536, HEADER_BYTES = 8 };

/* If more than 1/PRESSED_PART of a ring is used when it is drained, it may overflow before the next
 * drain. Then the drains come SOONER times as often. */
enum { PRESSED_PART = 4, SOONER = DRAIN_INTERVAL_MS / DRAIN_PRESSED_MS };

struct sideband_ring {
	uint32_t cpu;
	int fd;
	struct perf_event_mmap_page *control; /* the page before the data */
};

static int open_event(uint32_t cpu, bool build_ids)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = build_ids,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* no wake-ups: the rings are polled */
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Locked memory may be scarce (kernel.perf_event_mlock_kb): a smaller ring is better than none. */
static bool map_ring(struct sideband *band, struct sideband_ring *ring, struct err *err)
{
	for (;;) {
		void *map = mmap(NULL, band->page_bytes + band->ring_bytes, PROT_READ | PROT_WRITE,
				 MAP_SHARED, ring->fd, 0);

		if (map != MAP_FAILED) {
			ring->control = map;
			return true;
		}
		if (errno != EPERM || band->ring_bytes <= 8 * band->page_bytes || band->ring_count)
			return err_errno(err, "map a sideband ring of %zu bytes", band->ring_bytes);
		band->ring_bytes /= 2;
	}
}

static void close_ring(struct sideband *band, struct sideband_ring *ring)
{
	if (ring->control)
		munmap(ring->control, band->page_bytes + band->ring_bytes);
	fd_closep(&ring->fd);
}

/* *ret_open stays false if the CPU is offline. */
static bool open_ring(struct sideband *band, struct sideband_ring *ring, bool *ret_open,
		      struct err *err)
{
	ring->fd = open_event(ring->cpu, band->build_ids);
	if (ring->fd < 0 && errno == EINVAL && band->build_ids) {
		band->build_ids = false; /* before 5.12 */
		ring->fd = open_event(ring->cpu, false);
	}
	if (ring->fd < 0 && errno == ENODEV)
		return true;
	if (ring->fd < 0)
		return err_errno(err, "open the sideband event of CPU %u", ring->cpu);
	*ret_open = true;
	return map_ring(band, ring, err);
}

void sideband_init(struct sideband *band)
{
	*band = (struct sideband){ .build_ids = true };
	band->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	band->ring_bytes = SIDEBAND_RING_PAGES * band->page_bytes;
	band->scratch = heap_zeroed(RECORD_BYTES_MAX, 1);
}

void sideband_close(struct sideband *band)
{
	for (size_t i = 0; i < band->ring_count; i++)
		close_ring(band, &band->rings[i]);
	free(band->rings);
	free(band->scratch);
	*band = (struct sideband){ 0 };
}

static bool has_ring(const struct sideband *band, uint32_t cpu)
{
	for (size_t i = 0; i < band->ring_count; i++)
		if (band->rings[i].cpu == cpu)
			return true;
	return false;
}

static void close_others(struct sideband *band, const uint32_t *cpus, size_t cpu_count)
{
	for (size_t i = band->ring_count; i > 0; i--) {
		struct sideband_ring *ring = &band->rings[i - 1];
		bool wanted = false;

		for (size_t j = 0; j < cpu_count; j++)
			wanted |= cpus[j] == ring->cpu;
		if (wanted)
			continue;
		close_ring(band, ring);
		*ring = band->rings[--band->ring_count];
	}
}

bool sideband_follow(struct sideband *band, const uint32_t *cpus, size_t cpu_count, struct err *err)
{
	close_others(band, cpus, cpu_count);
	band->rings = heap_resize(band->rings, band->ring_count + cpu_count, sizeof(*band->rings));
	for (size_t i = 0; i < cpu_count; i++) {
		struct sideband_ring ring = { .cpu = cpus[i], .fd = -1 };
		bool open = false;

		if (has_ring(band, cpus[i]))
			continue;
		if (!open_ring(band, &ring, &open, err)) {
			close_ring(band, &ring);
			return false;
		}
		if (open)
			band->rings[band->ring_count++] = ring;
	}
	return true;
}

/* The bytes at a position of the ring, contiguous: copied into the scratch if they wrap around. */
static str ring_bytes(struct sideband *band, const char *data, uint64_t at, size_t len)
{
	size_t start = (size_t)(at & (band->ring_bytes - 1));
	size_t until_end = band->ring_bytes - start;

	if (len <= until_end)
		return (str){ data + start, len };
	memcpy(band->scratch, data + start, until_end);
	memcpy(band->scratch + until_end, data, len - until_end);
	return (str){ band->scratch, len };
}

static void report_record(struct sideband *band, str bytes, sideband_on_record *on_record,
			  void *self)
{
	struct sideband_record record;
	struct err err;

	band->records++;
	if (!sideband_record_read(bytes, &record, &err)) {
		band->malformed++;
		return;
	}
	band->lost += record.lost;
	if (record.type != SIDEBAND_OTHER)
		on_record(self, &record);
}

/* Reports at most `max` records, and skips the others. Returns how many were reported. */
static uint64_t drain_ring(struct sideband *band, struct sideband_ring *ring, uint64_t max,
			   sideband_on_record *on_record, void *self)
{
	struct perf_event_mmap_page *control = ring->control;
	const char *data = (const char *)control + band->page_bytes;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = control->data_tail, count = 0;

	if (head - tail > band->fullest)
		band->fullest = (size_t)(head - tail);
	while (head - tail >= HEADER_BYTES) {
		size_t len = sideband_record_len(ring_bytes(band, data, tail, HEADER_BYTES));

		if (len == 0 || len > head - tail) { /* never, unless the kernel has a bug */
			band->malformed++;
			tail = head;
			break;
		}
		if (count < max) {
			report_record(band, ring_bytes(band, data, tail, len), on_record, self);
			count++;
		} else {
			band->skipped++;
		}
		tail += len;
	}
	__atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
	return count;
}

void sideband_drain(struct sideband *band, sideband_on_record *on_record, void *self)
{
	band->fullest = 0;
	token_bucket_refill(&band->budget, SIDEBAND_RECORDS_PER_SECOND, SIDEBAND_RECORDS_BURST,
			    clock_monotonic_ns());
	for (size_t i = 0; i < band->ring_count; i++) {
		uint64_t share = (uint64_t)band->budget.tokens / (band->ring_count - i);

		band->budget.tokens -=
			(int64_t)drain_ring(band, &band->rings[i], share, on_record, self);
	}
	band->is_pressed =
		band->budget.tokens &&
		band->fullest > band->ring_bytes /
					(band->is_pressed ? PRESSED_PART * SOONER : PRESSED_PART);
}
