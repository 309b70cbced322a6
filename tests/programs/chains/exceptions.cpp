// SPDX-License-Identifier: Apache-2.0
/*
 * exceptions - C++ that throws through a chain of calls, repeatedly.
 *
 *     exceptions SECONDS      main -> catcher -> outer -> middle -> thrower -> the runtime's own
 * unwinder
 *
 * Half of the time is spent in the handler, in code that the compiler has moved to a cold section.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#if defined(__clang__)
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif

namespace
{

volatile uint64_t sink;

/* Objects that must be destroyed during the throw cause landing pads. */
struct held {
	std::string text;
	explicit held(int n) : text(static_cast<size_t>(40 + n), 'x')
	{
	}
	~held()
	{
		sink = sink + text.size();
	}
};

double seconds()
{
	timespec now{};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

KEPT void work()
{
	for (unsigned int i = 0; i < 10000; i++)
		sink = sink * 1000003 + i;
}

KEPT int thrower(int n)
{
	held first(n);

	if (sink != 1)
		throw n;
	return n;
}

KEPT int middle(int n)
{
	held first(n), second(n + 1);

	return thrower(n) + static_cast<int>(first.text.size() + second.text.size());
}

KEPT int outer(int n)
{
	held first(n);

	return middle(n + 1) + static_cast<int>(first.text.size());
}

KEPT int catcher(int n)
{
	try {
		return outer(n);
	} catch (int thrown) {
		work();
		return thrown;
	}
}

} // namespace

int main(int argc, char **argv)
{
	double limit = argc == 2 ? std::strtod(argv[1], nullptr) : 0;

	while (seconds() < limit)
		for (int i = 0; i < 100; i++)
			sink = sink + static_cast<uint64_t>(catcher(i));
	return EXIT_SUCCESS;
}
