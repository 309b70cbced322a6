// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/kernel_version.h"

enum { VERSION_NUMBER_MAX = 65535 };

/* Verdicts on ranges of versions: from `from` (included) to `before` (excluded). */
static const struct {
	enum kernel_verdict verdict;
	struct kernel_version from, before;
} known[] = {
	/* Ring buffers came with 5.8; 5.10 is the oldest maintained version, and we test it. */
	{ KERNEL_TOO_OLD, { 0, 0, 0 }, { 5, 10, 0 } },
	/*
	 * bpf_probe_read_user() runs the usercopy check, which looks up whether the target is
	 * vmalloc'ed. The lookup takes a lock that the interrupted code may hold. Fixed by "mm: Fix
	 * copy_from_user_nofault()" in 6.4, backported to 6.1.36 and 6.3.10.
	 */
	{ KERNEL_FREEZES, { 5, 19, 0 }, { 6, 1, 36 } },
	{ KERNEL_FREEZES, { 6, 2, 0 }, { 6, 3, 10 } },
};

/* Parses the digits at the beginning and removes them from the text. */
static bool parse_number(str *text, uint32_t *ret_number)
{
	size_t len = 0;
	uint64_t number;

	while (len < text->len && text->ptr[len] >= '0' && text->ptr[len] <= '9')
		len++;
	if (!str_to_u64((str){ text->ptr, len }, &number) || number > VERSION_NUMBER_MAX)
		return false;
	*text = str_skip(*text, len);
	*ret_number = (uint32_t)number;
	return true;
}

/* Parses "6.1.27-1" or "6.3-rc2"; text after the numbers is ignored. */
static bool parse(str text, struct kernel_version *ret_version)
{
	struct kernel_version version = { 0 };

	if (!parse_number(&text, &version.major) || !str_starts_with(text, STR(".")))
		return false;
	text = str_skip(text, 1);
	if (!parse_number(&text, &version.minor))
		return false;
	if (str_starts_with(text, STR("."))) {
		text = str_skip(text, 1);
		(void)!parse_number(&text, &version.patch);
	}
	*ret_version = version;
	return true;
}

bool kernel_version_of(const struct kernel_texts *texts, struct kernel_version *ret_version)
{
	str signature = str_trim(texts->signature), last = signature;
	size_t debian = str_find(texts->version, STR("Debian "));

	while (signature.len)
		last = str_cut(&signature, ' ');
	if (str_starts_with(texts->signature, STR("Ubuntu ")) && parse(last, ret_version))
		return true;
	if (debian != SIZE_MAX &&
	    parse(str_skip(texts->version, debian + sizeof("Debian ") - 1), ret_version))
		return true;
	return parse(texts->release, ret_version);
}

static bool is_before(struct kernel_version a, struct kernel_version b)
{
	if (a.major != b.major)
		return a.major < b.major;
	if (a.minor != b.minor)
		return a.minor < b.minor;
	return a.patch < b.patch;
}

enum kernel_verdict kernel_version_judge(struct kernel_version version)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!is_before(version, known[i].from) && is_before(version, known[i].before))
			return known[i].verdict;
	return KERNEL_FINE;
}
