// SPDX-License-Identifier: Apache-2.0
/*
 * ring_garbage - writes a malformed record into the sample ring of a running agent.
 *
 *     ring_garbage PID
 *
 * It loads a BPF program for that, because only BPF programs can write to the ring.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PACKET = 64, LINE = 256 };

/* The id of the map by its file in /proc/PID/fdinfo; 0: it is no ring buffer. */
static uint32_t ring_id(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned int type = 0, id = 0;
	char line[LINE];

	while (file && fgets(line, sizeof(line), file)) {
		(void)!sscanf(line, "map_type: %u", &type); /* NOLINT(cert-err34-c): a test's */
		(void)!sscanf(line, "map_id: %u", &id);     /* NOLINT(cert-err34-c): a test's */
	}
	if (file)
		fclose(file);
	return type == BPF_MAP_TYPE_RINGBUF ? id : 0;
}

static int ring_open(const char *pid)
{
	char path[LINE];
	uint32_t id = 0;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);

	DIR *directory = opendir(path);

	while (directory && !id && (entry = readdir(directory))) {
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, entry->d_name);
		id = ring_id(path);
	}
	if (directory)
		closedir(directory);
	return id ? bpf_map_get_fd_by_id(id) : -1;
}

/* bpf_ringbuf_output(ring, "8 bytes", 8, 0) */
static int program_load(int ring)
{
	const struct bpf_insn code[] = {
		{ BPF_ST | BPF_DW | BPF_MEM, BPF_REG_10, 0, -8, 1 },
		/* NOLINTNEXTLINE(misc-redundant-expression): two of its parts are 0 */
		{ BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, ring },
		{ 0 },
		{ BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0 },
		/* NOLINTNEXTLINE(misc-redundant-expression): two of its parts are 0 */
		{ BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -8 },
		{ BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, 8 },
		{ BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, 0 },
		{ BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_output },
		{ BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0 },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};

	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "garbage", "GPL", code,
			     sizeof(code) / sizeof(*code), NULL);
}

int main(int argc, char **argv)
{
	char packet[PACKET] = { 0 };
	int ring = argc == 2 ? ring_open(argv[1]) : -1;
	int program = ring < 0 ? -1 : program_load(ring);

	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = packet, .data_size_in = sizeof(packet));
	if (program >= 0 && bpf_prog_test_run_opts(program, &run) == 0)
		return EXIT_SUCCESS;
	perror("ring_garbage");
	return EXIT_FAILURE;
}
