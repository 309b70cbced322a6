// SPDX-License-Identifier: Apache-2.0
#include "symbols/x86_instruction.h"

#include "base/reader.h"

enum {
	REX_B = 1,
	REX_X = 2,
	REX_R = 4,
	REX_W = 8,
	PREFIXES_MAX = 14,
};

struct decoder {
	struct reader r;
	struct x86_instruction *to;
	bool is_16_bit; /* the operands have 16 bits */
	uint8_t rex;
};

static bool is_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					    0x66, 0x67, 0xf0, 0xf2, 0xf3 };

	return memchr(prefixes, byte, sizeof(prefixes)) != NULL;
}

static uint8_t prefixes_read(struct decoder *decoder)
{
	uint8_t byte = reader_u8(&decoder->r);

	for (int i = 0; i < PREFIXES_MAX && is_prefix(byte); i++) {
		decoder->is_16_bit |= byte == 0x66;
		byte = reader_u8(&decoder->r);
	}
	if ((byte & 0xf0) == 0x40) {
		decoder->rex = byte & 0x0f;
		byte = reader_u8(&decoder->r);
	}
	return byte;
}

/* VEX and EVEX store the bits R, X and B inverted. */
static void vector_read(struct decoder *decoder, uint8_t first)
{
	uint8_t payload = reader_u8(&decoder->r);

	decoder->to->is_vector = true;
	decoder->to->map = first == 0xc5 ? 1 : payload & (first == 0xc4 ? 0x1f : 0x07);
	decoder->rex = (uint8_t)(~payload >> 5 & 7);
	if (first == 0xc5)
		decoder->rex = ~payload >> 5 & REX_R;
	else
		reader_u8(&decoder->r);
	if (first == 0x62)
		reader_u8(&decoder->r);
	decoder->to->opcode = reader_u8(&decoder->r);
}

static void opcode_read(struct decoder *decoder)
{
	struct x86_instruction *to = decoder->to;
	uint8_t byte = prefixes_read(decoder);

	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return vector_read(decoder, byte);
	if (byte == 0x0f) {
		to->map = 1;
		byte = reader_u8(&decoder->r);
	}
	if (to->map == 1 && (byte == 0x38 || byte == 0x3a)) {
		to->map = byte == 0x38 ? 2 : 3;
		byte = reader_u8(&decoder->r);
	}
	to->opcode = byte;
}

/* Opcodes from first to last. */
struct opcode_range {
	uint8_t first, last;
};

static bool is_in(const struct opcode_range *ranges, size_t count, uint8_t opcode)
{
	for (size_t i = 0; i < count; i++)
		if (opcode >= ranges[i].first && opcode <= ranges[i].last)
			return true;
	return false;
}

static bool is_known(const struct x86_instruction *to)
{
	static const struct opcode_range unknown[] = {
		{ 0x06, 0x07 }, { 0x0e, 0x0e }, { 0x16, 0x17 }, { 0x1e, 0x1f }, { 0x27, 0x27 },
		{ 0x2f, 0x2f }, { 0x37, 0x37 }, { 0x3f, 0x3f }, { 0x60, 0x61 }, { 0x82, 0x82 },
		{ 0x9a, 0x9a }, { 0xa0, 0xa3 }, { 0xce, 0xce }, { 0xd4, 0xd6 }, { 0xea, 0xea }
	};

	if (to->map == 0)
		return !is_prefix(to->opcode) && !is_in(unknown, ARRAY_LEN(unknown), to->opcode);
	return to->map <= 3;
}

static bool has_modrm(const struct x86_instruction *to)
{
	static const struct opcode_range with[] = { { 0x63, 0x63 }, { 0x69, 0x69 }, { 0x6b, 0x6b },
						    { 0x80, 0x8f }, { 0xc0, 0xc1 }, { 0xc6, 0xc7 },
						    { 0xd0, 0xd3 }, { 0xd8, 0xdf }, { 0xf6, 0xf7 },
						    { 0xfe, 0xff } };
	static const struct opcode_range without[] = {
		{ 0x05, 0x09 }, { 0x0b, 0x0b }, { 0x0e, 0x0e }, { 0x30, 0x37 }, { 0x77, 0x77 },
		{ 0x80, 0x8f }, { 0xa0, 0xa2 }, { 0xa8, 0xaa }, { 0xc8, 0xcf }
	};

	if (to->map == 0)
		return to->opcode < 0x40 ? (to->opcode & 7) < 4
					 : is_in(with, ARRAY_LEN(with), to->opcode);
	return to->map > 1 || !is_in(without, ARRAY_LEN(without), to->opcode);
}

/* Reads the base register; indexed: X86_NO_BASE. Returns its number in ModRM or SIB. */
static uint8_t base_read(struct decoder *decoder)
{
	struct x86_instruction *to = decoder->to;
	uint8_t base = to->rm & 7, sib;

	to->base = to->rm;
	if (base != X86_RSP)
		return base;
	sib = reader_u8(&decoder->r);
	base = sib & 7;
	to->base = (uint8_t)(base | (decoder->rex & REX_B ? 8 : 0));
	if ((sib >> 3 & 7) != X86_RSP || (decoder->rex & REX_X))
		to->base = X86_NO_BASE;
	return base;
}

