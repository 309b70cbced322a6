/*
 * inlined.cpp - what C++ adds to inlined.c: namespaces, classes, templates, lambdas, operators.
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

int main(int argc, char **)
{
	return entry(argc);
}
