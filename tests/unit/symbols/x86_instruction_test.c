// SPDX-License-Identifier: Apache-2.0
#include "support/test.h"
#include "symbols/x86_instruction.h"

static void decodes_the_length_of_each_instruction(void **state)
{
	static const str whole[] = {
		STR("\x55"),                                     /* push %rbp */
		STR("\x41\x55"),                                 /* push %r13 */
		STR("\x48\x89\xe5"),                             /* mov %rsp, %rbp */
		STR("\x48\x83\xec\x18"),                         /* sub $24, %rsp */
		STR("\x48\x81\xec\x08\x01\0\0"),                 /* sub $264, %rsp */
		STR("\x48\x8d\x35\x57\xef\xbf\xff"),             /* lea -0x4010a9(%rip), %rsi */
		STR("\x48\x8b\x44\xc2\x08"),                     /* mov 8(%rdx, %rax, 8), %rax */
		STR("\x48\x8b\x04\x25\0\0\0\0"),                 /* mov 0, %rax */
		STR("\x48\x8b\x84\x24\0\x01\0\0"),               /* mov 256(%rsp), %rax */
		STR("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"), /* movabs */
		STR("\x66\xb8\x01\x02"),                         /* mov $513, %ax */
		STR("\x66\x81\x38\x01\x02"),                     /* cmpw $513, (%rax) */
		STR("\xc7\x45\xfc\x01\0\0\0"),                   /* movl $1, -4(%rbp) */
		STR("\xf6\xc3\x01"),                             /* test $1, %bl */
		STR("\xf7\xd8"),                                 /* neg %eax */
		STR("\xf7\xc3\x01\0\0\0"),                       /* test $1, %ebx */
		STR("\xe8\x01\0\0\0"),
		STR("\x0f\x84\x01\0\0\0"),
		STR("\x74\x01"),
		STR("\xc2\x08\0"),
		STR("\xc8\x08\0\0"),
		STR("\x0f\x05"),                       /* syscall */
		STR("\x0f\xb6\xc0"),                   /* movzbl %al, %eax */
		STR("\x0f\xba\xe0\x03"),               /* bt $3, %eax */
		STR("\x66\x0f\x3a\x0f\xc1\x08"),       /* palignr $8, %xmm1, %xmm0 */
		STR("\x66\x0f\x38\0\xc1"),             /* pshufb %xmm1, %xmm0 */
		STR("\xf3\x0f\x1e\xfa"),               /* endbr64 */
		STR("\x66\x2e\x0f\x1f\x84\0\0\0\0\0"), /* nop */
		STR("\xf0\x0f\xb1\x0f"),               /* lock cmpxchg %ecx, (%rdi) */
		STR("\xc5\xf8\x77"),                   /* vzeroupper */
		STR("\xc5\xfe\x6f\x06"),               /* vmovdqu (%rsi), %ymm0 */
		STR("\xc5\xf9\x70\xc0\x1b"),           /* vpshufd $27, %xmm0, %xmm0 */
		STR("\xc4\xe2\x7d\x78\xc0"),           /* vpbroadcastb %xmm0, %ymm0 */
		STR("\xc4\xe3\x7d\x39\xc1\x01"),       /* vextracti128 $1 */
		STR("\x62\xe1\xfe\x28\x6f\x06"),       /* vmovdqu64 (%rsi), %ymm16 */
		STR("\x62\xf3\x7d\x28\x3f\xc1\0"),     /* vpcmpeqb, by a constant */
		STR("\x64\x48\x8b\x04\x25\x28\0\0\0"), /* mov %fs:40, %rax */
		STR("\xd9\x7c\x24\x08"),               /* fnstcw 8(%rsp) */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
		char behind[32] = { 0 };

		memcpy(behind, whole[i].ptr, whole[i].len);
		memset(behind + whole[i].len, 0x90, sizeof(behind) - whole[i].len);
		assert_int_equal(x86_instruction_read((str){ behind, sizeof(behind) }).len,
				 whole[i].len);
		for (size_t cut = 0; cut < whole[i].len; cut++)
			assert_int_equal(x86_instruction_read((str){ whole[i].ptr, cut }).len, 0);
	}
}

static void decodes_operands(void **state)
{
	struct x86_instruction it = x86_instruction_read(STR("\x48\x8d\xa5\x70\xff\xff\xff"));

	(void)state;
	assert_int_equal(it.opcode, 0x8d); /* lea -144(%rbp), %rsp */
	assert_int_equal(it.reg, X86_RSP);
	assert_int_equal(it.base, X86_RBP);
	assert_int_equal(it.displacement, -144);

	it = x86_instruction_read(STR("\x48\x8d\x64\x24\x08"));
	assert_int_equal(it.base, X86_RSP); /* lea 8(%rsp), %rsp */
	assert_int_equal(it.displacement, 8);

	it = x86_instruction_read(STR("\x48\x8d\x24\x04"));
	assert_int_equal(it.base, X86_NO_BASE); /* lea (%rsp, %rax), %rsp */

	it = x86_instruction_read(STR("\x4d\x89\xec"));
	assert_int_equal(it.rm, 12); /* mov %r13, %r12 */
	assert_int_equal(it.reg, 13);

	it = x86_instruction_read(STR("\xeb\xfe"));
	assert_int_equal(it.immediate, -2);
}

static void unusual_instructions_are_unknown(void **state)
{
	static const str unknown[] = {
		STR("\x06\x90"),
		STR("\x27\x90"),
		STR("\x60\x90"),
		STR("\xea\0\0\0\0\0\0"),
		STR("\xd6\x90"),
		STR("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
		assert_int_equal(x86_instruction_read(unknown[i]).len, 0);
}

RUN_TESTS(TEST(decodes_the_length_of_each_instruction), TEST(decodes_operands),
	  TEST(unusual_instructions_are_unknown))
