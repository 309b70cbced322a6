// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/kernel_symbols.h"

#include "agent/agent_limits.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/sorted.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>

enum { MODULES_PART_BYTES = 4096, LINE_MAX_BYTES = 1024 };

struct kernel_symbols_dynamic {
	uint64_t address, length;
	char *name;
};

static bool begin_load(struct kernel_symbols_load *load, struct err *err)
{
	*load = (struct kernel_symbols_load){ .file = fopen("/proc/kallsyms", "re") };
	return load->file || err_errno(err, "open /proc/kallsyms");
}

static void *run_load(void *self)
{
	struct kernel_symbols_load *load = self;
	char line[LINE_MAX_BYTES];
	uint64_t bytes = 0;

	while (bytes < KALLSYMS_BYTES_MAX && fgets(line, sizeof(line), load->file)) {
		str text = str_trim(str_from(line));

		bytes += text.len;
		kallsyms_add(&load->table, text);
	}
	fclose(TAKE(load->file));
	load->is_truncated = bytes >= KALLSYMS_BYTES_MAX;
	kallsyms_finish(&load->table);
	return NULL;
}

/* 0 if the kernel has no modules. */
static uint64_t hash_of_modules(void)
{
	AUTO_FD fd = open("/proc/modules", O_RDONLY | O_CLOEXEC);
	char part[MODULES_PART_BYTES];
	uint64_t hash = 0;
	ssize_t len;

	while (fd >= 0 && (len = read(fd, part, sizeof(part))) > 0)
		hash = hash * 31 + hash_64((str){ part, (size_t)len });
	return hash;
}

static void use_load(struct kernel_symbols *symbols, const struct kernel_symbols_load *load)
{
	symbols->missed = false;
	symbols->over_limit += load->is_truncated;
	kallsyms_done(&symbols->table);
	symbols->table = load->table;
	symbols->hidden = load->table.count == 0;
	symbols->count = load->table.count + symbols->dynamic_count;
}

bool kernel_symbols_open(struct kernel_symbols *symbols, struct err *err)
{
	sigset_t all, before;

	*symbols = (struct kernel_symbols){ .modules_hash = hash_of_modules(),
					    .loaded_ms = clock_monotonic_ns() / NS_PER_MS,
					    .is_loading = true };
	if (!begin_load(&symbols->first, err)) {
		symbols->is_loading = false;
		return false;
	}
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	symbols->has_thread =
		pthread_create(&symbols->thread, NULL, run_load, &symbols->first) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!symbols->has_thread)
		run_load(&symbols->first);
	return true;
}

static void wait_loaded(struct kernel_symbols *symbols)
{
	if (!symbols->is_loading)
		return;
	if (symbols->has_thread)
		pthread_join(symbols->thread, NULL);
	symbols->is_loading = false;
	use_load(symbols, &symbols->first);
	if (symbols->hidden)
		log_warn("kernel frames have no names: the kernel hides its addresses",
			 "reason=\"kernel.kptr_restrict is 2, or CAP_SYSLOG is missing\"");
}

static void free_dynamic(struct kernel_symbols *symbols, size_t at)
{
	free(symbols->dynamic[at].name);
	symbols->dynamic_count--;
	memmove(symbols->dynamic + at, symbols->dynamic + at + 1,
		(symbols->dynamic_count - at) * sizeof(*symbols->dynamic));
}

void kernel_symbols_close(struct kernel_symbols *symbols)
{
	wait_loaded(symbols);
	while (symbols->dynamic_count)
		free_dynamic(symbols, symbols->dynamic_count - 1);
	free(symbols->dynamic);
	kallsyms_done(&symbols->table);
	*symbols = (struct kernel_symbols){ 0 };
}

/* Index of the first dynamic symbol that ends after the address. */
static size_t dynamic_after(const struct kernel_symbols *symbols, uint64_t address)
{
	return sorted_before(symbols->dynamic, symbols->dynamic_count, each,
			     each->address + each->length <= address);
}

void kernel_symbols_apply(struct kernel_symbols *symbols, const struct sideband_record *record)
{
	uint64_t end;

	if (!record->length || __builtin_add_overflow(record->address, record->length, &end))
		return;

	size_t at = dynamic_after(symbols, record->address);

	while (at < symbols->dynamic_count && symbols->dynamic[at].address < end)
		free_dynamic(symbols, at);
	if (record->unregistered)
		return;
	if (symbols->dynamic_count >= KSYMBOLS_MAX) {
		symbols->over_limit++;
		return;
	}
	symbols->dynamic = heap_resize(symbols->dynamic, symbols->dynamic_count + 1,
				       sizeof(*symbols->dynamic));
	memmove(symbols->dynamic + at + 1, symbols->dynamic + at,
		(symbols->dynamic_count - at) * sizeof(*symbols->dynamic));
	symbols->dynamic[at] = (struct kernel_symbols_dynamic){ .address = record->address,
								.length = record->length,
								.name = heap_str(record->path) };
	symbols->dynamic_count++;
	symbols->count = symbols->table.count + symbols->dynamic_count;
}

void kernel_symbols_refresh(struct kernel_symbols *symbols)
{
	struct kernel_symbols_load load;
	uint64_t hash, now_ms = clock_monotonic_ns() / NS_PER_MS;
	struct err err;

	if (symbols->hidden || now_ms - symbols->loaded_ms < KALLSYMS_REFRESH_MS)
		return;
	wait_loaded(symbols);
	hash = hash_of_modules();
	if (hash == symbols->modules_hash && !symbols->missed)
		return;
	symbols->modules_hash = hash;
	symbols->loaded_ms = now_ms;
	symbols->reloads++;
	if (!begin_load(&load, &err)) {
		log_warn("kernel symbols were not refreshed", "error=\"%s\"", err.msg);
		return;
	}
	run_load(&load);
	use_load(symbols, &load);
}

struct kernel_symbol kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address)
{
	struct kernel_symbol symbol = { .name = STR("[unknown]"),
					.module = STR("[kernel.kallsyms]") };
	size_t at = dynamic_after(symbols, address);

	wait_loaded(symbols);
	if (at < symbols->dynamic_count && symbols->dynamic[at].address <= address)
		return (struct kernel_symbol){ .name = str_from(symbols->dynamic[at].name),
					       .module = STR("[bpf]") };
	if (symbols->hidden) {
		symbol.name = STR("[hidden]");
	} else if (!kallsyms_find(&symbols->table, address, &symbol.name, &symbol.module)) {
		symbols->unknown++;
		symbols->missed = true;
	}
	return symbol;
}
