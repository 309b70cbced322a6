// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/capture/counts.h"
#include "agent/capture/sample_parse_internal.h"
#include "agent/capture/sampler_internal.h"
#include "agent/kernel/kernel_version.h"
#include "agent/labels/host.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/log.h"
#include "sampler.skel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

enum { LIBBPF_TEXT_MAX = 4096 };

struct sampler_cpu {
	uint32_t cpu;
	struct bpf_link *link;
};

/*
 * libbpf's messages go to the log at debug level. A verifier log may be megabytes long, and the
 * reason of a rejection is at its end: only the last LIBBPF_TEXT_MAX bytes are logged.
 */
PRINTF_LIKE(2, 0)
static int log_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	AUTO_FREE char *text = NULL;
	int len = level == LIBBPF_DEBUG ? 0 : vasprintf(&text, format, args);

	if (len <= 0)
		return 0;

	str rest = { text, (size_t)len };

	if (rest.len > LIBBPF_TEXT_MAX)
		rest = str_skip(rest, rest.len - LIBBPF_TEXT_MAX);
	while (rest.len) {
		str line = str_trim(str_cut(&rest, '\n'));

		if (line.len)
			log_debug("libbpf", "text=\"" STR_FMT "\"", STR_ARG(line));
	}
	return len;
}

/*
 * The ring has room for samples of SAMPLE_RING_SECONDS. Shipped stacks may use half of it, and it
 * must hold them for two rounds; for them it grows up to SAMPLE_RING_SHIPPED_BYTES_MAX.
 */
static uint64_t ring_bytes(const struct sampler_options *options)
{
	uint64_t ticks = options->hz * options->cpu_count;
	uint64_t shipped = ticks * SAMPLE_SHIPPED_BYTES_TYPICAL * 2 * DRAIN_INTERVAL_MS / 1000 * 2;
	uint64_t need = ticks * SAMPLE_BYTES_TYPICAL * SAMPLE_RING_SECONDS;
	uint64_t bytes = SAMPLE_RING_BYTES_MIN;

	if (shipped > SAMPLE_RING_SHIPPED_BYTES_MAX)
		shipped = SAMPLE_RING_SHIPPED_BYTES_MAX;
	if (need < shipped)
		need = shipped;
	while (bytes < need && bytes < SAMPLE_RING_BYTES_MAX)
		bytes *= 2;
	return bytes;
}

static bool explain_load(struct err *err, int code)
{
	errno = -code;
	if (code == -EPERM)
		return err_set(err, ERR_IO, "load the BPF program: not permitted");
	if (code == -EACCES || code == -EINVAL || code == -E2BIG)
		return err_set(err, ERR_INVALID,
			       "load the BPF program: this kernel's verifier rejects it "
			       "(--log-level=debug shows the reason)");
	return err_errno(err, "load the BPF program");
}

/* A profiling timer's signal interrupts the verifier, which then fails with EAGAIN. */
static int load_without_sigprof(struct sampler_bpf *bpf)
{
	sigset_t profiling, before;

	sigemptyset(&profiling);
	sigaddset(&profiling, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &profiling, &before);

	int code = sampler_bpf__load(bpf);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

static int handle_record(void *self, void *bytes, size_t len)
{
	struct sampler *sampler = self;
	const struct sample_record *record = sample_parse(bytes, len);

	if (!record) {
		sampler->malformed++;
		return 0;
	}
	sampler->on_record(sampler->self, record, len);
	return 0;
}

/* A pinned map continues a predecessor's counters. Remembers their values, so that ours begin at 0.
 */
static bool counts_begin(struct sampler *sampler, struct err *err)
{
	int fd = bpf_map__fd(sampler->bpf->maps.counts);

	for (uint32_t what = 0; what < SAMPLER_COUNT_COUNT; what++)
		if (!counts_read(fd, what, &sampler->began[what]))
			return err_errno(err, "read the BPF program's counts");
	return true;
}

static bool has_helper(enum bpf_func_id helper)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, helper, NULL) > 0;
}

/*
 * Verifiers before about Linux 6.4 track every scalar in a program with subprograms, and do not
 * finish with the search for guessed callers. 6.12 is the oldest newer version that was tested.
 */
