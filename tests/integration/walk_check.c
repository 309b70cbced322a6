// SPDX-License-Identifier: Apache-2.0
/*
 * walk_check - samples running processes with the agent's BPF programs and unwind tables, and
 * prints their stacks.
 *
 *     walk_check [--calls] [--no-tables] [--only] [--twice] HZ SECONDS PID...
 *
 * Prints a line for each sample: the end of its walk, its flags, its number of frames, and the
 * frames as FILE+ADDRESS (hexadecimal, in the ELF file), leaf first. A line begins with `shipped`
 * if BPF could not finish the walk. The last line is `cost RUNS NANOSECONDS` of the program, if
 * kernel.bpf_stats_enabled is set. Tables are built at start: files mapped later have none.
 * --only: only ticks of these processes. --twice: each stack is shipped and walked here, too; the
 * line begins with PID and `same`, `so_far` (the stack is longer than the shipped bytes) or
 * `differs END FLAGS FRAMES` with the values of the walk here.
 */
#include "agent/capture/sampler_internal.h"
#include "base/base.h"
#include "base/clock.h"
#include "bpf/unwind_maps.h"
#include "unwind/unwind_build.h"
#include "unwind/unwind_file.h"
#include "walk_host.h"

#include <bpf/bpf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAPPINGS_ROOM = 2048, LINE = PATH_MAX + 256, PIDS_MAX = 16, SEGMENTS_ROOM = 1024 };

struct process {
	uint32_t pid;
	int memory_fd;
	struct unwind_process list; /* the entry in the map */
	size_t count;
	struct unwind_mapping mappings[MAPPINGS_ROOM];
	char *paths[MAPPINGS_ROOM];
};

/* Pages, allocated one after the other, and their segments. */
struct pages {
	int outer, inner;
	uint8_t *at[SEGMENTS_ROOM];
	uint64_t next;
};

static struct process processes[PIDS_MAX];
static size_t process_count;

