// SPDX-License-Identifier: Apache-2.0
/*
 * inlined.cpp - as inlined.c, for C++: namespaces, classes, templates, lambdas, operators.
 */
// clang-format off
#define MARK(name)
#define INLINE inline __attribute__((always_inline))
#define KEPT   __attribute__((noinline, noclone))

volatile int seen;

namespace shapes {

template <typename Number> struct Square {
	Number side;

	INLINE Number area() const
	{
		seen = side * side; MARK(area)
		return seen;
	}

	KEPT Number operator+(const Square &other) const
	{
		Number sum = area() + other.area(); MARK(plus)

		seen = sum; MARK(plus_itself)
		return sum;
	}
};

namespace {
KEPT int hidden(int n)
{
	seen = n; MARK(hidden)
	return seen;
}
}

} // namespace shapes

template <typename Function> KEPT int twice(Function function)
{
	int sum = function(1) + function(2);

	seen = sum; MARK(twice)
	return sum;
}

KEPT int entry(int n)
{
	shapes::Square<int> one{ n }, other{ n + 1 };
	int sum = one + other;

	sum += twice([n](int more) {
		seen = n + more; MARK(lambda)
		return seen;
	});
	seen = sum; MARK(entry)
	return sum + shapes::hidden(n);
}

/* Functions with internal linkage: gcc emits no linkage names for them where they are inlined. */
namespace app {

namespace {
INLINE int unnamed(int n)
{
	seen = n; MARK(in_unnamed)
	return seen;
}

struct Hidden {
	int side;

	INLINE explicit Hidden(int n) : side(n)
	{
		seen = n; MARK(constructor)
	}

	INLINE static int fixed(int n)
	{
		seen = n; MARK(in_class)
		return seen;
	}

	struct Inner;
};

struct Hidden::Inner {
	INLINE static int deep(int n)
	{
		seen = n; MARK(in_inner_class)
		return seen;
	}
};
}

KEPT int run(int n)
{
	struct Local {
		INLINE static int step(int n)
		{
			seen = n; MARK(in_local_class)
			return seen;
		}
	};
	Hidden hidden(n);

	return hidden.side + unnamed(n) + Hidden::fixed(n) + Hidden::Inner::deep(n) +
	       Local::step(n);
}

} // namespace app

int main(int argc, char **)
{
	return entry(argc) + app::run(argc);
}