static bool can_verify_guesses(void)
{
	struct kernel_version version;
	struct utsname name;

	return uname(&name) == 0 &&
	       kernel_version_of(&(struct kernel_texts){ .release = str_from(name.release) },
				 &version) &&
	       (version.major > 6 || (version.major == 6 && version.minor >= 12));
}

/* Allows one stack more per second than ticks, within bounds: in the first moments of a process
 * each of its ticks may need a shipped stack. */
static uint64_t ns_per_shipped_stack(uint64_t hz)
{
	uint64_t rate = hz + 1;

	if (rate < STACKS_SHIPPED_PER_SECOND_MIN)
		rate = STACKS_SHIPPED_PER_SECOND_MIN;
	if (rate > STACKS_SHIPPED_PER_SECOND_MAX)
		rate = STACKS_SHIPPED_PER_SECOND_MAX;
	return NS_PER_SECOND / rate;
}

/* Selects the program and sets its constants by what this kernel supports. */
static void choose(struct sampler *sampler)
{
	struct sampler_bpf *bpf = sampler->bpf;
	uint32_t stack_max = host_stack_max();

	if (stack_max < KERNEL_FRAMES_MAX)
		bpf->data->frames_max = stack_max;
	bpf->rodata->has_task_pt_regs = has_helper(BPF_FUNC_task_pt_regs);
	bpf->rodata->may_guess = can_verify_guesses();
	bpf->rodata->ns_per_shipped_stack = ns_per_shipped_stack(sampler->options.hz);
	bpf->rodata->ship_all_stacks = sampler->options.ship_all_stacks;
	sampler->by_calls = sampler->options.by_calls || !has_helper(BPF_FUNC_loop);
	sampler->program = sampler->by_calls ? bpf->progs.sample_by_calls : bpf->progs.sample;
	bpf_program__set_autoload(bpf->progs.sample, !sampler->by_calls);
	bpf_program__set_autoload(bpf->progs.sample_by_calls, sampler->by_calls);
	bpf_program__set_autoload(bpf->progs.walk_in_calls, sampler->by_calls);
	bpf_map__set_autocreate(bpf->maps.calls, sampler->by_calls);
}

/* The program that walks by tail calls finds itself in this map. */
static bool link_calls(struct sampler *sampler, struct err *err)
{
	int program = bpf_program__fd(sampler->bpf->progs.walk_in_calls);
	uint32_t slot = 0;

	if (!sampler->by_calls ||
	    !bpf_map_update_elem(bpf_map__fd(sampler->bpf->maps.calls), &slot, &program, BPF_ANY))
		return true;
	return err_errno(err, "let the BPF program call itself");
}

bool sampler_open(struct sampler *sampler, const struct sampler_options *options, struct err *err)
{
	*sampler = (struct sampler){ .options = *options, .ring_bytes = ring_bytes(options) };
	libbpf_set_print(log_libbpf);
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return err_set(err, ERR_NOT_FOUND,
			       "this kernel has no BTF: /sys/kernel/btf/vmlinux is missing "
			       "(CONFIG_DEBUG_INFO_BTF, Linux 5.10 or later)");
	sampler->bpf = sampler_bpf__open();
	if (!sampler->bpf)
		return err_errno(err, "open the BPF program");

	choose(sampler);
	bpf_map__set_max_entries(sampler->bpf->maps.samples, (uint32_t)sampler->ring_bytes);
	if (options->counts && options->counts->is_pinned &&
	    bpf_map__reuse_fd(sampler->bpf->maps.counts, options->counts->map_fd)) {
		err_errno(err, "set the BPF program's map of counters");
		sampler_close(sampler);
		return false;
	}

	uint64_t began_ns = clock_monotonic_ns();
	int code = load_without_sigprof(sampler->bpf);

	if (code) {
		sampler_close(sampler);
		return explain_load(err, code);
	}
	log_info("the BPF program is loaded", "took_ms=%" PRIu64 " loop=%s",
		 (clock_monotonic_ns() - began_ns) / NS_PER_MS,
		 sampler->by_calls ? "calls" : "bpf_loop");
	if (!link_calls(sampler, err) || !counts_begin(sampler, err)) {
		sampler_close(sampler);
		return false;
	}
	sampler->ring = ring_buffer__new(bpf_map__fd(sampler->bpf->maps.samples), handle_record,
					 sampler, NULL);
	if (!sampler->ring) {
		err_errno(err, "map the ring of samples");
		sampler_close(sampler);
		return false;
	}
	return true;
}

