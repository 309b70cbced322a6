// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/counts.h"

#include "agent/agent_limits.h"
#include "agent/kernel/bpffs.h"
#include "agent/kernel/map_users.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/log.h"
#include "server/daemon.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* To be increased whenever the meaning of a slot changes. */
enum { SHAPE = 3 };
_Static_assert(SAMPLER_COUNT_COUNT == 15 && LOSS_COUNT == 4, "another SHAPE for other slots");

struct pin_path {
	char text[PATH_MAX];
};

bool counts_read(int map_fd, uint32_t slot, uint64_t *ret_sum)
{
	int cpus = libbpf_num_possible_cpus();

	if (cpus <= 0)
		return false;

	AUTO_FREE uint64_t *values = heap_resize(NULL, (size_t)cpus, sizeof(*values));
	uint64_t sum = 0;

	if (bpf_map_lookup_elem(map_fd, &slot, values))
		return false;
	for (int cpu = 0; cpu < cpus; cpu++)
		sum += values[cpu];
	*ret_sum = sum;
	return true;
}

/* Writes a slot that only agents use: its whole value is on the first CPU. */
static bool write_slot(int map_fd, uint32_t slot, uint64_t number, struct err *err)
{
	int cpus = libbpf_num_possible_cpus();

	if (cpus <= 0)
		return err_set(err, ERR_IO, "the number of CPUs is unknown");

	AUTO_FREE uint64_t *values = heap_resize(NULL, (size_t)cpus, sizeof(*values));

	memset(values, 0, (size_t)cpus * sizeof(*values));
	values[0] = number;
	if (bpf_map_update_elem(map_fd, &slot, values, BPF_ANY))
		return err_errno(err, "write slot %u of the counts", slot);
	return true;
}

static bool path_make(const struct counts_options *options, struct pin_path *path, struct err *err)
{
	struct stat stat_of;
	int len;

	if (stat(options->state_directory, &stat_of))
		return err_errno(err, "stat %s", options->state_directory);
	len = snprintf(path->text, sizeof(path->text), "%s/decima_agent_%ju_%ju",
		       options->bpffs_directory, (uintmax_t)stat_of.st_dev,
		       (uintmax_t)stat_of.st_ino);
	if (len < 0 || (size_t)len >= sizeof(path->text))
		return err_set(err, ERR_INVALID, "the path of the pin is longer than %zu bytes",
			       sizeof(path->text) - 1);
	return true;
}

/*
 * Waits until no program counts in the map. A killed process releases the lock of the state
 * directory while it exits, maybe before its timers are gone.
 */
static bool wait_unused(struct map_users *users, struct err *err)
{
	uint64_t began_ns = clock_monotonic_ns(), now_ns = began_ns;
	bool is_used;

	while (true) {
		if (!map_users_find(users, &is_used, err))
			return false;
		if (!is_used)
			break;
		now_ns = clock_monotonic_ns();
		if (now_ns - began_ns > DETACH_WAIT_MS * NS_PER_MS || !daemon_wait(DETACH_STEP_MS))
			return err_set(err, ERR_IO, "another program still counts in it");
	}
	if (now_ns != began_ns)
		log_info("waited for a predecessor's program to detach", "took_ms=%" PRIu64,
			 (clock_monotonic_ns() - began_ns) / NS_PER_MS);
	return true;
}

static bool wait_detached(uint32_t map_id, struct err *err)
{
	struct map_users users;
	bool done = map_users_init(&users, map_id, err) && wait_unused(&users, err);

	map_users_done(&users);
	return done;
}

static bool check_shape(const struct bpf_map_info *info, struct err *err)
{
	if (info->type == BPF_MAP_TYPE_PERCPU_ARRAY && info->key_size == sizeof(uint32_t) &&
	    info->value_size == sizeof(uint64_t) && info->max_entries == COUNTS_SLOT_COUNT)
		return true;
	return err_set(err, ERR_INVALID, "another version of the agent made it");
}

static struct loss_counters loss_counters_of(const uint64_t *slots)
{
	struct loss_counters counted = { .sampled = slots[TICK_SENT] + slots[TICK_RING_FULL] };

	memcpy(counted.lost, slots + COUNTS_LOST, sizeof(counted.lost));
	counted.lost[LOSS_RING_FULL] = slots[TICK_RING_FULL];
	return counted;
}