static int32_t signed_read(struct decoder *decoder, uint8_t bytes)
{
	uint8_t byte;

	if (bytes == 4)
		return (int32_t)reader_u32(&decoder->r);
	if (bytes != 1) {
		reader_bytes(&decoder->r, bytes);
		return 0;
	}
	byte = reader_u8(&decoder->r);
	return byte < 0x80 ? byte : byte - 0x100;
}

static void address_read(struct decoder *decoder)
{
	static const uint8_t displacement_bytes[] = { 0, 1, 4, 0 };
	struct x86_instruction *to = decoder->to;
	uint8_t modrm = reader_u8(&decoder->r), bytes;

	to->has_modrm = true;
	to->mode = modrm >> 6;
	to->reg = (uint8_t)((modrm >> 3 & 7) | (decoder->rex & REX_R ? 8 : 0));
	to->rm = (uint8_t)((modrm & 7) | (decoder->rex & REX_B ? 8 : 0));
	if (to->mode == X86_REGISTER)
		return;
	bytes = displacement_bytes[to->mode];
	if (base_read(decoder) == X86_RBP && to->mode == 0) {
		to->base = X86_NO_BASE;
		bytes = 4;
	}
	to->displacement = signed_read(decoder, bytes);
}

/* Opcodes with an immediate, and its length; AS_OPERAND: 2 or 4 bytes. */
struct constant {
	struct opcode_range opcodes;
	uint8_t bytes;
};

enum { AS_OPERAND = 0xff };

static uint8_t constant_bytes(const struct constant *constants, size_t count, uint8_t opcode)
{
	for (size_t i = 0; i < count; i++)
		if (is_in(&constants[i].opcodes, 1, opcode))
			return constants[i].bytes;
	return 0;
}

static uint8_t operand_bytes(const struct decoder *decoder)
{
	return decoder->is_16_bit ? 2 : 4;
}

/* The length of the immediate in the maps of 0f, 0f 38 and 0f 3a. */
static uint8_t wide_bytes(const struct x86_instruction *to)
{
	static const struct constant wide[] = {
		{ { 0x70, 0x73 }, 1 }, { { 0x80, 0x8f }, 4 }, { { 0xa4, 0xa4 }, 1 },
		{ { 0xac, 0xac }, 1 }, { { 0xba, 0xba }, 1 }, { { 0xc2, 0xc2 }, 1 },
		{ { 0xc4, 0xc6 }, 1 },
	};

	if (to->map >= 2)
		return to->map == 3;
	if (to->is_vector && (to->opcode & 0xf0) == 0x80)
		return 0;
	return constant_bytes(wide, ARRAY_LEN(wide), to->opcode);
}

static uint8_t immediate_bytes(const struct decoder *decoder)
{
	static const struct constant plain[] = {
		{ { 0x68, 0x69 }, AS_OPERAND }, { { 0x6a, 0x6b }, 1 },
		{ { 0x70, 0x80 }, 1 },          { { 0x81, 0x81 }, AS_OPERAND },
		{ { 0x83, 0x83 }, 1 },          { { 0xa8, 0xa8 }, 1 },
		{ { 0xa9, 0xa9 }, AS_OPERAND }, { { 0xb0, 0xb7 }, 1 },
		{ { 0xb8, 0xbf }, AS_OPERAND }, { { 0xc0, 0xc1 }, 1 },
		{ { 0xc2, 0xc2 }, 2 },          { { 0xc6, 0xc6 }, 1 },
		{ { 0xc7, 0xc7 }, AS_OPERAND }, { { 0xc8, 0xc8 }, 3 },
		{ { 0xcd, 0xcd }, 1 },          { { 0xe0, 0xe7 }, 1 },
		{ { 0xe8, 0xe9 }, 4 },          { { 0xeb, 0xeb }, 1 },
		{ { 0xf6, 0xf6 }, 1 },          { { 0xf7, 0xf7 }, AS_OPERAND },
	};
	const struct x86_instruction *to = decoder->to;
	uint8_t opcode = to->opcode, bytes;

	if (to->map)
		return wide_bytes(to);
	bytes = constant_bytes(plain, ARRAY_LEN(plain), opcode);
	if (opcode < 0x40 && (opcode & 6) == 4)
		bytes = opcode & 1 ? AS_OPERAND : 1;
	if ((opcode & 0xfe) == 0xf6 && (to->reg & 7) > 1) /* not and neg, unlike test */
		return 0;
	if ((opcode & 0xf8) == 0xb8 && decoder->rex & REX_W)
		return 8;
	return bytes == AS_OPERAND ? operand_bytes(decoder) : bytes;
}

struct x86_instruction x86_instruction_read(str code)
{
	struct x86_instruction instruction = { .base = X86_NO_BASE };
	struct decoder decoder = { .r = reader_of(code), .to = &instruction };
	enum { BYTES_MAX = 15 };

	opcode_read(&decoder);
	if (decoder.r.failed || !is_known(&instruction))
		return (struct x86_instruction){ 0 };
	if (instruction.is_vector ? instruction.map != 1 || instruction.opcode != 0x77
				  : has_modrm(&instruction))
		address_read(&decoder);
	instruction.immediate = signed_read(&decoder, immediate_bytes(&decoder));

	size_t len = code.len - reader_left(&decoder.r);

	if (decoder.r.failed || len > BYTES_MAX)
		return (struct x86_instruction){ 0 };
	instruction.len = (uint8_t)len;
	return instruction;
}
