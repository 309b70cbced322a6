// SPDX-License-Identifier: Apache-2.0
/*
 * inlined_other - a function with the name of one in inlined.c.
 */
// clang-format off
#define MARK(name)
#define KEPT __attribute__((noinline, noclone))

extern volatile int seen;
int other_entry(int n);

KEPT static int same_name(int n)
{
	seen = n * 5; MARK(other_same_name)
	return seen - n;
}

KEPT int other_entry(int n)
{
	int found = same_name(n + 1);

	seen = found; MARK(other_entry)
	return found;
}
