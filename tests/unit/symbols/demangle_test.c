// SPDX-License-Identifier: Apache-2.0
/*
 * Demangled names, compared with those of the tools of the languages.
 */
#include "elf/limits.h"
#include "support/test.h"
#include "symbols/demangle.h"

static const struct {
	str system_name, name;
} names[] = {
	{ STR("_Z1fi"), STR("f(int)") },
	{ STR("_ZNSt6vectorIiSaIiEE9push_backEOi"),
	  STR("std::vector<int, std::allocator<int> >::push_back(int&&)") },
	{ STR("_ZN3foo3barEv.cold"), STR("foo::bar() [clone .cold]") },
	/* Rust's legacy mangling, whose hash is dropped, and its v0 mangling */
	{ STR("_ZN4core3fmt5write17h01234567abcdef89E"), STR("core::fmt::write") },
	{ STR("_RNvC6_123foo3bar"), STR("123foo::bar") },
	/* not mangled */
	{ STR("main"), STR("main") },
	{ STR("_Z"), STR("_Z") },
	{ STR("_RNvB1_31o"), STR("_RNvB1_31o") }, /* it refers to itself */
	{ STR("_Zonk"), STR("_Zonk") },
	{ STR("__write"), STR("__write") },
	{ STR("runtime.(*mcache).refill"), STR("runtime.(*mcache).refill") },
	{ STR(""), STR("") },
	{ STR("_Z1fi\0x"), STR("_Z1fi\0x") },
};

static void demangles_cpp_and_rust_and_leaves_other_names_alone(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		str text = demangle(names[i].system_name, &arena);

		if (!str_eq(text, names[i].name))
			fail_msg("%s is " STR_FMT, names[i].system_name.ptr, STR_ARG(text));
	}
}

/* f(pair<X, X>) with X the previous pair: a few letters more double the length of the text. */
static void a_name_whose_text_is_too_long_stays_mangled(void **state)
{
	static const str pairs =
		STR("_Z1f1pI1aS0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_"
		    "ES_IS6_S6_ES_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_E"
		    "S_ISC_SC_ES_ISD_SD_ES_ISE_SE_ES_ISF_SF_ES_ISG_SG_E");
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_true(str_eq(demangle(pairs, &arena), pairs));
	assert_true(arena.size < 64 * DEMANGLED_MAX);
}

static void demangles_longer_names_than_libiberty_would(void **state)
{
	AUTO_ARENA arena = { 0 };
	char name[DEMANGLE_MAX + 8] = "_Z3000";

	(void)state;
	memset(name + 6, 'a', sizeof(name) - 6);
	memcpy(name + 3006, "iii", 3);
	assert_int_equal(demangle((str){ name, 3009 }, &arena).len,
			 3000 + strlen("(int, int, int)"));
	memset(name + 4, 'P', DEMANGLE_MAX); /* a pointer to a pointer to ... */
	assert_true(demangle((str){ name, DEMANGLE_MAX }, &arena).len <= DEMANGLED_MAX);
	assert_ptr_equal(demangle((str){ name, DEMANGLE_MAX + 1 }, &arena).ptr, name);
}

RUN_TESTS(TEST(demangles_cpp_and_rust_and_leaves_other_names_alone),
	  TEST(a_name_whose_text_is_too_long_stays_mangled),
	  TEST(demangles_longer_names_than_libiberty_would))