int sampler_segments_fd(const struct sampler *sampler)
{
	return bpf_map__fd(sampler->bpf->maps.unwind_segments);
}

int sampler_processes_fd(const struct sampler *sampler)
{
	return bpf_map__fd(sampler->bpf->maps.unwind_processes);
}

static int open_timer(uint64_t hz, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = NS_PER_SECOND / hz,
		.exclude_idle = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Opens a timer that runs the program on this CPU. *ret_link stays NULL if the CPU is offline. */
static bool attach(struct sampler *sampler, uint32_t cpu, struct bpf_link **ret_link,
		   struct err *err)
{
	AUTO_FD fd = open_timer(sampler->options.hz, cpu);

	if (fd < 0 && errno == ENODEV)
		return true;
	if (fd < 0)
		return err_errno(err, "open the sampling timer of CPU %u", cpu);
	*ret_link = bpf_program__attach_perf_event(sampler->program, fd);
	if (!*ret_link)
		return err_errno(err, "attach to the sampling timer of CPU %u", cpu);
	fd_take(&fd); /* the link owns it now */
	return true;
}

static bool is_among(uint32_t cpu, const uint32_t *cpus, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

static bool is_sampled(const struct sampler *sampler, uint32_t cpu)
{
	for (size_t i = 0; i < sampler->cpu_count; i++)
		if (sampler->cpus[i].cpu == cpu)
			return true;
	return false;
}

bool sampler_follow(struct sampler *sampler, const uint32_t *cpus, size_t cpu_count,
		    struct err *err)
{
	for (size_t i = sampler->cpu_count; i > 0; i--)
		if (!is_among(sampler->cpus[i - 1].cpu, cpus, cpu_count)) {
			bpf_link__destroy(sampler->cpus[i - 1].link);
			sampler->cpus[i - 1] = sampler->cpus[--sampler->cpu_count];
		}
	sampler->cpus =
		heap_resize(sampler->cpus, sampler->cpu_count + cpu_count, sizeof(*sampler->cpus));
	for (size_t i = 0; i < cpu_count; i++) {
		struct bpf_link *link = NULL;

		if (is_sampled(sampler, cpus[i]))
			continue;
		if (!attach(sampler, cpus[i], &link, err))
			return false;
		if (link)
			sampler->cpus[sampler->cpu_count++] =
				(struct sampler_cpu){ .cpu = cpus[i], .link = link };
	}
	return true;
}

void sampler_stop(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->cpu_count; i++)
		bpf_link__destroy(sampler->cpus[i].link);
	sampler->cpu_count = 0;
}

void sampler_close(struct sampler *sampler)
{
	sampler_stop(sampler);
	free(sampler->cpus);
	ring_buffer__free(sampler->ring);
	sampler_bpf__destroy(sampler->bpf);
	*sampler = (struct sampler){ 0 };
}

void sampler_drain(struct sampler *sampler, sampler_on_record *on_record, void *self)
{
	sampler->on_record = on_record;
	sampler->self = self;
	ring_buffer__consume(sampler->ring);
}

struct unwind_generation *sampler_generation(const struct sampler *sampler)
{
	return &sampler->bpf->bss->generation;
}

int sampler_program_fd(const struct sampler *sampler)
{
	return bpf_program__fd(sampler->program);
}

const uint64_t *sampler_counts(struct sampler *sampler)
{
	int fd = bpf_map__fd(sampler->bpf->maps.counts);
	uint64_t sum;

	for (uint32_t what = 0; what < SAMPLER_COUNT_COUNT; what++)
		if (counts_read(fd, what, &sum) && sum >= sampler->began[what])
			sampler->counts[what] = sum - sampler->began[what];
	return sampler->counts;
}
