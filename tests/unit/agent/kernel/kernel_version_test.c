// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/kernel_version.h"
#include "support/test.h"

#define DEBIAN(version) "#1 SMP PREEMPT_DYNAMIC Debian " version " (2023-05-08)"
#define UBUNTU          "#26-Ubuntu SMP PREEMPT_DYNAMIC Thu Jul 13 16:27:29 UTC 2023"

/* Texts from machines of these distributions. */
static const struct {
	const char *release, *version, *signature;
	struct kernel_version is;
	enum kernel_verdict verdict;
} kernels[] = {
	{ "5.10.0-46-cloud-amd64",
	  "#1 SMP Debian 5.10.262-1 (2026-07-31)",
	  "",
	  { 5, 10, 262 },
	  KERNEL_FINE },
	{ "6.1.0-9-amd64", DEBIAN("6.1.27-1"), "", { 6, 1, 27 }, KERNEL_FREEZES },
	{ "6.1.0-10-amd64", DEBIAN("6.1.38-2"), "", { 6, 1, 38 }, KERNEL_FINE },
	{ "6.12.117+deb12-cloud-amd64",
	  DEBIAN("6.12.117-1~deb12u1"),
	  "",
	  { 6, 12, 117 },
	  KERNEL_FINE },
	{ "6.2.0-26-generic",
	  UBUNTU,
	  "Ubuntu 6.2.0-26.26~22.04.1-generic 6.2.13\n",
	  { 6, 2, 13 },
	  KERNEL_FREEZES },
	{ "6.5.0-14-generic",
	  UBUNTU,
	  "Ubuntu 6.5.0-14.14-generic 6.5.3\n",
	  { 6, 5, 3 },
	  KERNEL_FINE },
	{ "5.19.0-1029-aws", UBUNTU, "", { 5, 19, 0 }, KERNEL_FREEZES },
	{ "5.15.0-76-generic", UBUNTU, "Ubuntu", { 5, 15, 0 }, KERNEL_FINE },
	{ "5.14.0-284.11.1.el9_2.x86_64",
	  "#1 SMP PREEMPT_DYNAMIC Wed Apr 12 10:45:03 EDT 2023",
	  "",
	  { 5, 14, 0 },
	  KERNEL_FINE },
	{ "4.18.0-477.10.1.el8_8.x86_64",
	  "#1 SMP Tue May 16 11:38:37 UTC 2023",
	  "",
	  { 4, 18, 0 },
	  KERNEL_TOO_OLD },
	{ "6.1.25-37.47.amzn2023.x86_64",
	  "#1 SMP PREEMPT_DYNAMIC",
	  "",
	  { 6, 1, 25 },
	  KERNEL_FREEZES },
	{ "6.1.38-59.109.amzn2023.x86_64",
	  "#1 SMP PREEMPT_DYNAMIC",
	  "",
	  { 6, 1, 38 },
	  KERNEL_FINE },
	{ "6.2.9-300.fc38.x86_64", "#1 SMP PREEMPT_DYNAMIC", "", { 6, 2, 9 }, KERNEL_FREEZES },
	{ "6.2.16-3-pve", "#1 SMP PREEMPT_DYNAMIC PVE 6.2.16-3", "", { 6, 2, 16 }, KERNEL_FREEZES },
	{ "6.3.9-arch1-1", "#1 SMP PREEMPT_DYNAMIC", "", { 6, 3, 9 }, KERNEL_FREEZES },
	{ "6.1.21.2-microsoft-standard-WSL2", "#1 SMP", "", { 6, 1, 21 }, KERNEL_FREEZES },
	{ "6.4.0-150600.21-default", "#1 SMP PREEMPT_DYNAMIC", "", { 6, 4, 0 }, KERNEL_FINE },
	{ "6.1.58+", "#1 SMP PREEMPT_DYNAMIC", "", { 6, 1, 58 }, KERNEL_FINE },
	{ "6.18.44", "#1 SMP", "", { 6, 18, 44 }, KERNEL_FINE },
	{ "6.3-rc2", "#1 SMP", "", { 6, 3, 0 }, KERNEL_FREEZES },
	{ "5.9.16", "#1 Debian GNU/Linux", "Ubuntu 1", { 5, 9, 16 }, KERNEL_TOO_OLD },
};

static void finds_the_upstream_version_of_a_distributions_kernel(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
		struct kernel_texts texts = { str_from(kernels[i].release),
					      str_from(kernels[i].version),
					      str_from(kernels[i].signature) };
		struct kernel_version is = { 0 };

		assert_true(kernel_version_of(&texts, &is));
		assert_int_equal(is.major, kernels[i].is.major);
		assert_int_equal(is.minor, kernels[i].is.minor);
		assert_int_equal(is.patch, kernels[i].is.patch);
		assert_int_equal(kernel_version_judge(is), kernels[i].verdict);
	}
}

static void judges_the_versions_on_each_side_of_a_bound(void **state)
{
	static const struct {
		struct kernel_version is;
		enum kernel_verdict verdict;
	} rows[] = {
		{ { 5, 9, 999 }, KERNEL_TOO_OLD }, { { 5, 10, 0 }, KERNEL_FINE },
		{ { 5, 18, 999 }, KERNEL_FINE },   { { 5, 19, 0 }, KERNEL_FREEZES },
		{ { 6, 0, 0 }, KERNEL_FREEZES },   { { 6, 0, 999 }, KERNEL_FREEZES },
		{ { 6, 1, 35 }, KERNEL_FREEZES },  { { 6, 1, 36 }, KERNEL_FINE },
		{ { 6, 1, 999 }, KERNEL_FINE },    { { 6, 2, 0 }, KERNEL_FREEZES },
		{ { 6, 2, 999 }, KERNEL_FREEZES }, { { 6, 3, 9 }, KERNEL_FREEZES },
		{ { 6, 3, 10 }, KERNEL_FINE },     { { 6, 4, 0 }, KERNEL_FINE },
		{ { 10, 0, 0 }, KERNEL_FINE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(kernel_version_judge(rows[i].is), rows[i].verdict);
}

static void finds_no_version_in_texts_without_one(void **state)
{
	static const char *const releases[] = { "", "linux", "6", "6.", ".6", "99999999.1", "6.x" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(releases); i++) {
		struct kernel_texts texts = { .release = str_from(releases[i]) };
		struct kernel_version is;

		assert_false(kernel_version_of(&texts, &is));
	}
}

RUN_TESTS(TEST(finds_the_upstream_version_of_a_distributions_kernel),
	  TEST(judges_the_versions_on_each_side_of_a_bound),
	  TEST(finds_no_version_in_texts_without_one))
