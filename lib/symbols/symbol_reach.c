// SPDX-License-Identifier: Apache-2.0
#include "base/reader.h"
#include "symbols/symbol_reach_internal.h"
#include "symbols/x86_instruction.h"

#include <elf.h>

/* An instruction, as far as it matters where its function ends. */
struct step {
	size_t len; /* 0: unknown */
	bool is_end;
	bool is_branch; /* of this function: to `distance` from the end of the instruction */
	int64_t distance;
};

static struct step step_x86(str code)
{
	struct x86_instruction it = x86_instruction_read(code);
	struct step step = { .len = it.len, .distance = it.immediate };
	uint8_t group = it.reg & 7;

	if (it.is_vector || it.map > 1)
		return step;
	if (it.map == 1) {
		step.is_branch = (it.opcode & 0xf0) == 0x80;
		step.is_end = it.opcode == 0x0b; /* ud2 */
		return step;
	}
	switch (it.opcode) {
	case 0xc2: /* ret */
	case 0xc3:
	case 0xcc: /* int3 */
	case 0xe8: /* call */
	case 0xe9: /* jmp, often to another function */
	case 0xf4: /* hlt */
		step.is_end = true;
		break;
	case 0xeb: /* a short jmp */
		step.is_end = step.is_branch = true;
		break;
	case 0xff: /* an indirect call or jmp */
		step.is_end = group == 2 || group == 4;
		break;
	default:
		step.is_branch =
			(it.opcode & 0xf0) == 0x70 || (it.opcode >= 0xe0 && it.opcode <= 0xe3);
	}
	return step;
}

/* The field of `bits` bits from `low` on, sign-extended. */
static int64_t field_of(uint32_t word, unsigned int low, unsigned int bits)
{
	return (int64_t)((uint64_t)(word >> low) << (64 - bits)) >> (64 - bits);
}

static struct step step_arm(str code)
{
	struct reader r = reader_of(code);
	uint32_t word = reader_u32(&r);
	struct step step = { .len = r.failed ? 0 : 4 };

	if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
		step.is_branch = true; /* b.cond, cbz, cbnz */
		step.distance = field_of(word, 5, 19) * 4 - 4;
	} else if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		step.is_branch = true;
		step.distance = field_of(word, 5, 14) * 4 - 4;
	} else {
		/* b, bl; br, blr, ret; udf */
		step.is_end = (word & 0x7c000000) == 0x14000000 ||
			      (word & 0xff9f0000) == 0xd61f0000 || word == 0;
	}
	return step;
}

/* The bytes of the function at the beginning of code. */
static size_t reach_of(str code, bool is_arm)
{
	size_t at = 0, passed = 0; /* passed: the farthest target of a branch */

	while (at < code.len) {
		str rest = str_skip(code, at);
		struct step step = is_arm ? step_arm(rest) : step_x86(rest);

		if (!step.len)
			break;
		at += step.len;
		if (step.is_branch && step.distance > 0 &&
		    (uint64_t)step.distance < code.len - at && at + (size_t)step.distance > passed)
			passed = at + (size_t)step.distance;
		if (step.is_end && passed < at)
			break;
	}
	return at;
}

static const struct elf_section *section_of(const struct elf_sections *sections, uint64_t address)
{
	for (size_t i = 0; i < sections->len; i++) {
		const struct elf_section *section = &sections->items[i];

		if ((section->flags & SHF_EXECINSTR) && elf_section_has_bytes(section) &&
		    section->size <= SYMBOL_REACH_CODE_MAX && address >= section->address &&
		    address - section->address < section->size)
			return section;
	}
	return NULL;
}

bool symbol_reach_find(int fd, const struct elf_sections *sections, struct arena *arena,
		       elf_symbols *symbols, struct err *err)
{
	const struct elf_section *section = NULL;
	bool is_arm = sections->machine == EM_AARCH64;
	bool is_known = sections->is_wide && (is_arm || sections->machine == EM_X86_64);
	str bytes = { 0 };

	for (size_t i = 0; i < symbols->len; i++) {
		struct elf_symbol *symbol = &symbols->items[i];
		const struct elf_section *other;
		str code = { 0 };

		if (!symbol->end_is_guess)
			continue;
		other = is_known ? section_of(sections, symbol->start) : NULL;
		if (other && other != section &&
		    !elf_section_read(fd, other, SYMBOL_REACH_CODE_MAX, arena, &bytes, err))
			return err_wrap(err, "read the code of symbols without a size");
		section = other ? other : section;
		if (other)
			code = str_skip(bytes, symbol->start - other->address);
		if (code.len > symbol->end - symbol->start)
			code.len = symbol->end - symbol->start;
		symbol->end = symbol->start + reach_of(code, is_arm);
		symbol->end_is_guess = false;
	}
	return true;
}
