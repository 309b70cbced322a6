// SPDX-License-Identifier: Apache-2.0
/*
 * chains - uses CPU time at the end of known chains of calls, without frame pointers.
 *
 *     chains KIND SECONDS [DEPTH]      e.g. chains recursion 5 400
 *
 * KIND is one of kinds[] below; each is a case that an unwinder must support, and its comment shows
 * the chain, from main on. SECONDS are of CPU time. work() spends it in a loop without frame
 * pointer and without calls. tests/integration/test_unwind.py compares the chains, and
 * bench_agent.py measures with them.
 */
#include "chains.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { UNIT = 200000, ROOM = 4096, ALTERNATE = 64 * 1024, SETTLE_SECONDS = 1 };

static volatile uint64_t sink;
static double limit;
static unsigned int depth_wanted = 400;
static const char *program;

#if defined(VARIANT)
/* Differs in programs built from this source, so that they have different build ids. */
const char chains_variant[] = VARIANT;
#endif

static double seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

KEPT static bool is_over(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID) >= limit;
}

/* One piece of work: a leaf function without a frame of its own. */
KEPT static void work(void)
{
	for (unsigned int i = 0; i < UNIT; i++)
		sink = sink * 1000003 + i;
}

/* Until the time is used up. Code after a call prevents a tail call. */
KEPT static void spend(void)
{
	while (!is_over())
		work();
	sink++;
}

/* first -> second -> third -> spend -> work */
KEPT static void third(unsigned int n)
{
	spend();
	sink += n;
}

KEPT static void second(unsigned int n)
{
	third(n + 1);
	sink += n;
}

KEPT static void first(void)
{
	second(1);
	sink++;
}

/* deep, DEPTH times more deep -> spend -> work */
KEPT static void deep(unsigned int depth) // NOLINT(misc-no-recursion): its point
{
	if (depth == 0)
		spend();
	else
		deep(depth - 1);
	sink++;
}

static void recursion(void)
{
	deep(depth_wanted);
}

/* room -> spend: a frame of variable size, found by its frame pointer only. */
KEPT static void room(size_t size)
{
	char *bytes = __builtin_alloca(size);

	memset(bytes, (int)size, size);
	spend();
	sink += (unsigned char)bytes[size / 2];
}

static void with_alloca(void)
{
	room(100 + (size_t)(sink & 7));
}

/* aligned -> spend: the stack is realigned, and the caller's found through a saved pointer. */
KEPT static void aligned(size_t size)
{
	_Alignas(256) char line[256];
	char *bytes = __builtin_alloca(size);

	memset(bytes, (int)size, size);
	memset(line, (int)size, sizeof(line));
	__asm__ volatile("" : : "r"(line), "r"(bytes) : "memory");
	spend();
	sink += (unsigned char)line[size & 255];
}

static void realigned(void)
{
	aligned(100 + (size_t)(sink & 7));
}

static void on_signal(int number)
{
	spend();
	sink += (uint64_t)number;
}

/* provoke -> raise -> the kernel's frame -> on_signal -> spend */
KEPT static void provoke(void)
{
	raise(SIGUSR1);
	sink++;
}

static void by_signal(void)
{
	signal(SIGUSR1, on_signal);
	provoke();
}

/* Runs for a moment before the chain begins, so that a profiler knows the process by then. */
KEPT static void settle(void)
{
	double end = seconds_of(CLOCK_MONOTONIC) + SETTLE_SECONDS;

	while (seconds_of(CLOCK_MONOTONIC) < end)
		usleep(10000);
	while (seconds_of(CLOCK_MONOTONIC) < end + SETTLE_SECONDS)
		work();
	while (seconds_of(CLOCK_MONOTONIC) < end + 2 * SETTLE_SECONDS)
		usleep(10000);
}

/*
 * The same, but the handler runs on an alternate stack, which lies below or above. If a profiler
 * copies the top of the stack, the copy does not contain the other stack.
 */
static void on_alternate(void)
{
	settle();

	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = malloc(ALTERNATE), .ss_size = ALTERNATE };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	provoke();
}

static sigjmp_buf after_fault;

static void on_fault(int number)
{
	spend();
	sink += (uint64_t)number;
	siglongjmp(after_fault, 1);
}

/* stumble -> the kernel's frame -> on_fault -> spend: the fault is the function's first byte. */
KEPT void stumble(void);
__asm__(".text\n.globl stumble\n.type stumble, @function\nstumble:\n\t.cfi_startproc\n"
#if defined(__x86_64__)
	"\tud2\n"
#else
	"\tudf #0\n"
#endif
	"\tret\n\t.cfi_endproc\n\t.size stumble, .-stumble\n");

static void by_fault(void)
{
	signal(SIGILL, on_fault);
	if (sigsetjmp(after_fault, 1) == 0)
		stumble();
	sink++;
}

