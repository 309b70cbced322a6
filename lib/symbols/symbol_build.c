// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_build.h"

#include "elf/limits.h"
#include "elf/mini_debug.h"
#include "symbols/dwarf_functions_internal.h"
#include "symbols/elf_plt_internal.h"
#include "symbols/go_functions_internal.h"
#include "symbols/symbol_reach_internal.h"

#include <elf.h>

/* ELF symbols have depth 0, so functions of DWARF and of Go cover them. */
static void symbols_add(struct symbol_model *model, const elf_symbols *symbols)
{
	for (size_t i = 0; i < symbols->len; i++) {
		const struct elf_symbol *symbol = &symbols->items[i];
		struct symbol_writer *writer = &model->writer;
		struct symbol_span span = { symbol->start, symbol->end, (uint32_t)writer->nodes.len,
					    0 };

		if (symbol_model_add_span(model, span))
			symbol_writer_node(
				writer,
				(struct symbol_node){
					.function = symbol_writer_function(writer, symbol->name, 0),
					.call_file =
						symbol->file.len
							? symbol_writer_file(writer, symbol->file)
							: 0 });
	}
}

/* Adds .gnu_debugdata to .dynsym: it does not contain the exported functions. */
static bool mini_add(int elf_fd, const struct elf_sections *sections, struct symbol_model *model,
		     struct err *err)
{
	AUTO_FD inside = -1;
	struct elf_sections inside_sections;
	elf_symbols symbols;

	if (elf_section_has_bytes(elf_sections_find(sections, STR(".symtab"))))
		return true;
	if (!mini_debug_open(elf_fd, sections, &inside, err))
		return false;
	if (inside < 0)
		return true;
	if (!elf_sections_read(inside, model->arena, &inside_sections, err) ||
	    !elf_symbols_read(inside, &inside_sections, model->arena, &symbols, err))
		return err_wrap(err, "read .gnu_debugdata");
	symbols_add(model, &symbols);
	return true;
}

static bool stubs_add(int elf_fd, const struct elf_sections *sections, struct symbol_model *model,
		      struct err *err)
{
	elf_symbols stubs;

	if (!elf_plt_read(elf_fd, sections, model->arena, &stubs, err))
		return err_wrap(err, "read the PLT stubs");
	symbols_add(model, &stubs);
	return true;
}

typedef bool dwarf_opener(struct dwarf_file *file, int fd, const struct elf_sections *sections,
			  uint64_t memory_max, struct arena *arena, struct err *err);

/* Opens a file beside the debug file. */
static bool beside_open(dwarf_opener *opener, int fd, const struct symbol_model *model,
			const char *what, struct dwarf_file *file, struct err *err)
{
	struct elf_sections sections;

	if (elf_sections_read(fd, model->arena, &sections, err) &&
	    opener(file, fd, &sections, model->memory_max, model->arena, err))
		return true;
	return err_wrap(err, "read %s", what);
}

static bool dwarf_add(const struct symbol_build_options *options, int elf_fd,
		      const struct elf_sections *sections, struct symbol_model *model,
		      struct err *err)
{
	CLEANUP(dwarf_file_close) struct dwarf_file file = { 0 }, alt = { 0 }, package = { 0 };
	bool has_alt = options->alt_fd > 0;
	bool is_merged = elf_section_has_bytes(elf_sections_find(sections, STR(".debug_cu_index")));
	bool has_package = options->package_fd > 0 || is_merged;
	int package_fd = options->package_fd > 0 ? options->package_fd : elf_fd;

	if (!dwarf_file_open(&file, elf_fd, sections, model->memory_max, model->arena, err))
		return false;
	if (has_alt && !beside_open(dwarf_file_open, options->alt_fd, model,
				    "the common file of dwz", &alt, err))
		return false;
	if (has_package && !beside_open(dwarf_package_open, package_fd, model,
					"the package of split DWARF", &package, err))
		return false;
	file.alt = has_alt ? &alt : NULL;
	return dwarf_functions_read(&file, has_package ? &package : NULL, model, err);
}

bool symbol_build(const struct symbol_build_options *options, int elf_fd, int out_fd,
		  struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct elf_sections sections;
	struct symbol_model model;

	if (!elf_sections_read(elf_fd, &arena, &sections, err))
		return false;
	if (sections.type == ET_REL) /* all sections begin at 0, and the DWARF is not relocated */
		return err_set(
			err, ERR_INVALID,
			"a relocatable file (.o, .ko) is yet to be linked and has no addresses");
	symbol_model_init(&model, &sections,
			  options->memory_max ? options->memory_max : SYMBOL_BUILD_MEMORY_MAX,
			  &arena);
	if (!elf_symbols_read(elf_fd, &sections, &arena, &model.symbols, err) ||
	    !symbol_reach_find(elf_fd, &sections, &arena, &model.symbols, err) ||
	    !dwarf_add(options, elf_fd, &sections, &model, err))
		return false;
	if (!model.spans.len && !go_functions_read(elf_fd, &sections, &model, err))
		return false;
	symbols_add(&model, &model.symbols);
	if (!mini_add(elf_fd, &sections, &model, err) || !stubs_add(elf_fd, &sections, &model, err))
		return false;
	symbol_model_emit(&model);
	return symbol_model_check(&model, err) && symbol_writer_write(&model.writer, out_fd, err);
}

/* The section has a path, a NUL, and the bytes of the build id. */
bool symbol_build_alt_id(int elf_fd, struct build_id *ret_id)
{
	AUTO_ARENA arena = { 0 };
	struct elf_sections sections;
	struct err err;
	str link;

	if (!elf_sections_read(elf_fd, &arena, &sections, &err) ||
	    !elf_section_read(elf_fd, elf_sections_find(&sections, STR(".gnu_debugaltlink")),
			      ELF_NOTE_BYTES_MAX, &arena, &link, &err))
		return false;
	str_cut(&link, '\0');
	return build_id_parse(str_hex(&arena, link), ret_id, &err);
}