static void fail(const char *what)
{
	fprintf(stderr, "walk_check: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static uint8_t *page_add(struct pages *pages)
{
	uint32_t segment = (uint32_t)(pages->next / UNWIND_SEGMENT_PAGES);
	uint64_t in_segment = pages->next++ % UNWIND_SEGMENT_PAGES;

	if (segment == SEGMENTS_ROOM)
		fail("find room for another segment");
	if (!pages->at[segment]) {
		LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
		pages->inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "segment", sizeof(uint32_t),
					      UNWIND_PAGE_BYTES, UNWIND_SEGMENT_PAGES, &options);
		if (pages->inner < 0 ||
		    bpf_map_update_elem(pages->outer, &segment, &pages->inner, BPF_ANY))
			fail("add a segment");
		pages->at[segment] = mmap(NULL, (size_t)UNWIND_SEGMENT_PAGES * UNWIND_PAGE_BYTES,
					  PROT_READ | PROT_WRITE, MAP_SHARED, pages->inner, 0);
		if (pages->at[segment] == MAP_FAILED)
			fail("map a segment");
	}
	return pages->at[segment] + in_segment * UNWIND_PAGE_BYTES;
}

/* The page with this number, as the BPF programs see it. */
static const uint8_t *page_of(void *self, uint64_t number)
{
	const struct pages *pages = self;
	uint64_t segment = number / UNWIND_SEGMENT_PAGES;

	if (segment >= SEGMENTS_ROOM || !pages->at[segment])
		return NULL;
	return pages->at[segment] + number % UNWIND_SEGMENT_PAGES * UNWIND_PAGE_BYTES;
}

/* Builds the table of a file and returns the number of its first page; 0: there is no table. */
static uint32_t table_add(struct pages *pages, int elf_fd, const char *path)
{
	int fd = memfd_create("table", MFD_CLOEXEC);
	uint32_t first = (uint32_t)pages->next;
	struct unwind_build_result result;
	struct unwind_file file;
	struct err err;

	if (!unwind_build(&(struct unwind_build_options){ 0 }, elf_fd, fd, &result, &err) ||
	    !unwind_file_open(&file, fd, &err)) {
		fprintf(stderr, "walk_check: no table of %s: %s\n", path, err.msg);
		close(fd);
		return 0;
	}
	for (uint32_t i = 0; i < file.page_count; i++)
		memcpy(page_add(pages), file.pages + (size_t)i * UNWIND_PAGE_BYTES,
		       UNWIND_PAGE_BYTES);
	unwind_file_close(&file);
	close(fd);
	return first;
}

static int memory_open(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Copies the vdso, which is the same in all processes, into a file. */
static int vdso_open(uint64_t start, uint64_t end, uint32_t pid)
{
	int fd = memfd_create("vdso", MFD_CLOEXEC);
	char page[UNWIND_PAGE_BYTES];
	int memory = memory_open(pid);

	for (uint64_t at = start; at < end; at += sizeof(page))
		if (pread(memory, page, sizeof(page), (off_t)at) != (ssize_t)sizeof(page) ||
		    write(fd, page, sizeof(page)) != (ssize_t)sizeof(page))
			fail("read the vdso");
	close(memory);
	return fd;
}

/* The load bias by the file's segments: address in memory minus address in the ELF file. */
static uint64_t bias_of(int elf_fd, uint64_t start, uint64_t offset)
{
	struct elf_segments {
		uint64_t offset, address;
	} best = { 0 };
	Elf64_Ehdr header;
	Elf64_Phdr program;

	if (pread(elf_fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return 0;
	for (size_t i = 0; i < header.e_phnum; i++)
		if (pread(elf_fd, &program, sizeof(program),
			  (off_t)(header.e_phoff + i * sizeof(program))) ==
			    (ssize_t)sizeof(program) &&
		    program.p_type == PT_LOAD && program.p_flags & PF_X &&
		    (program.p_offset & ~(uint64_t)4095) <= offset)
			best = (struct elf_segments){ program.p_offset & ~(uint64_t)4095,
						      program.p_vaddr & ~(uint64_t)4095 };
	return start - offset - (best.address - best.offset);
}

static void mapping_add(struct process *process, struct pages *pages, uint64_t start, uint64_t end,
			uint64_t offset, const char *path)
{
	struct unwind_mapping *mapping = &process->mappings[process->count];
	int fd = -1;

	if (process->count == MAPPINGS_ROOM)
		return;
	*mapping = (struct unwind_mapping){ .start = start, .end = end };
	process->paths[process->count++] = strdup(*path ? path : "[anon]");
	if (!strcmp(path, "[vdso]"))
		fd = vdso_open(start, end, process->pid);
	else if (*path == '/')
		fd = open(path, O_RDONLY | O_CLOEXEC);
	else
		mapping->flags = UNWIND_MAPPING_ANONYMOUS;
	if (fd < 0)
		return;
	mapping->bias = bias_of(fd, start, offset);
	for (size_t i = 0; i < process->count - 1; i++)
		if (!strcmp(process->paths[i], path))
			mapping->table = process->mappings[i].table;
	if (!mapping->table)
		mapping->table = table_add(pages, fd, path);
	close(fd);
}

static void maps_read(struct process *process, struct pages *pages)
{
	char path[64], line[LINE];

	snprintf(path, sizeof(path), "/proc/%u/maps", process->pid);

	FILE *maps = fopen(path, "re");

	if (!maps)
		fail(path);
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset;
		char rights[5], file[LINE] = "";

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %[^\n]", &start,
			   &end, rights, &offset, file) >= 4 &&
		    rights[2] == 'x' && strcmp(file, "[vsyscall]") != 0)
			mapping_add(process, pages, start, end, offset, file);
	}
	fclose(maps);
}

/* Adds the process to the map. Only a sample of the process shows start_ns and exec_id. */
static void list_put(struct process *process, struct pages *pages, int map,
		     const struct sample_record *record)
{
	struct unwind_process value = { .start_ns = record->start_ns,
					.exec_id = record->exec_id,
					.count = (uint32_t)process->count };
	size_t per_page = UNWIND_PAGE_BYTES / sizeof(struct unwind_mapping);

	value.place = pages->next * UNWIND_PAGE_BYTES;
	for (size_t i = 0; i < process->count; i += per_page) {
		size_t len = process->count - i < per_page ? process->count - i : per_page;

		memcpy(page_add(pages), &process->mappings[i], len * sizeof(*process->mappings));
	}
	if (bpf_map_update_elem(map, &process->pid, &value, BPF_ANY))
		fail("add a process to the map");
	process->list = value;
}

static struct process *process_find(uint32_t pid)
{
	for (size_t i = 0; i < process_count; i++)
		if (processes[i].pid == pid)
			return &processes[i];
	return NULL;
}

struct check {
	struct sampler sampler;
	struct pages pages;
	bool no_tables, only_these, twice, is_listed[PIDS_MAX];
	uint64_t hz;
};

static void print_frame(const struct process *process, uint64_t address)
{
	for (size_t i = 0; i < process->count; i++) {
		const struct unwind_mapping *mapping = &process->mappings[i];
		const char *name = strrchr(process->paths[i], '/');

		if (address < mapping->start || address >= mapping->end)
			continue;
		printf(" %s+%" PRIx64, name ? name + 1 : process->paths[i],
		       address - mapping->bias);
		return;
	}
	printf(" ?+%" PRIx64, address);
}

/* Prints the comparison with the host's walk; the kernel's walk follows on the line. */
static void print_twin(struct check *check, const struct process *process,
		       const struct sample_record *record)
{
	static const char *const words[WALK_SAME_COUNT] = {
		[WALK_SAME] = "same",
		[WALK_SAME_SO_FAR] = "so_far",
		[WALK_DIFFERS] = "differs",
	};
	struct walk_host host = { .page = page_of,
				  .self = &check->pages,
				  .memory_fd = process->memory_fd };
	static struct walk_twin twin;
	enum walk_same same = walk_host_compare(&host, record, &process->list, &twin);

	printf("%u %s ", process->pid, words[same]);
	if (same != WALK_DIFFERS)
		return;
	printf("%s %u ", user_end_names[twin.end], twin.flags);
	for (uint32_t i = 0; i < twin.count; i++)
		print_frame(process, twin.frames[i] - (i > 0));
	printf(" | ");
}

static void handle(void *self, const struct sample_record *record, size_t bytes)
{
	struct check *check = self;
	struct process *process = process_find(record->tgid);

	(void)bytes;
	if (!process || record->flags & SAMPLE_CONTINUES)
		return;
	if (!check->no_tables && !check->is_listed[process - processes]) {
		check->is_listed[process - processes] = true;
		list_put(process, &check->pages, sampler_processes_fd(&check->sampler), record);
		return; /* it was sampled before the process was in the map */
	}
	if (check->twice && (record->flags & SAMPLE_NEEDS_AGENT_WALK || !record->stack_bytes))
		return; /* the process was not in the map yet, or there is no user stack */
	if (check->twice)
		print_twin(check, process, record);
	else if (!check->no_tables && record->flags & SAMPLE_NEEDS_AGENT_WALK)
		printf("shipped ");
	printf("%s %u %u", user_end_names[record->user_end], record->flags, record->user_frames);
	for (size_t i = 0; i < record->user_frames; i++)
		print_frame(process, record->frames[record->kernel_frames + i] - (i > 0));
	printf("\n");
}

/* A timer on the main thread of the process, on any CPU. */
static void follow_process(const struct check *check, uint32_t pid)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.size = sizeof(attr),
					.sample_period = NS_PER_SECOND / check->hz };
	int fd = (int)syscall(SYS_perf_event_open, &attr, (int)pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, sampler_program_fd(&check->sampler)))
		fail("attach to a process");
}

