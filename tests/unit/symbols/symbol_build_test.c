// SPDX-License-Identifier: Apache-2.0
/*
 * The expected names are the output of llvm-symbolizer for the same addresses, for small programs
 * of both compilers, in each form of DWARF and without DWARF. The programs are in the corpus of the
 * fuzzer.
 */
#include "elf/elf_sections.h"
#include "support/test.h"
#include "symbols/symbol_build.h"
#include "symbols/symbol_table.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

enum { TABLE_MEMORY = 64 << 20 };

static int file_open(const char *name)
{
	AUTO_ARENA arena = { 0 };

	return open(str_z(&arena, str_format(&arena, "%s/symbol_build/%s", CORPUS, name)),
		    O_RDONLY | O_CLOEXEC);
}

static bool build_split(int fd, int alt_fd, int package_fd, struct symbol_table *table,
			struct err *err)
{
	AUTO_FD out = memfd_create("table", MFD_CLOEXEC);
	struct symbol_build_options options = { .memory_max = TABLE_MEMORY,
						.alt_fd = alt_fd,
						.package_fd = package_fd };

	return symbol_build(&options, fd, out, err) && symbol_table_open(table, out, err);
}

static bool build(int fd, int alt_fd, struct symbol_table *table, struct err *err)
{
	return build_split(fd, alt_fd, 0, table, err);
}

static void table_of(const char *name, const char *alt, struct symbol_table *table)
{
	AUTO_FD fd = file_open(name);
	AUTO_FD alt_fd = alt ? file_open(alt) : -1;
	struct err err;

	if (!build(fd, alt_fd, table, &err))
		fail_msg("%s: %s", name, err.msg);
}

static str base_of(str path)
{
	str base = path;

	while (path.len) {
		base = path;
		str_cut(&path, '/');
	}
	return base;
}

/* "inner a.c:2 < outer a.c:7", with the qualified name in brackets. */
static str chain_of(const struct symbol_table *table, uint64_t address, struct arena *arena)
{
	struct symbol_line lines[SYMBOL_LINES_MAX];
	size_t count = symbol_table_find(table, address, lines);
	str chain = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct symbol_line *line = &lines[i];
		str base = base_of(line->file);

		chain = str_format(arena, STR_FMT "%s" STR_FMT, STR_ARG(chain), i ? " < " : "",
				   STR_ARG(line->system_name));
		if (line->name.len)
			chain = str_format(arena, STR_FMT "(" STR_FMT ")", STR_ARG(chain),
					   STR_ARG(line->name));
		if (base.len)
			chain = str_format(arena, STR_FMT " " STR_FMT ":%u", STR_ARG(chain),
					   STR_ARG(base), line->line);
	}
	return chain;
}

struct claim {
	uint64_t address;
	const char *chain;
};

static void says(const struct symbol_table *table, const char *name, const struct claim *claims,
		 size_t count)
{
	AUTO_ARENA arena = { 0 };

	for (size_t i = 0; i < count; i++) {
		str chain = chain_of(table, claims[i].address, &arena);

		if (!str_eq(chain, str_from(claims[i].chain)))
			fail_msg("%s at %#jx: " STR_FMT ", and not %s", name,
				 (uintmax_t)claims[i].address, STR_ARG(chain), claims[i].chain);
	}
}

