// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/kallsyms_internal.h"
#include "base/heap.h"
#include "base/sorted.h"

/* No function is longer: an address further above its symbol is in memory without a symbol. */
enum { FUNCTION_BYTES_MAX = 256 * 1024, NAME_BYTES_MAX = 512 };

#define KERNEL_PATH "[kernel.kallsyms]"

static uint32_t add_text(struct kallsyms *table, str text)
{
	size_t need = table->names_len + text.len + 1;

	if (need > table->names_cap) {
		table->names_cap = need * 3 / 2 + 4096;
		table->names = heap_resize(table->names, table->names_cap, 1);
	}

	uint32_t at = (uint32_t)table->names_len;

	if (text.len)
		memcpy(table->names + at, text.ptr, text.len);
	table->names[at + text.len] = 0;
	table->names_len = need;
	return at;
}

static str module_name(const struct kallsyms *table, uint16_t module)
{
	return str_from(table->names + table->modules[module]);
}

static uint16_t add_module(struct kallsyms *table, str name)
{
	if (table->module_count == table->module_cap) {
		table->module_cap = table->module_cap * 2 + 64;
		table->modules =
			heap_resize(table->modules, table->module_cap, sizeof(*table->modules));
	}
	table->modules[table->module_count] = add_text(table, name);
	return (uint16_t)table->module_count++;
}

/* The symbols of a module are listed together, so the last module is tried first. */
static uint16_t module_of(struct kallsyms *table, str name)
{
	if (!table->module_count)
		add_module(table, STR(KERNEL_PATH));
	if (!name.len)
		return 0;
	for (size_t i = table->module_count; i > 1; i--)
		if (str_eq(module_name(table, (uint16_t)(i - 1)), name))
			return (uint16_t)(i - 1);
	return table->module_count < KALLSYMS_MODULES_MAX ? add_module(table, name) : 0;
}

static bool is_code(str type, str name)
{
	if (type.len != 1 || str_find(STR("tTwW"), type) == SIZE_MAX)
		return false;
	/* __pfx_ is padding before a function, which never runs; $ and . begin assembler marks. */
	return name.len && name.len <= NAME_BYTES_MAX && !str_starts_with(name, STR("__pfx_")) &&
	       name.ptr[0] != '$' && name.ptr[0] != '.';
}

void kallsyms_add(struct kallsyms *table, str line)
{
	str address_text = str_cut(&line, ' ');
	str type = str_cut(&line, ' ');
	str name = str_cut(&line, '\t');
	uint64_t address;

	if (!is_code(type, name) || !str_hex_to_u64(address_text, &address))
		return;
	if (!address) {
		table->hidden = true;
		return;
	}
	if (table->names_len > UINT32_MAX - (2 * NAME_BYTES_MAX) || line.len > NAME_BYTES_MAX)
		return;
	if (table->count == table->cap) {
		table->cap = table->cap * 3 / 2 + 1024;
		table->symbols = heap_resize(table->symbols, table->cap, sizeof(*table->symbols));
	}

	uint16_t module = module_of(table, str_trim(line));

	table->symbols[table->count++] = (struct kallsyms_symbol){ .address = address,
								   .name = add_text(table, name),
								   .name_len = (uint16_t)name.len,
								   .module = module };
}

/* By address; of several names of one address the first listed one comes first. */
static int compare(const void *a, const void *b)
{
	const struct kallsyms_symbol *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->name < right->name ? -1 : left->name > right->name;
}

void kallsyms_finish(struct kallsyms *table)
{
	if (!table->count)
		return;
	qsort(table->symbols, table->count, sizeof(*table->symbols), compare);

	size_t kept = 1;

	for (size_t i = 1; i < table->count; i++)
		if (table->symbols[i].address != table->symbols[kept - 1].address)
			table->symbols[kept++] = table->symbols[i];
	table->count = table->cap = kept;
	table->symbols = heap_resize(table->symbols, kept, sizeof(*table->symbols));
	table->names = heap_resize(table->names, table->names_len, 1);
	table->names_cap = table->names_len;
	table->hidden = false;
}

void kallsyms_done(struct kallsyms *table)
{
	free(table->symbols);
	free(table->names);
	free(table->modules);
	*table = (struct kallsyms){ 0 };
}

bool kallsyms_find(const struct kallsyms *table, uint64_t address, str *ret_name, str *ret_module)
{
	size_t begun = sorted_before(table->symbols, table->count, each, each->address <= address);

	if (!begun || address - table->symbols[begun - 1].address >= FUNCTION_BYTES_MAX)
		return false;

	const struct kallsyms_symbol *symbol = &table->symbols[begun - 1];

	*ret_name = (str){ table->names + symbol->name, symbol->name_len };
	*ret_module = module_name(table, symbol->module);
	return true;
}