/* ending -> no_return -> spend: the return address lies after the end of its function. */
KEPT __attribute__((noreturn)) static void no_return(int status)
{
	spend();
	fflush(stdout);
	_exit(status);
}

KEPT __attribute__((noreturn)) static void ending(void)
{
	no_return(EXIT_SUCCESS);
}

/* by_vfork -> child_once -> child_work -> work, in a child that runs on its parent's stack. */
KEPT __attribute__((noreturn)) static void child_work(void)
{
	for (unsigned int i = 0; i < 200; i++)
		work();
	_exit(0);
}

KEPT static pid_t child_once(void)
{
	pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): its point */

	if (pid == 0)
		child_work(); /* NOLINT(clang-analyzer-unix.Vfork): its point */
	return pid;
}

static void by_vfork(void)
{
	double end = seconds_of(CLOCK_MONOTONIC) + limit;

	while (seconds_of(CLOCK_MONOTONIC) < end)
		waitpid(child_once(), NULL, 0);
}

static void *on_thread(void *self)
{
	first();
	return self;
}

/* on_thread -> first -> second -> third, from the root of a thread */
static void by_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, on_thread, NULL);
	pthread_join(thread, NULL);
}

KEPT static void work_for_plugin(void)
{
	for (unsigned int i = 0; i < 20; i++)
		work();
}

KEPT static void *plugin_open(const char *name)
{
	char path[ROOM];

	snprintf(path, sizeof(path), "%.*s/%s", (int)(strrchr(program, '/') - program), program,
		 name);

	void *plugin = dlopen(path, RTLD_NOW);

	if (!plugin)
		fprintf(stderr, "chains: %s\n", dlerror());
	return plugin;
}

/* visit -> plugin_enter -> plugin_inner -> work_for_plugin -> work */
KEPT static void visit(void *plugin)
{
	void (*enter)(void (*)(void)) = (void (*)(void (*)(void)))dlsym(plugin, "plugin_enter");

	if (enter)
		enter(work_for_plugin);
}

/*
 * Two files are mapped and unmapped in turns. The next one is mapped before the last one is
 * unmapped, or (`one_place`) replaces it at its address, with frames of another size.
 */
KEPT static void take_turns(bool one_place)
{
	void *plugin = NULL, *next;

	for (bool even = false; !is_over(); even = !even) {
		if (one_place && plugin)
			dlclose(plugin);
		next = plugin_open(even ? CHAINS_PLUGIN_A : CHAINS_PLUGIN_B);
		if (!next)
			return;
		if (!one_place && plugin)
			dlclose(plugin);
		plugin = next;
		visit(plugin);
	}
}

static void by_plugins(void)
{
	take_turns(false);
}

static void by_swaps(void)
{
	take_turns(true);
}

/* by_plt -> through -> toupper, through the procedure linkage table. */
KEPT static void through(void)
{
	for (int i = 0; i < UNIT; i++)
		sink += (uint64_t)toupper((int)(sink & 127));
}

static void by_plt(void)
{
	while (!is_over())
		through();
}

#if !defined(__GLIBC__)
extern ElfW(Dyn) _DYNAMIC[];
#endif
#pragma weak _DYNAMIC /* static programs have none */

static const void *dynamic(ElfW(Sxword) tag)
{
	const ElfW(Dyn) *each = _DYNAMIC;

	while (each && each->d_tag != DT_NULL && each->d_tag != tag)
		each++;
	return each && each->d_tag == tag ? (const void *)each->d_un.d_ptr : NULL;
}

static int base_of_first(struct dl_phdr_info *info, size_t size, void *to)
{
	(void)size;
	*(uintptr_t *)to = info->dlpi_addr;
	return 1;
}

/* The slot through which the procedure linkage table calls getpagesize(). */
static uintptr_t *slot_of_getpagesize(void)
{
	const ElfW(Rela) *first = dynamic(DT_JMPREL), *each;
	const ElfW(Sym) *symbols = dynamic(DT_SYMTAB);
	const char *names = dynamic(DT_STRTAB);
	uintptr_t bytes = (uintptr_t)dynamic(DT_PLTRELSZ), base = 0;

	dl_iterate_phdr(base_of_first, &base);
	for (each = first; first && each < first + bytes / sizeof(*each); each++)
		if (!strcmp(names + symbols[ELF64_R_SYM(each->r_info)].st_name, "getpagesize"))
			return (uintptr_t *)(base + each->r_offset);
	return NULL;
}

/* bind -> the loader's resolver, at each call: the slot gets its first value again. */
KEPT static void bind(volatile uintptr_t *slot, uintptr_t unbound)
{
	for (int i = 0; i < 1000; i++) {
		*slot = unbound;
		sink += (uint64_t)getpagesize();
	}
}

static void by_lazy(void)
{
	uintptr_t *slot = slot_of_getpagesize(), unbound = slot ? *slot : 0;

	while (slot && !is_over())
		bind(slot, unbound);
}

