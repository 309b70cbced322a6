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
#include <stdio.h>

enum { MODULES_PART_BYTES = 4096, LINE_MAX_BYTES = 1024 };

struct kernel_symbols_dynamic {
	uint64_t address, length;
	char *name;
};

static bool read_table(struct kallsyms *table, bool *ret_truncated, struct err *err)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[LINE_MAX_BYTES];
	uint64_t bytes = 0;

	if (!file)
		return err_errno(err, "open /proc/kallsyms");
	while (bytes < KALLSYMS_BYTES_MAX && fgets(line, sizeof(line), file)) {
		str text = str_trim(str_from(line));

		bytes += text.len;
		kallsyms_add(table, text);
	}
	fclose(file);
	*ret_truncated = bytes >= KALLSYMS_BYTES_MAX;
	kallsyms_finish(table);
	return true;
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

static bool load(struct kernel_symbols *symbols, struct err *err)
{
	struct kallsyms table = { 0 };
	bool is_truncated;

	symbols->loaded_ms = clock_monotonic_ns() / NS_PER_MS;
	symbols->missed = false;
	if (!read_table(&table, &is_truncated, err)) {
		kallsyms_done(&table);
		return false;
	}
	symbols->over_limit += is_truncated;
	kallsyms_done(&symbols->table);
	symbols->table = table;
	symbols->hidden = table.count == 0;
	symbols->count = table.count + symbols->dynamic_count;
	return true;
}

bool kernel_symbols_open(struct kernel_symbols *symbols, struct err *err)
{
	*symbols = (struct kernel_symbols){ .modules_hash = hash_of_modules() };
	if (!load(symbols, err))
		return false;
	if (symbols->hidden)
		log_warn("kernel frames have no names: the kernel hides its addresses",
			 "reason=\"kernel.kptr_restrict is 2, or CAP_SYSLOG is missing\"");
	return true;
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
	uint64_t hash = hash_of_modules();
	uint64_t age_ms = clock_monotonic_ns() / NS_PER_MS - symbols->loaded_ms;
	struct err err;

	if (symbols->hidden || age_ms < KALLSYMS_REFRESH_MS ||
	    (hash == symbols->modules_hash && !symbols->missed))
		return;
	symbols->modules_hash = hash;
	symbols->reloads++;
	if (!load(symbols, &err))
		log_warn("kernel symbols were not refreshed", "error=\"%s\"", err.msg);
}

struct kernel_symbol kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address)
{
	struct kernel_symbol symbol = { .name = STR("[unknown]"),
					.module = STR("[kernel.kallsyms]") };
	size_t at = dynamic_after(symbols, address);

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