static void follow_cpus(struct check *check)
{
	uint32_t cpus[CPU_SETSIZE];
	size_t count = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	struct err err;

	for (uint32_t i = 0; i < count && i < CPU_SETSIZE; i++)
		cpus[i] = i;
	if (!sampler_follow(&check->sampler, cpus, count, &err)) {
		fprintf(stderr, "walk_check: %s\n", err.msg);
		exit(EXIT_FAILURE);
	}
}

enum { ROUNDS_PER_SECOND = 50 };

static void run(struct check *check, double seconds)
{
	struct timespec rest = { .tv_nsec = NS_PER_SECOND / ROUNDS_PER_SECOND };
	uint64_t rounds = (uint64_t)(seconds * ROUNDS_PER_SECOND);

	if (!check->only_these)
		follow_cpus(check);
	for (size_t i = 0; check->only_these && i < process_count; i++)
		follow_process(check, processes[i].pid);
	for (uint64_t round = 0; round < rounds; round++) {
		nanosleep(&rest, NULL);
		sampler_drain(&check->sampler, handle, check);
	}
}

static void print_cost(const struct check *check)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(sampler_program_fd(&check->sampler), &info, &len) == 0)
		printf("cost %" PRIu64 " %" PRIu64 "\n", (uint64_t)info.run_cnt,
		       (uint64_t)info.run_time_ns);
}

int main(int argc, char **argv)
{
	static struct check check;
	struct sampler_options options = { .cpu_count = (size_t)sysconf(_SC_NPROCESSORS_ONLN) };
	double seconds;
	struct err err;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++)
		if (!strcmp(argv[1], "--calls"))
			options.by_calls = true;
		else if (!strcmp(argv[1], "--only"))
			check.only_these = true;
		else if (!strcmp(argv[1], "--twice"))
			check.twice = options.ship_all_stacks = true;
		else
			check.no_tables = true;
	if (argc < 4 || sscanf(argv[1], "%" SCNu64, &options.hz) != 1 ||
	    sscanf(argv[2], "%lf", &seconds) != 1)
		return EXIT_FAILURE;
	check.hz = options.hz;
	if (!sampler_open(&check.sampler, &options, &err)) {
		fprintf(stderr, "walk_check: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	check.pages = (struct pages){ .outer = sampler_segments_fd(&check.sampler), .next = 1 };
	for (int i = 3; i < argc && process_count < PIDS_MAX; i++) {
		struct process *process = &processes[process_count++];

		if (sscanf(argv[i], "%u", &process->pid) != 1)
			return EXIT_FAILURE;
		maps_read(process, &check.pages);
		process->memory_fd = memory_open(process->pid);
	}
	run(&check, seconds);
	sampler_stop(&check.sampler);
	sampler_drain(&check.sampler, handle, &check);
	print_cost(&check);
	sampler_close(&check.sampler);
	return EXIT_SUCCESS;
}
