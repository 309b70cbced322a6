// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_pointer - decodes pointers in .eh_frame, .eh_frame_hdr and .debug_frame (DW_EH_PE_*). Any
 * thread.
 */
#pragma once

#include "base/reader.h"

/* A section with encoded pointers. */
struct dwarf_frame_section {
	str bytes;
	uint64_t address;
	bool is_eh;         /* .eh_frame; false: .debug_frame */
	uint8_t word_bytes; /* bytes of an address */
};

/*
 * Decodes the next pointer; r reads within the section's bytes, and pc-relative pointers are
 * resolved. False: truncated, or an encoding other than absolute or pc-relative; *ret_address is
 * then undefined.
 */
bool dwarf_pointer_read(struct reader *r, const struct dwarf_frame_section *section,
			uint8_t encoding, uint64_t *ret_address) MUST_CHECK;
