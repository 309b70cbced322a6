// SPDX-License-Identifier: Apache-2.0
/*
 * inlined - functions inlined into functions, beside others of the same names in inlined_other.c.
 *
 * It is not run: tests/integration/test_symbols.py symbolizes its addresses. Each line that ends in
 * MARK(name) is symbolized: the volatile access on it is an instruction that no compiler removes or
 * moves to another line.
 */
// clang-format off
#define MARK(name)
#define INLINE static inline __attribute__((always_inline))
#define KEPT   __attribute__((noinline, noclone))

volatile int seen;
int other_entry(int n);

/* Another function of the same name is in inlined_other.c. */
KEPT static int same_name(int n)
{
	seen = n; MARK(same_name)
	return seen + n;
}

INLINE int innermost(int n)
{
	seen = n * 3; MARK(innermost)
	return seen;
}

INLINE int middle(int n)
{
	int twice = innermost(n + 1) + innermost(n + 2); MARK(middle)

	seen = twice; MARK(middle_itself)
	return twice;
}

KEPT int outer(int n)
{
	int sum = middle(n); MARK(outer)

	seen = sum; MARK(outer_itself)
	return sum + innermost(sum); MARK(outer_again)
}

int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc) + same_name(argc) + other_entry(argc);
}