KEPT static void enter(void (*generated)(void (*)(void)))
{
	generated(spend);
	sink++;
}

/* Has a frame of variable size, so it keeps a frame pointer. */
KEPT static void framed(size_t size, void (*generated)(void (*)(void)))
{
	char *bytes = __builtin_alloca(size);

	memset(bytes, (int)size, size);
	enter(generated);
	sink += (unsigned char)bytes[size / 2];
}

/* A page of code that calls its argument. NULL: it cannot be mapped. */
static char *generate(void)
{
#if defined(__x86_64__)
	/* sub $40, %rsp; call *%rdi; add $40, %rsp; ret */
	static const char code[] = "\x48\x83\xec\x28\xff\xd7\x48\x83\xc4\x28\xc3";
#else
	/* str x30, [sp, -48]!; blr x0; ldr x30, [sp], 48; ret */
	static const char code[] = "\xfe\x0f\x1d\xf8\0\0\x3f\xd6\xfe\x07\x43\xf8\xc0\x03\x5f\xd6";
#endif
	char *page = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	memcpy(page, code, sizeof(code) - 1);
	if (mprotect(page, ROOM, PROT_READ | PROT_EXEC))
		return NULL;
	__builtin___clear_cache(page, page + sizeof(code));
	return page;
}

/*
 * by_jit -> framed -> enter -> generated code -> spend: the generated code keeps no frame pointer
 * and has that of framed(), which leads past enter().
 */
static void by_jit(void)
{
	char *page = generate();
	void (*generated)(void (*)(void));

	if (!page)
		return;
	settle();
	memcpy(&generated, &page, sizeof(generated));
	framed(100 + (size_t)(sink & 7), generated);
}

/* by_moved -> enter -> generated code -> spend: it was moved to where a library was. */
static void by_moved(void)
{
	void *plugin = plugin_open(CHAINS_PLUGIN_A), *place;
	char *page = generate();
	void (*generated)(void (*)(void));

	if (!plugin || !page)
		return;
	place = dlsym(plugin, "plugin_enter");
	place = (void *)((uintptr_t)place & ~(uintptr_t)(ROOM - 1));
	visit(plugin);
	settle();
	dlclose(plugin);
	if (mremap(page, ROOM, ROOM, MREMAP_MAYMOVE | MREMAP_FIXED, place) != place)
		return;
	settle();
	memcpy(&generated, &place, sizeof(generated));
	enter(generated);
}

/* by_vdso -> ask -> seconds_of -> clock_gettime -> code of the vdso */
KEPT static void ask(void)
{
	for (unsigned int i = 0; i < 1000; i++)
		sink += (uint64_t)seconds_of(CLOCK_MONOTONIC);
}

static void by_vdso(void)
{
	while (!is_over())
		ask();
}

/* call_kernel -> read, and the tick is in the kernel. */
KEPT static void call_kernel(FILE *zero)
{
	static char bytes[1 << 20];

	sink += (uint64_t)read(fileno(zero), bytes, sizeof(bytes));
}

static void by_kernel(void)
{
	FILE *zero = fopen("/dev/zero", "re");

	while (zero && !is_over())
		call_kernel(zero);
}

/* deep, DEPTH times more deep -> spend -> work, for 1 ms of each 100; SECONDS are of wall time. */
static void pulse(void)
{
	double end = seconds_of(CLOCK_MONOTONIC) + limit;

	while (seconds_of(CLOCK_MONOTONIC) < end) {
		limit = seconds_of(CLOCK_PROCESS_CPUTIME_ID) + 0.001;
		deep(depth_wanted);
		usleep(99000);
	}
}

static const struct kind {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "calls", first },         { "recursion", recursion }, { "alloca", with_alloca },
	{ "realigned", realigned }, { "signal", by_signal },    { "altstack", on_alternate },
	{ "fault", by_fault },      { "noreturn", ending },     { "vfork", by_vfork },
	{ "thread", by_thread },    { "plugins", by_plugins },  { "swaps", by_swaps },
	{ "plt", by_plt },          { "vdso", by_vdso },        { "kernel", by_kernel },
	{ "pulse", pulse },         { "lazy", by_lazy },        { "jit", by_jit },
	{ "moved", by_moved },
};

int main(int argc, char **argv)
{
	program = argv[0];
	/* NOLINTNEXTLINE(cert-err34-c): a test's own arguments */
	if (argc < 3 || sscanf(argv[2], "%lf", &limit) != 1 || !strchr(program, '/'))
		return EXIT_FAILURE;
	if (argc > 3 && sscanf(argv[3], "%u", &depth_wanted) != 1) /* NOLINT(cert-err34-c) */
		return EXIT_FAILURE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, argv[1]) != 0)
			continue;
		kinds[i].run();
		sink++;
		return EXIT_SUCCESS;
	}
	return EXIT_FAILURE;
}