/* Reads a predecessor's map. False: the map cannot be used, with the reason. */
static bool read_predecessor(struct counts *counts, int fd, const struct counts_options *options,
			     struct err *err)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);
	uint64_t slots[COUNTS_SLOT_COUNT];
	struct loss_counters baseline;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return err_errno(err, "read its properties");
	if (!check_shape(&info, err) || !wait_detached(info.id, err))
		return false;
	for (uint32_t slot = 0; slot < COUNTS_SLOT_COUNT; slot++)
		if (!counts_read(fd, slot, &slots[slot]))
			return err_errno(err, "read slot %u of it", slot);
	if (slots[COUNTS_SHAPE] != SHAPE)
		return err_set(err, ERR_INVALID, "another version of the agent made it");
	if (slots[COUNTS_EPOCH] != options->epoch)
		return err_set(err, ERR_INVALID, "it belongs to the spool's epoch %" PRIu64,
			       slots[COUNTS_EPOCH]);
	if (!options->is_reported_known)
		return err_set(err, ERR_INVALID, "the spool's last status is unreadable");
	baseline.sampled = slots[COUNTS_BASELINE_SAMPLED];
	memcpy(baseline.lost, slots + COUNTS_BASELINE_LOST, sizeof(baseline.lost));

	struct loss_counters counted = loss_counters_of(slots);

	if (!loss_counters_unreported(&baseline, &counted, &options->reported, &counts->unreported))
		return err_set(err, ERR_INVALID, "an agent has run without it in between");
	memcpy(counts->lost, slots + COUNTS_LOST, sizeof(counts->lost));
	memcpy(counts->began, counts->lost, sizeof(counts->began));
	return true;
}

/* Creates a new map. It is filled before it is pinned, so a pinned map always has its baseline. */
static bool begin(struct counts *counts, const struct pin_path *path,
		  const struct counts_options *options, struct err *err)
{
	const struct loss_counters *reported = &options->reported;
	AUTO_FD fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "counts", sizeof(uint32_t),
				    sizeof(uint64_t), COUNTS_SLOT_COUNT, NULL);

	if (fd < 0)
		return err_errno(err, "create a map of counts");
	if (!write_slot(fd, COUNTS_SHAPE, SHAPE, err) ||
	    !write_slot(fd, COUNTS_EPOCH, options->epoch, err) ||
	    !write_slot(fd, COUNTS_BASELINE_SAMPLED, reported->sampled, err))
		return false;
	for (uint32_t i = 0; i < LOSS_COUNT; i++)
		if (!write_slot(fd, COUNTS_BASELINE_LOST + i, reported->lost[i], err))
			return false;
	if (bpf_obj_pin(fd, path->text))
		return err_errno(err, "pin the counts at %s", path->text);
	counts->map_fd = fd_take(&fd);
	counts->is_pinned = true;
	return true;
}

bool counts_open(struct counts *counts, const struct counts_options *options, struct err *err)
{
	struct pin_path path;
	struct err why;

	*counts = (struct counts){ 0 };
	if (!path_make(options, &path, err) || !bpffs_mount(options->bpffs_directory, err))
		return false;

	AUTO_FD fd = bpf_obj_get(path.text);

	if (fd < 0 && errno != ENOENT)
		return err_errno(err, "open the pinned counts %s", path.text);
	if (fd < 0)
		return begin(counts, &path, options, err);
	if (read_predecessor(counts, fd, options, &why)) {
		counts->map_fd = fd_take(&fd);
		counts->is_pinned = true;
		return true;
	}
	if (daemon_stopping()) { /* before the wait ended */
		*err = why;
		return false;
	}
	log_warn("the pinned counters restart at 0; losses of a killed predecessor are unknown",
		 "pin=%s reason=\"%s\"", path.text, why.msg);
	if (unlink(path.text))
		return err_errno(err, "remove the pinned counts %s", path.text);
	return begin(counts, &path, options, err);
}

void counts_close(struct counts *counts)
{
	if (counts->is_pinned)
		close(counts->map_fd);
	*counts = (struct counts){ 0 };
}

void counts_save(struct counts *counts, const uint64_t lost[LOSS_COUNT])
{
	struct err err;

	for (uint32_t i = 0; counts->is_pinned && i < LOSS_COUNT; i++) {
		uint64_t now = counts->began[i] + lost[i];

		if (i == LOSS_RING_FULL || now == counts->lost[i])
			continue; /* counted by the BPF program */
		if (write_slot(counts->map_fd, COUNTS_LOST + i, now, &err))
			counts->lost[i] = now;
		else
			log_warn("a loss cannot be saved for a successor", "error=\"%s\"", err.msg);
	}
}