static void symbolizes_a_gcc_program_in_each_form_of_dwarf(void **state)
{
	static const struct claim claims[] = {
		{ 0x4000b0, "_Z1gi a.cc:6 < _ZL4coldi a.cc:4" },
		{ 0x4000b9, "" }, /* between two functions */
		{ 0x4000c0, "_Z1fi a.cc:5" },
		{ 0x4000c8, "in2 a.cc:2 < in1 a.cc:3 < _Z1fi a.cc:5 < _Z1fi a.cc:5" },
		{ 0x4000d8, "_ZNK1n1SIiE3getEi a.cc:1 < _Z1fi a.cc:5 < _Z1fi a.cc:5" },
		{ 0x4000e6, "_Z1gi a.cc:6 < _Z1fi a.cc:5 < _Z1fi a.cc:5" },
		{ 0x40011c, "in2 a.cc:2 < _Z1fi a.cc:5 < _Z1fi a.cc:5 < _start a.cc:7" },
		{ 0x400133, "_start a.cc:7" },
	};
	static const char *const files[][2] = {
		{ "v3" },
		{ "v4" },
		{ "v5" },
		{ "zlib" },
		{ "zstd" },
		{ "zdebug" },
		{ "dwz_needs_common", "dwz_common" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct symbol_table table = { 0 };

		table_of(files[i][0], files[i][1], &table);
		says(&table, files[i][0], claims, ARRAY_LEN(claims));
		symbol_table_close(&table);
	}
}

static void reads_64_bit_offsets_32_bit_addresses_and_ranges_by_index(void **state)
{
	static const struct claim wide[] = {
		{ 0x4000b8, "inner ranges.c:4 < outer ranges.c:13" },
		{ 0x4000d6, "inner ranges.c:5 < outer ranges.c:10" },
	};
	static const struct claim indexed[] = {
		{ 0x4000b8, "inner ranges.c:4 < outer ranges.c:13" },
		{ 0x4000ce, "inner ranges.c:5 < outer ranges.c:10" },
	};
	static const struct claim typed[] = {
		{ 0x4000b7, "_ZNK5point3sumEv types.cc:1 < inner types.cc:3 < "
			    "_Z5outerRK5point types.cc:4" },
		{ 0x4000e0, "_start types.cc:5" },
	};
	/* types.cc:3 would be of a call that was inlined into outer */
	static const struct claim apart[] = { { 0x4000ba, "_Z5outerRK5point" },
					      { 0x4000e0, "_start" } };
	static const struct claim narrow[] = {
		{ 0x804808c, "inner ranges.c:4 < outer ranges.c:13" },
		{ 0x80480a5, "inner ranges.c:5 < outer ranges.c:10" },
	};
	static const struct {
		const char *name;
		const struct claim *claims;
	} files[] = { { "dwarf64", wide },
		      { "ranges5", indexed },
		      { "narrow4", narrow },
		      { "types5", typed },
		      { "split4", apart } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct symbol_table table = { 0 };

		table_of(files[i].name, NULL, &table);
		says(&table, files[i].name, files[i].claims, 2);
		assert_int_equal(table.split_units, files[i].claims == apart);
		symbol_table_close(&table);
	}
}

static void dwarf_2_has_no_line_of_a_call(void **state)
{
	static const struct claim claims[] = {
		{ 0x4000b0, "_Z1gi a.cc:6 < _ZL4coldi" },
		{ 0x4000c8, "in2 a.cc:2 < in1 < _Z1fi < _Z1fi" },
		{ 0x400133, "_start a.cc:7" },
	};
	struct symbol_table table = { 0 };

	(void)state;
	table_of("v2", NULL, &table);
	says(&table, "v2", claims, ARRAY_LEN(claims));
	symbol_table_close(&table);
}

static void symbolizes_a_clang_program_with_string_indices(void **state)
{
	static const struct claim full[] = {
		{ 0x4000bd, "_ZL3in2i a.cc:2 < _ZL3in1i a.cc:3 < _Z1fi a.cc:5" },
		{ 0x4000cf, "_ZL3in2i a.cc:2 < _Z1fi a.cc:5" },
		{ 0x4000e8, "" },
		{ 0x40012b, "_Z1gi a.cc:6 < _Z1fi a.cc:5 < _start a.cc:7" },
	};
	static const struct claim lines_only[] = {
		{ 0x4000ba, "in2 a.cc:2 < in1 a.cc:3 < _Z1fi a.cc:5" },
		{ 0x400100, "_Z1gi a.cc:6" },
		{ 0x40012b, "g a.cc:6 < f a.cc:5 < _start a.cc:7" },
	};
	struct symbol_table table = { 0 };

	(void)state;
	table_of("clang5", NULL, &table);
	says(&table, "clang5", full, ARRAY_LEN(full));
	symbol_table_close(&table);
	table_of("clang-g1", NULL, &table);
	says(&table, "clang-g1", lines_only, ARRAY_LEN(lines_only));
	symbol_table_close(&table);
}

#define HIDDEN "app::(anonymous namespace)"

static void a_function_without_linkage_name_has_a_qualified_name(void **state)
{
	static const struct claim claims[] = {
		{ 0x400120, "operator()(entry::(anonymous class)::operator()) inlined.cpp:55 < "
			    "_Z5twiceIZ5entryiEUliE_EiT_ inlined.cpp:43" },
		{ 0x400150, "Hidden(" HIDDEN "::Hidden::Hidden) inlined.cpp:77 < "
			    "_ZN3app3runEi inlined.cpp:107" },
		{ 0x400156, "unnamed(" HIDDEN "::unnamed) inlined.cpp:68 < "
			    "_ZN3app3runEi inlined.cpp:109" },
		{ 0x400170, "deep(" HIDDEN "::Hidden::Inner::deep) inlined.cpp:92 < "
			    "_ZN3app3runEi inlined.cpp:109" },
		{ 0x40017e, "step(app::run::Local::step) inlined.cpp:103 < "
			    "_ZN3app3runEi inlined.cpp:110" },
		{ 0x4001e0, "_ZNK6shapes6SquareIiE4areaEv inlined.cpp:18 < "
			    "_ZNK6shapes6SquareIiEplERKS1_ inlined.cpp:24" },
	};
	static const struct claim of_clang[] = {
		{ 0x4001dc, "_ZZN3app3runEiEN5Local4stepEi inlined.cpp:103 < "
			    "_ZN3app3runEi inlined.cpp:110" },
	};
	struct symbol_table table = { 0 };

	(void)state;
	table_of("cpp_qualified", NULL, &table);
	says(&table, "cpp_qualified", claims, ARRAY_LEN(claims));
	symbol_table_close(&table);
	table_of("cpp_qualified_clang", NULL, &table);
	says(&table, "cpp_qualified_clang", of_clang, ARRAY_LEN(of_clang));
	symbol_table_close(&table);
}

/* gcc wrote no linkage names; both functions are inlined into _start and have code of their own. */
static void a_function_without_linkage_name_has_the_name_of_its_symbol(void **state)
{
#define FREE "_ZN12_GLOBAL__N_14pool4freeEPv"
	static const struct claim claims[] = {
		{ 0x4000f4, "_ZL4rarei local_names.cpp:4" },
		{ 0x4000fe, FREE " local_names.cpp:15" }, /* its cold part */
		{ 0x400107, "_ZL7base_ofi.part.0 local_names.cpp:9" },
		{ 0x400122, "_ZL7base_ofi local_names.cpp:9" },
		{ 0x40012c, "base_of local_names.cpp:11 < _start local_names.cpp:25" },
		{ 0x400144, FREE " local_names.cpp:15" },
		{ 0x400184, "_ZL7base_ofi local_names.cpp:8" },
		{ 0x400262, "without_line bare.c:0" }, /* without DWARF: STT_FILE */
	};
	struct symbol_table table = { 0 };

	(void)state;
	table_of("local_names", NULL, &table);
	says(&table, "local_names", claims, ARRAY_LEN(claims));
	symbol_table_close(&table);
}

static void symbolizes_a_go_program_by_gopclntab(void **state)
{
	static const struct claim claims[] = {
		{ 0x401000, "main.outer main.go:10" },
		{ 0x401008, "main.inner main.go:20 < main.outer main.go:10" },
		{ 0x401014, "main.outer main.go:11" },
		{ 0x401020, "main.other other.go:30" },
	};
	/* moduledata is in relocations; the table is in .data.rel.ro; a table of Go 1.18 */
	static const char *const files[] = { "go", "go_relocated", "go_merged", "go_old" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct symbol_table table = { 0 };

		table_of(files[i], NULL, &table);
		says(&table, files[i], claims, ARRAY_LEN(claims));
		symbol_table_close(&table);
	}
}

static void without_moduledata_a_go_program_has_no_wrong_name(void **state)
{
	static const struct claim none[] = {
		{ 0x401000, "" },
		{ 0x401008, "" },
		{ 0x401020, "" },
	};
	/* the header has the base, but the tree of inlined calls is missing */
	static const struct claim without_tree[] = {
		{ 0x401000, "main.outer main.go:10" },
		{ 0x401008, "main.outer" },
		{ 0x401014, "main.outer main.go:11" },
	};
	struct symbol_table table = { 0 };

	(void)state;
	table_of("go_without_module", NULL, &table);
	says(&table, "go_without_module", none, ARRAY_LEN(none));
	symbol_table_close(&table);
	table_of("go_other_module", NULL, &table);
	says(&table, "go_other_module", none, ARRAY_LEN(none));
	symbol_table_close(&table);
	table_of("go_without_tree", NULL, &table);
	says(&table, "go_without_tree", without_tree, ARRAY_LEN(without_tree));
	symbol_table_close(&table);
}

static void without_dwarf_uses_symbols_stubs_and_mini_debug(void **state)
{
	static const struct claim split[] = { { 0x4000b0, "_ZL4coldi a.cc:0" },
					      { 0x400133, "_start" } };
	static const struct claim stubs[] = { { 0x2a0, "puts@plt" }, { 0x290, "" } };
	static const struct claim ibt[] = { { 0x400320, "puts@plt" }, { 0x400334, "free@plt" } };
	static const struct claim got[] = { { 0x220, "puts@plt" },
					    { 0x227, "puts@plt" }, /* a stub of 8 bytes */
					    { 0x228, "free@plt" } };
	static const struct claim arm[] = { { 0x2500, "" },
					    { 0x252c, "puts@plt" },
					    { 0x2530, "free@plt" } };
	static const struct claim packed[] = { { 0x400100, "_Z1gi" }, { 0x4000c0, "" } };
	static const struct {
		const char *name;
		const struct claim *claims;
		size_t count;
	} files[] = {
		{ "split", split, ARRAY_LEN(split) }, /* its DWARF is in another file, which is
							 absent */
		{ "stubs", stubs, ARRAY_LEN(stubs) },        { "stubs_ibt", ibt, ARRAY_LEN(ibt) },
		{ "stubs_got", got, ARRAY_LEN(got) },        { "stubs_arm", arm, ARRAY_LEN(arm) },
		{ "mini_debug", packed, ARRAY_LEN(packed) },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct symbol_table table = { 0 };

		table_of(files[i].name, NULL, &table);
		says(&table, files[i].name, files[i].claims, files[i].count);
		symbol_table_close(&table);
	}
}

static void rejects_a_relocatable_file(void **state)
{
	AUTO_FD fd = file_open("narrow");
	struct symbol_table table = { 0 };
	struct err err;

	(void)state;
	assert_false(build(fd, 0, &table, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_non_null(strstr(err.msg, "yet to be linked"));
}

/* From readelf: the build id after the path of the dwz file. */
static void finds_the_build_id_of_the_dwz_file(void **state)
{
	AUTO_FD moved = file_open("dwz_needs_common"), whole = file_open("v5");
	struct build_id id;

	(void)state;
	assert_true(symbol_build_alt_id(moved, &id));
	assert_string_equal(id.text, "e15ef6ddddf88b8cdd2fce3783f34fa2f3c8baac");
	assert_false(symbol_build_alt_id(whole, &id));
	assert_false(symbol_build_alt_id(-1, &id));
}

static void an_invalid_dwz_file_is_an_error(void **state)
{
	AUTO_FD fd = file_open("dwz_needs_common"), none = open("/etc/passwd", O_RDONLY);
	struct symbol_table table = { 0 };
	struct err err;

	(void)state;
	assert_false(build(fd, none, &table, &err));
	assert_non_null(strstr(err.msg, "file of dwz"));
}

/* Two units each. llvm-symbolizer 14 does not find the inlined calls of split_gnu's second unit:
 * those claims are the lines of the source. */
/* Each byte may be one of a valid stream: only the claims tell before it is unpacked. */
static void a_file_that_claims_to_unpack_to_too_much_is_not_unpacked(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD original = file_open("zlib");
	AUTO_FD fd = memfd_create("claims", MFD_CLOEXEC), out = memfd_create("table", MFD_CLOEXEC);
	struct symbol_build_options options = { 0 }; /* memory of SYMBOL_BUILD_MEMORY_MAX */
	struct elf_sections sections;
	uint64_t claim = 40 << 20;
	struct stat stat;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(fstat(original, &stat), 0);
	assert_int_equal(sendfile(fd, original, NULL, (size_t)stat.st_size), stat.st_size);
	assert_true(elf_sections_read(fd, &arena, &sections, &err));
	for (size_t i = 0; i < sections.len; i++)
		if (sections.items[i].flags & SHF_COMPRESSED)
			assert_int_equal(pwrite(fd, &claim, sizeof(claim),
						(off_t)sections.items[i].offset + 8),
					 sizeof(claim));
	assert_false(symbol_build(&options, fd, out, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_non_null(strstr(err.msg, "unpack to"));
}

static void reads_split_units_from_a_package(void **state)
{
#define HIDDEN_SUM "_ZN3app12_GLOBAL__N_16hiddenEi one.cc:6"
	static const struct claim gnu[] = {
		{ 0x4000f0, "_Z4rarei one.cc:8" },
		{ 0x400109,
		  "_ZN3app3boxIiE4openEi one.cc:4 < add(app::add) one.cc:5 < " HIDDEN_SUM },
		{ 0x400157, "_ZN3app3boxIiE4openEi one.cc:4 < add(app::add) one.cc:5 < "
			    "_start one.cc:12" },
		{ 0x4001b0, "deep two.cc:2 < mid two.cc:3 < _Z3twoi two.cc:5" },
		{ 0x4001ce, "deep two.cc:2 < _Z3twoi two.cc:5" },
		{ 0x4001d8, "_Z3twoi two.cc:6" },
	};
	static const struct claim of_clang[] = {
		{ 0x400195, "_ZN3app3boxIiE4openEi one.cc:4 < _ZN3appL3addEi one.cc:5 < "
			    "_start one.cc:11" },
		{ 0x4001c0, "_ZN3appL3addEi one.cc:5 < " HIDDEN_SUM },
		{ 0x4001f0, "_ZL4deepi two.cc:2 < _ZL3midi two.cc:3 < _Z3twoi two.cc:5" },
		{ 0x400202, "_ZL4deepi two.cc:2 < _Z3twoi two.cc:5" },
	};
	static const struct {
		const char *name, *package;
		const struct claim *claims;
		size_t count;
	} files[] = {
		{ "split_gnu", "split_gnu_package", gnu, ARRAY_LEN(gnu) },
		{ "split_clang", "split_clang_package", of_clang, ARRAY_LEN(of_clang) },
		{ "split_gnu_merged", NULL, gnu, ARRAY_LEN(gnu) },
		{ "split_clang_merged", NULL, of_clang, ARRAY_LEN(of_clang) },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		AUTO_FD fd = file_open(files[i].name);
		AUTO_FD package = files[i].package ? file_open(files[i].package) : -1;
		struct symbol_table table = { 0 };
		struct err err;

		if (!build_split(fd, 0, package, &table, &err))
			fail_msg("%s: %s", files[i].name, err.msg);
		says(&table, files[i].name, files[i].claims, files[i].count);
		assert_int_equal(table.split_units, 0);
		symbol_table_close(&table);
	}
}

/* Units are found by their ids: nothing of another program is taken. */
static void a_package_of_another_program_has_no_unit(void **state)
{
	static const struct claim claims[] = {
		{ 0x400109, "_ZN3app12_GLOBAL__N_16hiddenEi one.cc:0" }, { 0x4001b0, "_Z3twoi" }
	};
	AUTO_FD fd = file_open("split_gnu"), other = file_open("split_clang_package");
	struct symbol_table table = { 0 };
	struct err err;

	(void)state;
	assert_true(build_split(fd, 0, other, &table, &err));
	says(&table, "split_gnu", claims, ARRAY_LEN(claims));
	assert_int_equal(table.split_units, 2);
	symbol_table_close(&table);
}

static void an_invalid_package_is_an_error(void **state)
{
	AUTO_FD fd = file_open("split_gnu"), none = open("/etc/passwd", O_RDONLY);
	struct symbol_table table = { 0 };
	struct err err;

	(void)state;
	assert_false(build_split(fd, 0, none, &table, &err));
	assert_non_null(strstr(err.msg, "package of split DWARF"));
}

/* A changed or truncated file is rejected, or makes a table that opens. */
static void assert_rejected_or_read(int fd, int alt_fd)
{
	struct symbol_table table = { 0 };
	struct err err = { 0 };

	assert_true(build(fd, alt_fd, &table, &err) || err.msg[0]);
	symbol_table_close(&table);
}

static void corrupt_bytes(const char *name, int alt_fd, size_t step)
{
	AUTO_FD whole = file_open(name), fd = memfd_create("elf", MFD_CLOEXEC);
	static char bytes[16 << 10];
	ssize_t len = read(whole, bytes, sizeof(bytes));

	assert_true(len > 0 && len < (ssize_t)sizeof(bytes));
	assert_int_equal(write(fd, bytes, (size_t)len), len);
	for (size_t at = 0; at < (size_t)len; at += step) {
		char other = (char)(bytes[at] ^ (at % 3 ? 0xff : 0x11));

		assert_int_equal(pwrite(fd, &other, 1, (off_t)at), 1);
		assert_rejected_or_read(fd, alt_fd);
		assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
	}
	for (size_t at = (size_t)len; at > 0; at -= at > 10 * step ? 10 * step : at) {
		assert_int_equal(ftruncate(fd, (off_t)at), 0);
		assert_rejected_or_read(fd, alt_fd);
	}
}

static void a_corrupt_file_is_rejected_or_makes_a_table_that_opens(void **state)
{
	static const char *const by_seven[] = {
		"v2",      "v3",     "v4",      "v5",     "zstd", "zdebug", "cpp_qualified",
		"ranges5", "clang5", "dwarf64", "narrow4"
	};
	static const char *const by_one[] = { "go",         "go_relocated", "go_merged", "go_old",
					      "mini_debug", "stubs",        "stubs_arm", "split4",
					      "types5",     "clang-g1" };
	AUTO_FD common = file_open("dwz_common");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(by_seven); i++)
		corrupt_bytes(by_seven[i], 0, 7);
	for (size_t i = 0; i < ARRAY_LEN(by_one); i++)
		corrupt_bytes(by_one[i], 0, 1);
	corrupt_bytes("dwz_needs_common", common, 7);
	/* each has the sections of its package */
	corrupt_bytes("split_gnu_merged", 0, 1);
	corrupt_bytes("split_clang_merged", 0, 1);
}

RUN_TESTS(TEST(symbolizes_a_gcc_program_in_each_form_of_dwarf),
	  TEST(reads_64_bit_offsets_32_bit_addresses_and_ranges_by_index),
	  TEST(dwarf_2_has_no_line_of_a_call), TEST(symbolizes_a_clang_program_with_string_indices),
	  TEST(a_function_without_linkage_name_has_a_qualified_name),
	  TEST(a_function_without_linkage_name_has_the_name_of_its_symbol),
	  TEST(symbolizes_a_go_program_by_gopclntab),
	  TEST(without_moduledata_a_go_program_has_no_wrong_name),
	  TEST(without_dwarf_uses_symbols_stubs_and_mini_debug), TEST(rejects_a_relocatable_file),
	  TEST(finds_the_build_id_of_the_dwz_file), TEST(an_invalid_dwz_file_is_an_error),
	  TEST(reads_split_units_from_a_package), TEST(a_package_of_another_program_has_no_unit),
	  TEST(an_invalid_package_is_an_error),
	  TEST(a_file_that_claims_to_unpack_to_too_much_is_not_unpacked),
	  TEST(a_corrupt_file_is_rejected_or_makes_a_table_that_opens))
