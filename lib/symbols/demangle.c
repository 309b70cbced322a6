// SPDX-License-Identifier: Apache-2.0
#include "symbols/demangle.h"

#include "elf/limits.h"

#include <libiberty/demangle.h>
#include <setjmp.h>

struct demangled {
	struct arena *arena;
	char *text;
	size_t len, cap;
	jmp_buf too_long;
};

/*
 * libiberty passes the text in pieces and has no way to abort, and a short name can expand to a
 * text of any length. So this callback leaves with longjmp(): during the callback the demanglers
 * own no memory except their stack. (The demangler of Rust owns the letters of one identifier
 * outside of ASCII, which leak.)
 */
static void demangled_add(const char *text, size_t len, void *arg)
{
	struct demangled *out = arg;

	if (len == 0)
		return;
	if (len > DEMANGLED_MAX - out->len)
		longjmp(out->too_long, 1);
	if (len > out->cap - out->len) {
		size_t cap = (out->len + len) * 2 + 64;
		char *room = arena_array(out->arena, char, cap);

		if (out->len)
			memcpy(room, out->text, out->len);
		out->text = room;
		out->cap = cap;
	}
	memcpy(out->text + out->len, text, len);
	out->len += len;
}

/* A name for libiberty: C++ (_Z), Rust (_R, or like C++). */
static bool is_mangled(str name)
{
	return name.len <= DEMANGLE_MAX &&
	       (str_starts_with(name, STR("_Z")) || str_starts_with(name, STR("_R"))) &&
	       !memchr(name.ptr, 0, name.len);
}

str demangle(str system_name, struct arena *arena)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;
	struct demangled out = { .arena = arena };

	if (!is_mangled(system_name))
		return system_name;

	const char *name = str_z(arena, system_name);

	if (setjmp(out.too_long))
		return system_name;
	if (rust_demangle_callback(name, options, demangled_add, &out) && out.len)
		return (str){ out.text, out.len };
	out.len = 0;
	/*
	 * libiberty's own limit of recursion would reject names of 1 KiB, which are common with
	 * templates. C++ does not need it, because the depth is bounded by the length of the name;
	 * Rust keeps it, because a name can refer to itself.
	 */
	if (cplus_demangle_v3_callback(name, options | DMGL_NO_RECURSE_LIMIT, demangled_add,
				       &out) &&
	    out.len)
		return (str){ out.text, out.len };
	return system_name;
}
