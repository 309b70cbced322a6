#include "elf_symbols.h"
#include "symbol_spans.h"
#include "symbol_table.h"
#include "symbol_writer.h"

/* Spans of what the symbol table names: below all else. */
static void symbols_add(const elf_symbols *symbols, struct symbol_writer *writer,
			symbol_spans *spans)
{
	for (size_t i = 0; i < symbols->len; i++) {
		const struct elf_symbol *symbol = &symbols->items[i];
		uint32_t function = symbol_writer_function(writer, symbol->name, 0);

		*vec_push(writer->arena, spans) = (struct symbol_span){
			.start = symbol->start,
			.end = symbol->end,
			.node = symbol_writer_node(writer,
						   (struct symbol_node){ .function = function }),
		};
	}
}

static bool memory_check(const struct arena *arena, uint64_t memory_max, struct err *err)
{
	return arena->held <= memory_max ||
	       err_set(err, ERR_LIMIT, "the names take more than %ju bytes of memory",
		       (uintmax_t)memory_max);
}

bool symbol_table_build(const struct symbol_table_options *options, int elf_fd, int out_fd,
			struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct elf_sections sections;
	struct symbol_writer writer;
	symbol_spans spans = { 0 };
	elf_symbols symbols;
	uint64_t memory_max = options->memory_max ? options->memory_max : SYMBOL_BUILD_MEMORY_MAX;

	symbol_writer_init(&writer, &arena);
	if (!elf_sections_read(elf_fd, &arena, &sections, err) ||
	    !elf_symbols_read(elf_fd, &sections, &arena, &symbols, err) ||
	    !memory_check(&arena, memory_max, err))
		return false;
	symbols_add(&symbols, &writer, &spans);

	symbol_points points = symbol_spans_flatten(&spans, &arena);

	for (size_t i = 0; i < points.len; i++)
		symbol_writer_row(&writer, (struct symbol_row){ .address = points.items[i].address,
								.node = points.items[i].node });
	return symbol_writer_write(&writer, out_fd, err);
}

/* A path, NUL, the build id's bytes. */
bool symbol_table_alt_id(int elf_fd, struct build_id *ret_id)
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
