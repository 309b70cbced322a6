// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_pointer - addresses in unwind information, in the encodings that its header names.
 */
#pragma once

#include "base/reader.h"

/* Where the bytes are that pointers stand in. */
struct dwarf_frame_section {
	str bytes;
	uint64_t address;
	bool is_eh;         /* .eh_frame, not .debug_frame */
	uint8_t word_bytes; /* of an address */
};

/* The next pointer; r reads within the section's bytes. False: none of ours, or cut off. */
bool dwarf_pointer_read(struct reader *r, const struct dwarf_frame_section *section,
			uint8_t encoding, uint64_t *ret_address) MUST_CHECK;
