// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_bench - measures the build of unwind tables, for each file, compared with libdw and
 * readelf, which read the same entries and write no table: make bench-unwind-tables.
 *
 *     unwind_bench [ELF...]
 *
 * CPU time is the minimum of five rounds. Memory is the peak of a separate process for each file
 * and reader, minus its memory at the start. Without arguments it measures a list of large files of
 * this machine.
 */
#include "base/str.h"
#include "unwind/unwind_build.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { ROUNDS = 5, FILES_MAX = 64 };

static const char *const defaults[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libpython3*.so.1.0",
	"/usr/bin/node",
	"/usr/lib/jvm/*/lib/server/libjvm.so",
	"/usr/lib/postgresql/*/bin/postgres",
	"/usr/lib/gcc/x86_64-linux-gnu/*/cc1",
	"/usr/lib/llvm-14/lib/libLLVM-14.so",
};

/* Sent through a pipe by the process that measured. */
struct figures {
	bool is_ok;
	uint64_t rows, rules, bytes;
	double cpu_ms;
	uint64_t memory;
};

typedef bool (*reader_fn)(const char *path, struct figures *figures);

static double cpu_ms(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)usage.ru_utime.tv_sec * 1e3 + (double)usage.ru_utime.tv_usec / 1e3 +
	       (double)usage.ru_stime.tv_sec * 1e3 + (double)usage.ru_stime.tv_usec / 1e3;
}

static uint64_t peak_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss << 10;
}

static bool ours(const char *path, struct figures *figures)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC), out = memfd_create("table", MFD_CLOEXEC);
	struct unwind_build_result result;
	struct err err = { 0 };

	if (!unwind_build(&(struct unwind_build_options){ 0 }, fd, out, &result, &err)) {
		fprintf(stderr, "unwind_bench: %s: %s\n", path, err.msg);
		return false;
	}
	figures->rows = result.rows;
	figures->rules = result.rules;
	figures->bytes = result.bytes;
	return true;
}

/* Reads all rows of one entry, with the fields that our tables have. */
static uint64_t entry_walk(Dwarf_CFI *cfi, uint64_t start, uint64_t end)
{
	uint64_t rows = 0;

	while (start < end) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *ops, memory[3];
		size_t op_count;
		Dwarf_Addr from, to = 0;
		bool is_signal;

		if (dwarf_cfi_addrframe(cfi, start, &frame) != 0)
			break;
		dwarf_frame_info(frame, &from, &to, &is_signal);
		dwarf_frame_cfa(frame, &ops, &op_count);
		dwarf_frame_register(frame, 6, memory, &ops, &op_count);
		dwarf_frame_register(frame, 16, memory, &ops, &op_count);
		free(frame);
		rows++;
		if (to <= start)
			break;
		start = to;
	}
	return rows;
}

/* dwarf_next_cfi() lists the entries; the address of each comes from its own bytes. */
static uint64_t entries_walk(Elf *elf, Elf_Data *data, uint64_t address)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	Dwarf_CFI_Entry entry;
	Dwarf_Off offset = 0, next;
	uint64_t rows = 0;

	while (cfi && dwarf_next_cfi(ident, data, true, offset, &next, &entry) == 0) {
		if (entry.CIE_id != DW_CIE_ID_64) {
			/* pcrel | sdata4, which all compilers use on x86-64 */
			const uint8_t *at = entry.fde.start;
			int32_t words[2];

			memcpy(words, at, sizeof(words));

			uint64_t start = address + (uint64_t)(at - (uint8_t *)data->d_buf) +
					 (uint64_t)(int64_t)words[0];

			rows += entry_walk(cfi, start, start + (uint32_t)words[1]);
		}
		offset = next;
	}
	dwarf_cfi_end(cfi);
	return rows;
}

static bool libdw(const char *path, struct figures *figures)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Elf_Scn *section = NULL;
	size_t names;

	figures->rows = 0;
	elf_getshdrstrndx(elf, &names);
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		gelf_getshdr(section, &header);
		name = elf_strptr(elf, names, header.sh_name);
		if (name && str_eq(str_from(name), STR(".eh_frame")))
			figures->rows +=
				entries_walk(elf, elf_rawdata(section, NULL), header.sh_addr);
	}
	elf_end(elf);
	return figures->rows > 0;
}

