// SPDX-License-Identifier: Apache-2.0
#include "sandbox/capabilities.h"
#include "support/test.h"

static void unused_capabilities_are_kept(void **state)
{
	struct __user_cap_data_struct before[2], meanwhile[2], after[2];
	struct err err;

	(void)state;
	assert_true(capabilities_read(before, &err));
	assert_true(capabilities_use(UINT64_C(1) << CAP_KILL, &err));
	assert_true(capabilities_read(meanwhile, &err));
	assert_true(capabilities_use(UINT64_MAX, &err));
	assert_true(capabilities_read(after, &err));

	for (int i = 0; i < 2; i++) {
		uint32_t used = i ? 0 : before[i].permitted & 1U << CAP_KILL;

		assert_int_equal(meanwhile[i].effective, used);
		assert_int_equal(meanwhile[i].permitted, before[i].permitted);
		assert_int_equal(after[i].effective, before[i].permitted);
	}
}

RUN_TESTS(TEST(unused_capabilities_are_kept))
