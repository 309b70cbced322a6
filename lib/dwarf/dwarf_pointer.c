// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_pointer.h"

#include "dwarf/dwarf_value.h"

#include <dwarf.h>

bool dwarf_pointer_read(struct reader *r, const struct dwarf_frame_section *section,
			uint8_t encoding, uint64_t *ret_address)
{
	/* Indirect pointers and other bases (text, data, function) are not supported. */
	if (encoding & 0x80 || ((encoding & 0x70) != 0 && (encoding & 0x70) != DW_EH_PE_pcrel))
		return false;

	uint64_t from = 0;

	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		from = section->address + (uint64_t)(r->rest.ptr - section->bytes.ptr);
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		*ret_address = from + dwarf_word(r, section->word_bytes);
		break;
	case DW_EH_PE_uleb128:
		*ret_address = from + reader_varint(r);
		break;
	case DW_EH_PE_udata2:
		*ret_address = from + reader_u16(r);
		break;
	case DW_EH_PE_udata4:
		*ret_address = from + reader_u32(r);
		break;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		*ret_address = from + reader_u64(r);
		break;
	case DW_EH_PE_sleb128:
		*ret_address = from + (uint64_t)dwarf_sleb(r);
		break;
	case DW_EH_PE_sdata2:
		*ret_address = from + (uint64_t)(int16_t)reader_u16(r);
		break;
	case DW_EH_PE_sdata4:
		*ret_address = from + (uint64_t)(int32_t)reader_u32(r);
		break;
	default:
		return false;
	}
	return !r->failed;
}
