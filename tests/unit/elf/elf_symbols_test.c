// SPDX-License-Identifier: Apache-2.0
/*
 * Symbols of real binaries, compared with nm; and tables made for a test.
 */
#include "elf/elf_symbols.h"
#include "support/test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

static elf_symbols symbols_of(int fd, struct arena *arena)
{
	struct elf_sections sections;
	elf_symbols symbols = { 0 };
	struct err err;

	if (!elf_sections_read(fd, arena, &sections, &err) ||
	    !elf_symbols_read(fd, &sections, arena, &symbols, &err))
		fail_msg("%s", err.msg);
	return symbols;
}

/* An empty name: no symbol. */
static struct elf_symbol symbol_at(const elf_symbols *symbols, uint64_t address)
{
	struct elf_symbol found = { 0 };

	for (size_t i = 0; symbols->items && i < symbols->len; i++)
		if (symbols->items[i].start <= address)
			found = symbols->items[i];
	return address < found.end ? found : (struct elf_symbol){ 0 };
}

/* 0000000000001139 000000000000000b T main; W may be a thread-local variable, with a low address */
static void every_function_that_nm_lists_is_there(const char *command, int fd)
{
	AUTO_ARENA arena = { 0 };
	elf_symbols symbols = symbols_of(fd, &arena);
	FILE *out = popen(command, "r"); /* NOLINT(cert-env33-c): a test, fixed commands */
	size_t compared = 0, same = 0;
	char line[4096], name[4096], type;
	uint64_t address, size;

	/* NOLINTNEXTLINE(cert-err34-c): nm's own numbers */
	while (out && fgets(line, sizeof(line), out)) {
		if (sscanf(line, "%lx %lx %c %4095s", &address, &size, &type, name) != 4 ||
		    !strchr("tTwWi", type) || size == 0 || address < 4096)
			continue;
		name[strcspn(name, "@")] = 0;

		struct elf_symbol symbol = symbol_at(&symbols, address);

		assert_int_equal(symbol.start, address);
		compared++;
		same += str_eq(symbol.name, str_from(name));
	}
	pclose(out);
	assert_true(compared > 10);
	assert_true(same * 3 > compared); /* many functions of libc have three names */
}

static void finds_the_symbols_that_nm_finds(void **state)
{
	AUTO_FD self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	AUTO_FD libc = open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY | O_CLOEXEC);
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "nm -S /proc/%d/exe", getpid());
	every_function_that_nm_lists_is_there(command, self);
	if (libc >= 0)
		every_function_that_nm_lists_is_there(
			"nm -SD --defined-only /lib/x86_64-linux-gnu/libc.so.6", libc);
}

/* A file with four sections: the null section, code at 0x1000 to 0x2000, symbols, strings. */
struct image {
	Elf64_Ehdr head;
	Elf64_Shdr sections[4];
	Elf64_Sym symbols[8];
	char names[256];
	size_t symbol_count, names_len;
};

static void image_add(struct image *image, const char *name, uint64_t address, uint64_t size,
		      unsigned char info)
{
	image->symbols[image->symbol_count++] = (Elf64_Sym){
		.st_name = (uint32_t)image->names_len,
		.st_info = info,
		.st_shndx = 1,
		.st_value = address,
		.st_size = size,
	};
	memcpy(image->names + image->names_len, name, strlen(name) + 1);
	image->names_len += strlen(name) + 1;
}

static int image_file(struct image *image)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	memcpy(image->head.e_ident, ELFMAG, SELFMAG);
	image->head.e_ident[EI_CLASS] = ELFCLASS64;
	image->head.e_ident[EI_DATA] = ELFDATA2LSB;
	image->head.e_shoff = offsetof(struct image, sections);
	image->head.e_shentsize = sizeof(Elf64_Shdr);
	image->head.e_shnum = 4;
	image->sections[1] = (Elf64_Shdr){ .sh_type = SHT_NOBITS,
					   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					   .sh_addr = 0x1000,
					   .sh_size = 0x1000 };
	/* `names` is also the string table of section names: it begins with the name of this
	 * section. */
	image->sections[2] = (Elf64_Shdr){ .sh_name = 1,
					   .sh_type = SHT_SYMTAB,
					   .sh_offset = offsetof(struct image, symbols),
					   .sh_size = image->symbol_count * sizeof(Elf64_Sym),
					   .sh_link = 3 };
	image->sections[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					   .sh_offset = offsetof(struct image, names),
					   .sh_size = image->names_len };
	image->head.e_shstrndx = 3;
	assert_int_equal(write(fd, image, sizeof(*image)), sizeof(*image));
	return fd;
}

static struct image image_make(void)
{
	return (struct image){ .names = "\0.symtab", .names_len = sizeof("\0.symtab") };
}

static void says(int fd, uint64_t address, const char *name)
{
	AUTO_ARENA arena = { 0 };
	elf_symbols symbols = symbols_of(fd, &arena);
	struct elf_symbol symbol = symbol_at(&symbols, address);

	if (!str_eq(symbol.name, str_from(name)))
		fail_msg("at %lx: '" STR_FMT "', not '%s'", address, STR_ARG(symbol.name), name);
}

