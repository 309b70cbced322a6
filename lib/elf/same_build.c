// SPDX-License-Identifier: Apache-2.0
#include "elf/same_build.h"

#include "elf/elf_symbols.h"

#include <elf.h>
#include <inttypes.h>

static bool is_loaded(const struct elf_section *section)
{
	return section->flags & SHF_ALLOC;
}

static size_t count_loaded(const struct elf_sections *sections)
{
	size_t count = 0;

	for (size_t i = 0; i < sections->len; i++)
		count += is_loaded(&sections->items[i]);
	return count;
}

static int section_compare(const void *left, const void *right)
{
	const struct elf_section *a = *(struct elf_section *const *)left;
	const struct elf_section *b = *(struct elf_section *const *)right;
	int order = str_compare(a->name, b->name);

	if (order)
		return order;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->size < b->size ? -1 : a->size > b->size;
}

static const struct elf_section **sort_loaded(const struct elf_sections *sections, size_t count,
					      struct arena *arena)
{
	const struct elf_section **sorted = arena_array(arena, const struct elf_section *, count);
	size_t len = 0;

	for (size_t i = 0; i < sections->len; i++)
		if (is_loaded(&sections->items[i]))
			sorted[len++] = &sections->items[i];
	if (count)
		qsort(sorted, count, sizeof(*sorted), section_compare);
	return sorted;
}

static bool compare_sections(const struct elf_sections *less, const struct elf_sections *more,
			     struct arena *arena, struct err *err)
{
	size_t count = count_loaded(less), more_count = count_loaded(more);

	if (!count)
		return true;
	if (count != more_count)
		return err_set(err, ERR_INVALID, "%zu loaded sections, and %zu in the other file",
			       more_count, count);

	const struct elf_section **a = sort_loaded(less, count, arena);
	const struct elf_section **b = sort_loaded(more, count, arena);

	for (size_t i = 0; i < count; i++)
		if (section_compare(&a[i], &b[i]) != 0)
			return err_set(err, ERR_INVALID,
				       "the loaded sections differ from those of the other file at "
				       "\"" STR_FMT "\", 0x%" PRIx64,
				       STR_ARG(a[i]->name), a[i]->address);
	return true;
}

/* "memcpy" of "memcpy@@GLIBC_2.14". */
static str base_name(str name)
{
	const char *at = name.len ? memchr(name.ptr, '@', name.len) : NULL;

	return (str){ name.ptr, at ? (size_t)(at - name.ptr) : name.len };
}

/* Both lists are sorted by address. */
static bool compare_symbols(const elf_symbols *less, const elf_symbols *more, struct err *err)
{
	size_t first = 0;

	for (size_t i = 0; i < less->len; i++) {
		const struct elf_symbol *symbol = &less->items[i];
		str name = base_name(symbol->name);
		bool found = false;

		while (first < more->len && more->items[first].start < symbol->start)
			first++;
		for (size_t j = first;
		     !found && j < more->len && more->items[j].start == symbol->start; j++)
			found = str_eq(base_name(more->items[j].name), name);
		if (!found)
			return err_set(err, ERR_INVALID,
				       "no function \"" STR_FMT "\" at 0x%" PRIx64
				       ", as in the other file",
				       STR_ARG(name), symbol->start);
	}
	return true;
}

bool same_build_check(int less, int more, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct elf_sections less_sections, more_sections;
	elf_symbols less_symbols, more_symbols;

	return elf_sections_read(less, &arena, &less_sections, err) &&
	       elf_sections_read(more, &arena, &more_sections, err) &&
	       compare_sections(&less_sections, &more_sections, &arena, err) &&
	       elf_symbols_read_all(less, &less_sections, SAME_BUILD_SYMBOLS_MAX, &arena,
				    &less_symbols, err) &&
	       (!less_symbols.len ||
		(elf_symbols_read_all(more, &more_sections, SAME_BUILD_SYMBOLS_MAX, &arena,
				      &more_symbols, err) &&
		 compare_symbols(&less_symbols, &more_symbols, err)));
}