static bool readelf(const char *path, struct figures *figures)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		AUTO_FD null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("readelf", "readelf", "--debug-dump=frames-interp,no-follow-links", path,
		       (char *)NULL);
		_exit(127);
	}
	(void)figures;
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

/* Measures in a separate process, for its own peak of memory. */
static struct figures measure(reader_fn reader, const char *path)
{
	struct figures figures = { 0 };
	int pipe_fds[2], status;
	pid_t child;

	if (pipe(pipe_fds) || (child = fork()) < 0)
		return figures;
	if (child == 0) {
		uint64_t memory = peak_memory();

		figures.is_ok = true;
		figures.cpu_ms = 1e9;
		for (int round = 0; round < ROUNDS && figures.is_ok; round++) {
			double start = cpu_ms(RUSAGE_SELF) + cpu_ms(RUSAGE_CHILDREN);

			figures.is_ok = reader(path, &figures);

			double spent = cpu_ms(RUSAGE_SELF) + cpu_ms(RUSAGE_CHILDREN) - start;

			if (round == 0)
				figures.memory = peak_memory() - memory;
			if (spent < figures.cpu_ms)
				figures.cpu_ms = spent;
		}
		_exit(write(pipe_fds[1], &figures, sizeof(figures)) != sizeof(figures));
	}
	close(pipe_fds[1]);
	if (read(pipe_fds[0], &figures, sizeof(figures)) != sizeof(figures))
		figures.is_ok = false;
	close(pipe_fds[0]);
	waitpid(child, &status, 0);
	return figures;
}

static double million_a_second(const struct figures *figures)
{
	return (double)figures->rows / figures->cpu_ms / 1e3;
}

static void line_print(const char *name, const struct figures *own, const struct figures *theirs,
		       double readelf_ms)
{
	printf("| %s | %ju | %ju | %.1f | %.1f | %.2f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", name,
	       (uintmax_t)own->rows, (uintmax_t)own->rules, own->cpu_ms, million_a_second(own),
	       (double)own->bytes / (double)own->rows, (double)own->memory / (1 << 20),
	       theirs->cpu_ms, theirs->rows ? million_a_second(theirs) : 0,
	       (double)theirs->memory / (1 << 20), readelf_ms);
}

static void add(struct figures *total, const struct figures *one)
{
	total->rows += one->rows;
	total->rules += one->rules;
	total->bytes += one->bytes;
	total->cpu_ms += one->cpu_ms;
	if (one->memory > total->memory)
		total->memory = one->memory;
}

static void file_measure(const char *path, struct figures *total, struct figures *total_libdw,
			 double *total_readelf)
{
	struct figures own = measure(ours, path), theirs = measure(libdw, path);
	struct figures other = measure(readelf, path);
	const char *name = strrchr(path, '/');

	if (!own.is_ok)
		return;
	line_print(name ? name + 1 : path, &own, &theirs, other.cpu_ms);
	fflush(stdout); /* before fork() copies the buffer */
	add(total, &own);
	add(total_libdw, &theirs);
	*total_readelf += other.cpu_ms;
}

int main(int argc, char **argv)
{
	struct figures total = { 0 }, total_libdw = { 0 };
	double total_readelf = 0;
	glob_t found = { 0 };

	elf_version(EV_CURRENT);
	for (size_t i = 0; argc == 1 && i < ARRAY_LEN(defaults); i++)
		glob(defaults[i], found.gl_pathc ? GLOB_APPEND : 0, NULL, &found);

	char **paths = argc > 1 ? argv + 1 : found.gl_pathv;
	size_t count = argc > 1 ? (size_t)argc - 1 : found.gl_pathc;

	puts("| file | rows | rules | ms | M rows/s | bytes/row | peak MB | libdw ms | M rows/s | "
	     "peak MB | readelf ms |\n|---|---|---|---|---|---|---|---|---|---|---|");
	fflush(stdout);
	for (size_t i = 0; i < count; i++)
		file_measure(paths[i], &total, &total_libdw, &total_readelf);
	if (total.rows)
		line_print("all", &total, &total_libdw, total_readelf);
	globfree(&found);
	return total.rows ? 0 : 1;
}