static void a_size_ends_a_symbol_and_without_one_the_next_symbol_does(void **state)
{
	struct image image = image_make();

	(void)state;
	image_add(&image, "sized", 0x1010, 0x10, ELF64_ST_INFO(STB_LOCAL, STT_FUNC));
	image_add(&image, "label", 0x1040, 0, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE));
	image_add(&image, "next", 0x1060, 0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	image_add(&image, "data", 0x1070, 8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT));
	image_add(&image, "outside", 0x3000, 8, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	image_add(&image, "huge", 0x1800, UINT64_MAX, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));

	AUTO_FD fd = image_file(&image);

	says(fd, 0x100f, "");
	says(fd, 0x1010, "sized");
	says(fd, 0x101f, "sized");
	says(fd, 0x1020, ""); /* a hole */
	says(fd, 0x103f, "");
	says(fd, 0x1040, "label");
	says(fd, 0x105f, "label");
	says(fd, 0x1070, "next");
	says(fd, 0x17ff, "next");
	says(fd, 0x1fff, "huge"); /* cut at the section's end */
	says(fd, 0x2000, "");
	says(fd, 0x3000, "");
}

static void keeps_the_public_name_of_a_function(void **state)
{
	struct image image = image_make();

	(void)state;
	image_add(&image, "__libc_recvmsg", 0x1000, 8, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	image_add(&image, "recvmsg", 0x1000, 8, ELF64_ST_INFO(STB_WEAK, STT_FUNC));
	image_add(&image, "memcmp", 0x1010, 8, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	image_add(&image, "bcmp", 0x1010, 8, ELF64_ST_INFO(STB_WEAK, STT_FUNC));
	image_add(&image, "____strtod_l", 0x1020, 8, ELF64_ST_INFO(STB_LOCAL, STT_FUNC));
	image_add(&image, "__GI_____strtod_l", 0x1020, 8, ELF64_ST_INFO(STB_LOCAL, STT_FUNC));

	AUTO_FD fd = image_file(&image);

	says(fd, 0x1000, "recvmsg");
	says(fd, 0x1010, "memcmp");
	says(fd, 0x1020, "____strtod_l");
}

static void keeps_the_best_of_several_names(void **state)
{
	struct image image = image_make();

	(void)state;
	image_add(&image, "label", 0x1000, 0, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE));
	image_add(&image, "a_local", 0x1000, 8, ELF64_ST_INFO(STB_LOCAL, STT_FUNC));
	image_add(&image, "__write", 0x1000, 8, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	image_add(&image, "writes", 0x1000, 8, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	image_add(&image, "write", 0x1000, 8, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	image_add(&image, "weak", 0x1000, 8, ELF64_ST_INFO(STB_WEAK, STT_FUNC));
	image_add(&image, "$x", 0x1004, 0, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE));

	AUTO_FD fd = image_file(&image);

	says(fd, 0x1000, "write");
	says(fd, 0x1004, "write");
	says(fd, 0x1008, "");
}

static void a_local_symbol_has_the_file_named_before_it(void **state)
{
	static const struct {
		const char *name, *file;
	} rows[] = { { "first", "a.c" }, { "second", "b.c" }, { "linker", "" }, { "global", "" } };
	AUTO_ARENA arena = { 0 };
	struct image image = image_make();

	(void)state;
	image_add(&image, "a.c", 0, 0, ELF64_ST_INFO(STB_LOCAL, STT_FILE));
	image_add(&image, "first", 0x1000, 8, ELF64_ST_INFO(STB_LOCAL, STT_FUNC));
	image_add(&image, "b.c", 0, 0, ELF64_ST_INFO(STB_LOCAL, STT_FILE));
	image_add(&image, "second", 0x1010, 8, ELF64_ST_INFO(STB_LOCAL, STT_FUNC));
	image_add(&image, "global", 0x1030, 8, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	image_add(&image, "", 0, 0, ELF64_ST_INFO(STB_LOCAL, STT_FILE));
	image_add(&image, "linker", 0x1020, 8, ELF64_ST_INFO(STB_LOCAL, STT_FUNC));

	AUTO_FD fd = image_file(&image);
	elf_symbols symbols = symbols_of(fd, &arena);

	assert_int_equal(symbols.len, ARRAY_LEN(rows));
	for (size_t i = 0; i < symbols.len; i++) {
		assert_true(str_eq(symbols.items[i].name, str_from(rows[i].name)));
		assert_true(str_eq(symbols.items[i].file, str_from(rows[i].file)));
	}
}

RUN_TESTS(TEST(finds_the_symbols_that_nm_finds),
	  TEST(a_size_ends_a_symbol_and_without_one_the_next_symbol_does),
	  TEST(keeps_the_best_of_several_names), TEST(keeps_the_public_name_of_a_function),
	  TEST(a_local_symbol_has_the_file_named_before_it))
